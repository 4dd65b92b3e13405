//! `allowExecute: false`: no command, also where no rule about files is bypassed by one.

use super::rule::Rule;
use crate::core::error::{Error, Kind};
use crate::core::future::{Pending, done};
use crate::protocol::{Answer, Operation, Request, SharedBackend};

pub(super) struct NoCommands {
    pub(super) inner: SharedBackend,
}

impl Rule for NoCommands {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if request.operation() != Operation::Execute {
            return self.inner.call(request);
        }
        let error = "execute is refused: the policy has allowExecute: false";
        done(Err(
            Error::new(Kind::PermissionDenied, error).decided_by("allowExecute")
        ))
    }
}
