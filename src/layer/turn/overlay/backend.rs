//! An overlay as a backend.

use std::rc::Rc;

use super::Overlay;
use crate::core::error::{Error, Kind};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Reach, Replacement, Request, Transaction, answer,
    by_steps, whole,
};

/// The note in `capability`.
const NOTE: &str = "Changes stay in the turn until it is committed.";

impl Overlay {
    /// Answers a request; no other one may change the overlay meanwhile.
    pub(in crate::layer::turn) fn answer<'a>(
        &'a self,
        request: Request<'a>,
    ) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.list(path), Answer::Ls),
            Request::Read(path, page) => answer(self.read_page(path, page), Answer::Read),
            Request::ReadRaw(path, _) => answer(self.raw_file(path), Answer::ReadRaw),
            Request::Grep(query) => answer(self.search(query), Answer::Grep),
            Request::Glob(query) => answer(self.find(query), Answer::Glob),
            Request::Download(paths) => whole(self.download_files(paths), Answer::Download),
            Request::Write(path, content) => answer(self.write_file(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edit_file(path, edit), Answer::Edit),
            Request::Delete(path, unchanged) => {
                answer(self.delete_path(path, unchanged), Answer::Delete)
            }
            Request::Upload(files) => whole(self.upload_files(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            // Its single steps are calls of their own.
            Request::Transfer(asked) => by_steps(self, asked),
            Request::Execute(..) => done(Err(Error::new(
                Kind::Unsupported,
                "execute is refused in a turn: a command would not see the turn's files, and would \
                 change others past it. Commit the turn, then run the command on its backend.",
            ))),
        }
    }
}

impl Backend for Overlay {
    fn capability(&self) -> Capability {
        let mut capability = self.below().capability();
        capability.create = Reach::Instance;
        capability.update = Reach::Instance;
        capability.writable = true;
        capability.overwrites = self.options.overwrite;
        capability.lists_versions = false;
        capability.indexed = false;
        capability.notes.push(NOTE.into());
        capability.origins.defer();
        capability
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(..) | Request::Edit(..) | Request::Delete(..) | Request::Upload(_) => {
                Box::pin(async move {
                    let _changing = self.changing.lock().await;
                    self.answer(request).await
                })
            }
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_)
            | Request::Transfer(_)
            | Request::Stream(..)
            | Request::Execute(..) => self.answer(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.below().shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Transaction(self)
    }
}

impl Transaction for Overlay {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        Box::pin(async move {
            let _changing = self.changing.lock().await;
            self.replace_files(files).await
        })
    }
}
