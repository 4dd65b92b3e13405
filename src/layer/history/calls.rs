//! A history as a backend.

use std::rc::Rc;

use super::History;
use super::change::is_conditional;
use crate::core::future::Pending;
use crate::protocol::{Answer, Atomic, Backend, Capability, Request, answer, by_steps, whole};

#[deny(clippy::missing_trait_methods)]
impl Backend for History {
    fn capability(&self) -> Capability {
        Capability {
            overwrites: self.options.overwrite,
            ..self.inner.capability()
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, content) if !History::passes(path) => {
                answer(self.write_file(path, content), Answer::Write)
            }
            Request::Edit(path, edit) if !History::passes(path) => {
                answer(self.edit_file(path, edit), Answer::Edit)
            }
            Request::Delete(path, unchanged) if !History::passes(path) => {
                answer(self.delete_path(path, unchanged), Answer::Delete)
            }
            Request::Transfer(asked) => by_steps(self, asked),
            Request::Upload(files) => whole(self.upload_files(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        // A turn must commit through the history, so it has only what single calls have.
        match is_conditional(&self.inner) {
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}
