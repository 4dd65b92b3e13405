//! Below every rule about paths: runs the calls of the backend with symbolic links refused, so that
//! a rule judges the place where the bytes are ([`links`](crate::core::links)).

use super::rule::Rule;
use crate::core::future::Pending;
use crate::core::links::refusing;
use crate::protocol::{Answer, Request, SharedBackend};

pub(super) struct NoLinks {
    pub(super) inner: SharedBackend,
}

impl Rule for NoLinks {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            // What a command does is the host's, not kitbag's.
            Request::Execute(..) => self.inner.call(request),
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
            | Request::Download(_) => Box::pin(refusing(self.inner.call(request))),
        }
    }
}
