//! Below every rule about paths: runs the calls of the backend with symbolic links refused, so that
//! a rule judges the place where the bytes are ([`links`](crate::core::links)). A refusal says where a link
//! leads only if the rules show that place: what they hide, nobody learns of by a link.

use super::rule::Rule;
use super::rules::{Rules, Touch};
use crate::core::future::Pending;
use crate::core::links::refusing;
use crate::core::path::VPath;
use crate::protocol::{Answer, Request, SharedBackend};

pub(super) struct NoLinks {
    pub(super) inner: SharedBackend,
    /// What may be read, if rules hide files.
    pub(super) rules: Option<Rules>,
}

impl NoLinks {
    fn shows(&self, path: &VPath) -> bool {
        let hides = |rules: &Rules| rules.denies(Touch::Read, path);
        !self.rules.as_ref().is_some_and(hides)
    }
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
            | Request::Download(_) => Box::pin(async move {
                let answer = refusing(self.inner.call(request)).await;
                answer.map_err(|error| error.seen_by(|path| self.shows(path)))
            }),
        }
    }
}
