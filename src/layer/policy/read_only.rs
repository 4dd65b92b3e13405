//! `readOnly`: every change is refused.

use super::rule::{Rule, shell_refused};
use crate::core::error::{Error, Kind};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{Answer, Capability, Operation, Request, SharedBackend};

pub(super) struct ReadOnly {
    pub(super) inner: SharedBackend,
    pub(super) allow_execute: bool,
}

fn refusal(operation: Operation, path: &VPath) -> Error {
    let operation = operation.spoken();
    Error::at(
        Kind::PermissionDenied,
        format!("Error: permission denied for {operation} on "),
        path,
        ": this backend is read-only",
    )
    .decided_by("readOnly")
}

impl Rule for ReadOnly {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn capability(&self) -> Capability {
        Capability {
            writable: false,
            ..self.inner.capability()
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let operation = request.operation();
        let refused = |path: &VPath| done(Err(refusal(operation, path)));
        match request {
            Request::Write(path, _)
            | Request::Edit(path, _)
            | Request::Delete(path, _)
            | Request::Stream(path, _) => refused(path),
            // A copy reads its source; what it would change is its target.
            Request::Transfer(asked) if asked.keeps => refused(&asked.to),
            Request::Transfer(asked) => refused(&asked.from),
            Request::Upload(files) => {
                let refused = files.iter().map(|(path, _)| Err(refusal(operation, path)));
                done(Ok(Answer::Upload(refused.collect())))
            }
            Request::Execute(..) if !self.allow_execute => done(Err(shell_refused("readOnly"))),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }
}
