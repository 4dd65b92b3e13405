//! A turn as a backend.

use std::future::Future;
use std::rc::Rc;

use super::Turn;
use super::keeper::judged;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, FilesUpdate, Reach, Replacement, Request, Transaction,
    Transfer, WriteResult, answer, by_bytes, carry,
};

/// The note in `capability`.
const NOTE: &str = "Changes stay in the turn until it is committed.";

impl Turn {
    /// A call that reads the turn's files.
    fn reading<'a, T: 'a>(
        &'a self,
        call: impl Future<Output = Result<T>> + 'a,
        kind: fn(T) -> Answer,
    ) -> Pending<'a, Answer> {
        Box::pin(async move {
            self.opened().await?;
            let answer = call.await.map(kind);
            judged(answer, self.leave(false).await)
        })
    }

    /// A call that changes the turn's files.
    fn changing<'a, T: 'a>(
        &'a self,
        call: impl Future<Output = Result<T>> + 'a,
        kind: fn(T) -> Answer,
    ) -> Pending<'a, Answer> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let answer = call.await.map(kind);
            judged(answer, self.leave(true).await)
        })
    }

    async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let carrier = |step| -> Pending<'_, Option<FilesUpdate>> {
            Box::pin(by_bytes(self, asked, step, None))
        };
        carry(self, asked, &carrier).await
    }
}

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

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => self.reading(self.list_merged(path), Answer::Ls),
            Request::Read(path, page) => self.reading(self.read_page(path, page), Answer::Read),
            Request::ReadRaw(path) => self.reading(self.raw_file(path), Answer::ReadRaw),
            Request::Grep(query) => self.reading(self.grep_merged(query), Answer::Grep),
            Request::Glob(query) => self.reading(self.glob_merged(query), Answer::Glob),
            Request::Download(paths) => {
                let bodies = async { Ok(self.download_files(paths).await) };
                self.reading(bodies, Answer::Download)
            }
            Request::Write(path, content) => {
                self.changing(self.write_file(path, content), Answer::Write)
            }
            Request::Edit(path, edit) => self.changing(self.edit_file(path, edit), Answer::Edit),
            Request::Delete(path, unchanged) => {
                self.changing(self.delete_path(path, unchanged), Answer::Delete)
            }
            Request::Upload(files) => {
                let stored = async { Ok(self.upload_files(files).await) };
                self.changing(stored, Answer::Upload)
            }
            // Its single steps are calls of their own.
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Execute(..) => done(Err(Error::new(
                Kind::Unsupported,
                "execute is refused in a turn: a command would not see the turn's files, and would \
                 change others past it. Commit the turn, then run the command on its backend.",
            ))),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.base.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Transaction(self)
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
