//! A turn as a backend.

use std::rc::Rc;

use super::Turn;
use super::keeper::judged;
use crate::core::error::{Error, Kind};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Reach, Replacement, Request, Transaction, answer,
    by_steps, whole,
};

/// The note in `capability`.
const NOTE: &str = "Changes stay in the turn until it is committed.";

impl Turn {
    /// A call that reads the turn's files.
    fn reading<'a>(&'a self, call: Pending<'a, Answer>) -> Pending<'a, Answer> {
        Box::pin(async move {
            self.opened().await?;
            let answer = call.await;
            judged(answer, self.leave(false).await)
        })
    }

    /// A call that changes the turn's files.
    fn changing<'a>(&'a self, call: Pending<'a, Answer>) -> Pending<'a, Answer> {
        Box::pin(async move {
            let _changing = self.enter().await?;
            let answer = call.await;
            judged(answer, self.leave(true).await)
        })
    }
}

impl Backend for Turn {
    fn capability(&self) -> Capability {
        let mut capability = self.base.capability();
        capability.create = Reach::Instance;
        capability.update = Reach::Instance;
        capability.writable = true;
        capability.overwrites = self.options.overwrite;
        capability.lists_versions = false;
        capability.indexed = false;
        capability.notes.push(NOTE.into());
        capability
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => self.reading(answer(self.list_merged(path), Answer::Ls)),
            Request::Read(path, page) => {
                self.reading(answer(self.read_page(path, page), Answer::Read))
            }
            Request::ReadRaw(path) => self.reading(answer(self.raw_file(path), Answer::ReadRaw)),
            Request::Grep(query) => self.reading(answer(self.grep_merged(query), Answer::Grep)),
            Request::Glob(query) => self.reading(answer(self.glob_merged(query), Answer::Glob)),
            Request::Download(paths) => {
                self.reading(whole(self.download_files(paths), Answer::Download))
            }
            Request::Write(path, content) => {
                self.changing(answer(self.write_file(path, content), Answer::Write))
            }
            Request::Edit(path, edit) => {
                self.changing(answer(self.edit_file(path, edit), Answer::Edit))
            }
            Request::Delete(path, unchanged) => {
                self.changing(answer(self.delete_path(path, unchanged), Answer::Delete))
            }
            Request::Upload(files) => {
                self.changing(whole(self.upload_files(files), Answer::Upload))
            }
            // Its single steps are calls of their own.
            Request::Transfer(asked) => by_steps(self, asked),
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
