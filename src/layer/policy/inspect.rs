//! `inspect`: a host callback sees content before it is written, and may refuse or replace it. It
//! sees the bytes that would be stored: decoded base64, and for an edit the whole resulting file,
//! so that harmless pieces cannot be combined into a refused text. Exactly the inspected content is
//! written: the edit is applied only if the file is unchanged since it was read.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::NoShell;
use super::edited::{Edited, work_out};
use super::forward::{fill, forward};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::protocol::{Backend, Content, Edit, EditResult, SharedBackend, Shell, WriteResult};

/// How often an edit is computed again because another writer changed the file.
const REPLAYS: usize = 16;

/// Content that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// `write`, `edit` or `uploadFiles`.
    pub operation: &'static str,
    /// Its path.
    pub path: VPath,
    /// All bytes that the file would have.
    pub content: Bytes,
    /// Whether they are text.
    pub is_text: bool,
}

/// The decision of the host callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Write the content.
    Pass,
    /// Refuse, for this reason.
    Deny(String),
    /// Write this content instead.
    Replace(Content),
}

/// Inspects content; an error is a refusal.
pub type OnInspect = Rc<dyn Fn(Inspected) -> LocalBoxFuture<'static, Result<Verdict>>>;

pub(super) struct Inspect {
    inner: SharedBackend,
    raw: SharedBackend,
    on_inspect: OnInspect,
    queue: Queue,
    no_shell: Option<NoShell>,
}

impl Inspect {
    pub(super) fn new(
        inner: SharedBackend,
        raw: SharedBackend,
        on_inspect: OnInspect,
        allow_execute: bool,
    ) -> Inspect {
        let no_shell = NoShell::guard(&inner, "inspect", allow_execute);
        Inspect {
            inner,
            raw,
            on_inspect,
            queue: Queue::default(),
            no_shell,
        }
    }

    /// The bytes to write, or an error.
    async fn judged(&self, operation: &'static str, path: &VPath, content: Bytes) -> Result<Bytes> {
        let texture = file::classify(path, &content, None).1;
        let is_text = texture.is_text() && std::str::from_utf8(&content).is_ok();
        let verdict = (self.on_inspect)(Inspected {
            operation,
            path: path.clone(),
            content: content.clone(),
            is_text,
        });
        match verdict.await {
            Ok(Verdict::Pass) => Ok(content),
            Ok(Verdict::Replace(Content::Raw(bytes) | Content::New(bytes))) => Ok(bytes),
            Ok(Verdict::Replace(Content::Text(text))) => file::decode_content(path, text),
            Ok(Verdict::Deny(why)) => Err(Error::at(
                Kind::PermissionDenied,
                format!("Error: permission denied for {operation} on "),
                path,
                format!(": {why}"),
            )),
            Err(error) => {
                let refusal = Error::at(
                    Kind::PermissionDenied,
                    format!("Error: permission denied for {operation} on "),
                    path,
                    ": its content had to be inspected, and that failed",
                );
                Err(match error.cause() {
                    Some(cause) => refusal.caused_by(cause.clone()),
                    None => refusal,
                })
            }
        }
    }

    async fn edited(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        let _turn = self.queue.turn(path).await;
        let mut last: Option<(Bytes, Error)> = None;
        for _ in 0..REPLAYS {
            let Edited {
                before,
                after,
                occurrences,
                crlf,
            } = work_out(&*self.raw, path, edit).await?;
            if let Some((seen, error)) = last.take()
                && seen == before
            {
                // No other writer changed the file: the error is about the edit itself.
                return Err(error);
            }
            let new = self.judged("edit", path, after).await?;
            let whole = Edit {
                old: before.clone(),
                new,
                replace_all: false,
                whole: edit.whole,
            };
            match self.inner.edit(path, &whole).await {
                Ok(EditResult { files_update, .. }) => {
                    return Ok(EditResult {
                        occurrences,
                        crlf,
                        files_update,
                    });
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        Kind::NoMatch | Kind::AmbiguousEdit | Kind::InvalidArgument
                    ) =>
                {
                    last = Some((before, error));
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::conflict(path))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Inspect {
    forward!(capability, ls, read, read_raw, grep, glob, delete, download);

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let only_new = matches!(content, Content::New(_));
            let bytes = match content {
                Content::Text(text) => file::decode_content(path, text),
                Content::Raw(bytes) | Content::New(bytes) => Ok(bytes),
            };
            let judged = match bytes {
                Ok(bytes) => self.judged("write", path, bytes).await,
                Err(error) => Err(error),
            };
            let bytes = judged.map_err(|e| e.during("write"))?;
            let judged = match only_new {
                true => Content::New(bytes),
                false => Content::Raw(bytes),
            };
            self.inner.write(path, judged).await
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move { self.edited(path, edit).await.map_err(|e| e.during("edit")) })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let (mut refused, mut allowed) = (Vec::new(), Vec::new());
            for (path, body) in files {
                match self.judged("uploadFiles", &path, body).await {
                    Ok(body) => {
                        allowed.push((path, body));
                        refused.push(None);
                    }
                    Err(error) => refused.push(Some(error.during("upload"))),
                }
            }
            fill(refused, self.inner.upload(allowed).await)
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        NoShell::shown(&self.no_shell, &self.inner)
    }
}
