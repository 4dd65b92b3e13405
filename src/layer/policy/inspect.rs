//! `inspect`: a host callback sees content before it is written, and may refuse or replace it. It
//! sees the bytes that would be stored: decoded base64, and for an edit the whole resulting file,
//! so that harmless pieces cannot be combined into a refused text. Exactly the inspected content is
//! written: an edit replaces the whole file, and only if the file is unchanged since it was read.
//!
//! A backend that cannot compare whole files is read once more directly before the edit. No change
//! through this policy is made in between; a change from elsewhere may be.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::rule::{Rule, fill, shell_refused};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::layer::edited::{Edited, work_out};
use crate::protocol::{
    Answer, BackendExt, Content, Edit, EditResult, FilesUpdate, Request, SharedBackend, Step,
    Transfer, WriteResult, answer, by_bytes, carry, whole,
};

/// How often an edit is computed again because another writer changed the file.
const REPLAYS: usize = 16;

/// Content that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// `write`, `edit`, `append`, `uploadFiles`, `move` or `copy`.
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
    /// Edits of one file take turns, so that they need no replays because of each other.
    edits: Queue,
    /// Held while something is stored, and never while the host decides.
    changes: Queue,
    allow_execute: bool,
}

impl Inspect {
    pub(super) fn new(
        inner: SharedBackend,
        raw: SharedBackend,
        on_inspect: OnInspect,
        allow_execute: bool,
    ) -> Inspect {
        Inspect {
            inner,
            raw,
            on_inspect,
            edits: Queue::default(),
            changes: Queue::default(),
            allow_execute,
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
            Ok(Verdict::Replace(Content::Raw(bytes, _) | Content::New(bytes, _))) => Ok(bytes),
            Ok(Verdict::Replace(Content::Text(text))) => file::decode_content(path, text),
            Ok(Verdict::Deny(why)) => Err(Error::at(
                Kind::PermissionDenied,
                format!("Error: permission denied for {operation} on "),
                path,
                format!(": {why}"),
            )
            .decided_by("inspect")),
            Err(error) => {
                let refusal = Error::at(
                    Kind::PermissionDenied,
                    format!("Error: permission denied for {operation} on "),
                    path,
                    ": its content had to be inspected, and that failed",
                )
                .decided_by("inspect");
                Err(match error.cause() {
                    Some(cause) => refusal.caused_by(cause.clone()),
                    None => refusal,
                })
            }
        }
    }

    async fn edited(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        let _turn = self.edits.turn(path).await;
        for _ in 0..REPLAYS {
            let Edited {
                before,
                after,
                occurrences,
                crlf,
            } = work_out(&*self.raw, path, edit).await?;
            let operation = match edit.appends {
                true => "append",
                false => "edit",
            };
            let new = self.judged(operation, path, after).await?;
            if has(Bug::InspectBypassed) {
                return self.inner.edit(path, edit).await;
            }
            match self.replaced(path, before, new, edit.whole).await {
                Ok(EditResult { files_update, .. }) => {
                    return Ok(EditResult {
                        occurrences,
                        crlf,
                        files_update,
                    });
                }
                // Another writer changed the file: the edit is computed and inspected again.
                Err(error) if error.kind() == Kind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::conflict(path))
    }

    /// Replaces the whole file, or fails with `conflict` if it is no longer as it was read. With
    /// `only_whole` there is no other way than the backend's own comparison.
    async fn replaced(
        &self,
        path: &VPath,
        old: Bytes,
        new: Bytes,
        only_whole: bool,
    ) -> Result<EditResult> {
        let _turn = self.changes.turn(path).await;
        let mut edit = Edit {
            old,
            new,
            replace_all: false,
            whole: true,
            appends: false,
        };
        match self.inner.edit(path, &edit).await {
            Err(error) if error.kind() == Kind::Unsupported && !only_whole => {}
            answer => return answer,
        }
        if self.raw.read_raw(path).await?.body != edit.old {
            return Err(Error::conflict(path));
        }
        edit.whole = false;
        self.inner.edit(path, &edit).await
    }
}

impl Inspect {
    async fn written(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let only_new = matches!(content, Content::New(..));
        let mode = content.mode();
        let bytes = match content {
            Content::Text(text) => file::decode_content(path, text)?,
            Content::Raw(bytes, _) | Content::New(bytes, _) => bytes,
        };
        let bytes = self.judged("write", path, bytes).await?;
        let judged = match only_new {
            true => Content::New(bytes, mode),
            false => Content::Raw(bytes, mode),
        };
        let _turn = self.changes.turn(path).await;
        self.inner.write(path, judged).await
    }

    /// Each file is read, inspected under its new path and written: exactly the inspected content.
    async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let operation = asked.operation().name();
        let revise = |path: VPath, body: Bytes| -> Pending<'_, Bytes> {
            Box::pin(async move { self.judged(operation, &path, body).await })
        };
        let carrier = |step: Step| -> Pending<'_, Option<FilesUpdate>> {
            let revise = &revise;
            Box::pin(by_bytes(&*self.inner, asked, step, Some(revise)))
        };
        carry(&*self.inner, asked, &carrier).await
    }

    async fn uploaded(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let (mut refused, mut allowed) = (Vec::new(), Vec::new());
        for (path, body) in files {
            let judged = self.judged("uploadFiles", &path, body).await;
            refused.push(match judged {
                Ok(body) => {
                    allowed.push((path, body));
                    None
                }
                Err(error) => Some(error),
            });
        }
        let _turns = self
            .changes
            .turns(allowed.iter().map(|(path, _)| path))
            .await;
        fill(refused, self.inner.upload(allowed).await)
    }
}

impl Rule for Inspect {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, content) => answer(self.written(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edited(path, edit), Answer::Edit),
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.uploaded(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Execute(..) if !self.allow_execute => done(Err(shell_refused("inspect"))),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Delete(..)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }
}
