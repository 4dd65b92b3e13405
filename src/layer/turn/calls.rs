//! A turn as a backend.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::Turn;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions,
    ExecuteResult, FileInfo, FilesUpdate, GlobQuery, GlobResult, GrepQuery, GrepResult, Page,
    RawFile, Reach, ReadResult, Replacement, Shell, Transaction, Transfer, WriteResult, by_bytes,
    carry, unsupported,
};

/// The note in `capability`.
const NOTE: &str = "Changes stay in the turn until it is committed.";

#[deny(clippy::missing_trait_methods)]
impl Backend for Turn {
    fn capability(&self) -> Capability {
        let mut capability = self.base.capability();
        capability.create = Reach::Instance;
        capability.update = Reach::Instance;
        capability.writable = true;
        capability.lists_versions = false;
        capability.indexed = false;
        capability.notes.push(NOTE.into());
        capability
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(self.reading(self.list_merged(path)))
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(self.reading(self.read_page(path, page)))
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(self.reading(self.raw_file(path)))
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(self.reading(self.grep_merged(query)))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(self.reading(self.glob_merged(query)))
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let answer = self.change(self.write_file(path, content)).await;
            answer.map_err(|error| error.during("write"))
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            let answer = self.change(self.edit_file(path, edit)).await;
            answer.map_err(|error| error.during("edit"))
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let answer = self.change(self.delete_path(path, unchanged)).await;
            answer.map_err(|error| error.during("delete"))
        })
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let carrier = |step| -> Pending<'_, Option<FilesUpdate>> {
                Box::pin(by_bytes(self, asked, step, None))
            };
            let answer = carry(self, asked, &carrier).await;
            answer.map_err(|error| error.during(asked.operation().name()))
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let count = files.len();
            let work = async { Ok(self.upload_files(files).await) };
            all_or(count, self.change(work).await)
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            let work = async { Ok(self.download_files(paths).await) };
            all_or(paths.len(), self.reading(work).await)
        })
    }

    fn part<'a>(&'a self, _: &'a VPath, _: Range<u64>) -> Pending<'a, Bytes> {
        done(Err(unsupported("part")))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.base.shell().map(|_| self as &dyn Shell)
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Transaction(self)
    }
}

/// The answers for a number of files, or one failure for all of them.
fn all_or<T>(count: usize, answers: Result<Vec<Result<T>>>) -> Vec<Result<T>> {
    answers.unwrap_or_else(|error| (0..count).map(|_| Err(error.clone())).collect())
}

impl Transaction for Turn {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        Box::pin(self.change(self.replace_files(files)))
    }
}

impl Shell for Turn {
    fn id(&self) -> Rc<str> {
        let shell = self.base.shell();
        shell.map_or_else(|| Rc::from(""), Shell::id)
    }

    fn execute<'a>(&'a self, _: &'a str, _: ExecuteOptions) -> Pending<'a, ExecuteResult> {
        let refusal = Error::new(
            Kind::Unsupported,
            "execute is refused in a turn: a command would not see the turn's files, and would \
             change others past it. Commit the turn, then run the command on its backend.",
        );
        done(Err(refusal.during("execute")))
    }
}
