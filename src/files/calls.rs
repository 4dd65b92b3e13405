//! The operations as a [`Backend`].

use std::rc::Rc;

use super::{Files, Operations, WriteMode};
use crate::core::future::{Pending, done};
use crate::env::timer;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Directories, Listings, Reach, Replacement, Request,
    Together, answer, unsupported, whole,
};
use crate::storage::Storage;

/// Files of so many bytes are stored as a whole, where a storage could take them in parts as well.
const WHOLE: u64 = 1 << 20;

#[deny(clippy::missing_trait_methods)]
impl Backend for Operations {
    fn capability(&self) -> Capability {
        let storage = self.storage.capability();
        Capability {
            overwrites: self.options.write_mode == WriteMode::Overwrite,
            listings: match storage.directories {
                Directories::Implied => Listings::Paths,
                Directories::Real => Listings::Ruled,
            },
            ..storage
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.list_level(path), Answer::Ls),
            Request::Read(path, page) => answer(self.read_page(path, page), Answer::Read),
            Request::ReadRaw(path, None) => answer(self.raw_file(path), Answer::ReadRaw),
            Request::ReadRaw(path, Some(range)) => {
                answer(self.file_part(path, range), Answer::ReadRaw)
            }
            Request::Grep(query) => answer(self.grep_files(query), Answer::Grep),
            Request::Glob(query) => answer(self.glob_files(query), Answer::Glob),
            Request::Write(path, content) => answer(self.write_file(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edit_file(path, edit), Answer::Edit),
            Request::Delete(path, None) => answer(self.delete_path(path), Answer::Delete),
            Request::Delete(path, Some(body)) => {
                answer(self.delete_unchanged(path, body), Answer::Delete)
            }
            Request::Transfer(asked) => answer(self.transfer_files(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.upload_files(files), Answer::Upload),
            Request::Stream(path, file) => match self.storage.extras().streams {
                Some(streams) if file.parts().size() > WHOLE => {
                    if let Err(error) = self.may_store(path, file.parts().size()) {
                        return done(Err(error));
                    }
                    let turn = self.queue.settled_turn(path, timer::sleep);
                    file.stored(Box::pin(turn), streams.put_parts(path, file.parts()))
                }
                _ => file.whole(self, path),
            },
            Request::Download(paths) => whole(self.download_files(paths), Answer::Download),
            Request::Execute(..) => done(Err(unsupported("execute"))),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        None
    }

    fn atomic(&self) -> Atomic<'_> {
        let capability = self.storage.capability();
        let changes = capability.create != Reach::Never && capability.update != Reach::Never;
        match capability.writable && changes {
            true if self.storage.extras().is_immediate => Atomic::Immediate,
            true if self.storage.extras().together.is_some() => Atomic::Together(self),
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}

impl Together for Operations {
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        self.storage.extras().together?.moment()
    }

    fn replace_at<'a>(
        &'a self,
        files: &'a [Replacement],
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool> {
        Box::pin(self.replace_files(files, moment))
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Storage + 'static> Backend for Files<S> {
    fn capability(&self) -> Capability {
        self.operations.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        self.operations.call(request)
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.operations.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.operations.atomic()
    }
}
