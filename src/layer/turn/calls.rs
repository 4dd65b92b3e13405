//! A turn as a backend.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::Turn;
use super::keeper::judged;
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
        Box::pin(async move {
            self.opened().await?;
            let answer = self.list_merged(path).await;
            judged(answer, self.leave(false).await)
        })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(async move {
            self.opened().await?;
            let answer = self.read_page(path, page).await;
            judged(answer, self.leave(false).await)
        })
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(async move {
            self.opened().await?;
            let answer = self.raw_file(path).await;
            judged(answer, self.leave(false).await)
        })
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(async move {
            self.opened().await?;
            let answer = self.grep_merged(query).await;
            judged(answer, self.leave(false).await)
        })
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            self.opened().await?;
            let answer = self.glob_merged(query).await;
            judged(answer, self.leave(false).await)
        })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let answer = self.write_file(path, content).await;
            let answer = judged(answer, self.leave(true).await);
            answer.map_err(|error| error.during("write"))
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let answer = self.edit_file(path, edit).await;
            let answer = judged(answer, self.leave(true).await);
            answer.map_err(|error| error.during("edit"))
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let answer = self.delete_path(path, unchanged).await;
            let answer = judged(answer, self.leave(true).await);
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
            let entered = self.enter().await;
            let Err(error) = entered else {
                let answers = self.upload_files(files).await;
                return all_or(answers, self.leave(true).await);
            };
            (0..count).map(|_| Err(error.clone())).collect()
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            if let Err(error) = self.opened().await {
                return paths.iter().map(|_| Err(error.clone())).collect();
            }
            let answers = self.download_files(paths).await;
            all_or(answers, self.leave(false).await)
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

/// The answers for several files, or one failure for all of them.
fn all_or<T>(answers: Vec<Result<T>>, kept: Result<()>) -> Vec<Result<T>> {
    match kept {
        Ok(()) => answers,
        Err(error) => answers.iter().map(|_| Err(error.clone())).collect(),
    }
}

impl Transaction for Turn {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let differ = self.replace_files(files).await;
            judged(differ, self.leave(true).await)
        })
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
