//! Files combined with commands that the host runs.

use std::rc::Rc;

use kitbag::core::error::Result;
use kitbag::core::future::{Pending, done};
use kitbag::core::time::whole_millis;
use kitbag::protocol::{
    Answer, Atomic, Backend, Capability, ExecuteOptions, ExecuteResult, Request, SharedBackend,
};

use crate::bindings::kitbag::files::shell;
use crate::given;
use crate::run::ask;

/// A backend with a machine of the host.
pub struct WithShell {
    files: SharedBackend,
    id: Rc<str>,
}

impl WithShell {
    /// `files` for files, the machine `id` for commands.
    pub fn new(files: SharedBackend, id: &str) -> WithShell {
        WithShell {
            files,
            id: Rc::from(id),
        }
    }

    fn run(&self, command: &str, options: &ExecuteOptions) -> Result<ExecuteResult> {
        let timeout = options.timeout.map(whole_millis);
        ask(|| {
            shell::execute(&self.id, command, timeout)
                .map(given::execution)
                .map_err(given::error)
        })
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for WithShell {
    fn capability(&self) -> Capability {
        self.files.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Execute(command, options) => {
                done(self.run(command, &options).map(Answer::Execute))
            }
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            | Request::Download(_) => self.files.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        Some(self.id.clone())
    }

    fn atomic(&self) -> Atomic<'_> {
        self.files.atomic()
    }
}
