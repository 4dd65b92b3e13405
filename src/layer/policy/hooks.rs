//! `hooks`: host callbacks around an operation. `before` may refuse the operation and runs before
//! every rule; `after` receives the outcome and cannot change it.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::audit::Begun;
use super::{Record, Seams};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{
    Backend, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions, ExecuteResult,
    FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult,
    SharedBackend, Shell, WriteResult,
};

/// An operation that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its JavaScript name.
    pub operation: &'static str,
    /// The files or directories in its arguments; empty for a command.
    pub paths: Vec<VPath>,
}

/// Called before the operation; an error refuses it.
pub type Before = Rc<dyn Fn(Call) -> LocalBoxFuture<'static, Result<()>>>;
/// Called after the operation.
pub type After = Rc<dyn Fn(Record) -> LocalBoxFuture<'static, ()>>;

/// Host callbacks around an operation.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Runs before every rule.
    pub before: Option<Before>,
    /// Runs after everything except the audit.
    pub after: Option<After>,
}

impl Hooks {
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

pub(super) struct Hooked {
    inner: SharedBackend,
    hooks: Hooks,
    seams: Seams,
}

impl Hooked {
    pub(super) fn new(inner: SharedBackend, hooks: Hooks, seams: Seams) -> Hooked {
        Hooked {
            inner,
            hooks,
            seams,
        }
    }

    async fn before(&self, operation: &'static str, paths: Vec<VPath>) -> Result<()> {
        match &self.hooks.before {
            Some(before) => before(Call { operation, paths })
                .await
                .map_err(|error| error.during(operation)),
            None => Ok(()),
        }
    }

    async fn after(&self, begun: Begun, bytes: usize, error: Option<&Error>) {
        if let Some(after) = &self.hooks.after {
            after(begun.ended(&self.seams, bytes, error)).await;
        }
    }

    async fn around<T>(
        &self,
        operation: &'static str,
        path: Option<&VPath>,
        asked: impl Future<Output = Result<T>>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Result<T> {
        let begun = Begun::one(&self.seams, operation, path);
        let before = self.before(operation, path.cloned().into_iter().collect());
        let answer = match before.await {
            Ok(()) => asked.await,
            Err(refusal) => Err(refusal),
        };
        let bytes = answer.as_ref().map_or(0, bytes);
        self.after(begun, bytes, answer.as_ref().err()).await;
        answer
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Hooked {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        let asked = async move { self.inner.ls(path).await };
        Box::pin(self.around("ls", Some(path), asked, |_| 0))
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        let asked = async move { self.inner.read(path, page).await };
        Box::pin(self.around("read", Some(path), asked, |read| read.content.len()))
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        let asked = async move { self.inner.read_raw(path).await };
        Box::pin(self.around("readRaw", Some(path), asked, |file| file.body.len()))
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        let asked = async move { self.inner.grep(query).await };
        let bytes = |found: &GrepResult| found.matches.text.len();
        Box::pin(self.around("grep", Some(&query.path), asked, bytes))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        let asked = async move { self.inner.glob(query).await };
        Box::pin(self.around("glob", Some(&query.path), asked, |_| 0))
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        let size = content.bytes().len();
        let asked = async move { self.inner.write(path, content).await };
        Box::pin(self.around("write", Some(path), asked, move |_| size))
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        let asked = async move { self.inner.edit(path, edit).await };
        Box::pin(self.around("edit", Some(path), asked, |_| edit.new.len()))
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        let asked = async move { self.inner.delete(path, unchanged).await };
        Box::pin(self.around("delete", Some(path), asked, |_| 0))
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let paths: Vec<VPath> = files.iter().map(|(path, _)| path.clone()).collect();
            let sizes: Vec<usize> = files.iter().map(|(_, body)| body.len()).collect();
            let begun = Begun::batch(&self.seams, "uploadFiles", paths.clone());
            let answers: Vec<Result<()>> = match self.before("uploadFiles", paths).await {
                Ok(()) => self.inner.upload(files).await,
                Err(refusal) => sizes.iter().map(|_| Err(refusal.clone())).collect(),
            };
            let stored = answers
                .iter()
                .zip(sizes)
                .filter(|(answer, _)| answer.is_ok());
            let bytes = stored.map(|(_, size)| size).sum();
            let error = answers.iter().find_map(|answer| answer.as_ref().err());
            self.after(begun, bytes, error).await;
            answers
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            let begun = Begun::batch(&self.seams, "downloadFiles", paths.to_vec());
            let answers: Vec<Result<Bytes>> =
                match self.before("downloadFiles", paths.to_vec()).await {
                    Ok(()) => self.inner.download(paths).await,
                    Err(refusal) => paths.iter().map(|_| Err(refusal.clone())).collect(),
                };
            let bytes = answers.iter().flatten().map(Bytes::len).sum();
            let error = answers.iter().find_map(|answer| answer.as_ref().err());
            self.after(begun, bytes, error).await;
            answers
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell().map(|_| self as &dyn Shell)
    }
}

impl Shell for Hooked {
    fn id(&self) -> Rc<str> {
        self.inner.shell().map_or_else(|| Rc::from(""), Shell::id)
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        let asked = async move {
            match self.inner.shell() {
                Some(shell) => shell.execute(command, options).await,
                None => Err(crate::protocol::unsupported("execute")),
            }
        };
        Box::pin(self.around("execute", None, asked, |ran| ran.output.len()))
    }
}
