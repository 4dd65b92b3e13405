//! `hiddenCharacters: "allow"`: names of new files may have characters that nobody sees. The refusal is
//! where a caller names a file (`may_create`), so that nothing that a layer restores is refused; it asks
//! the outermost backend, and this is the answer.

use super::rule::Rule;
use crate::core::future::Pending;
use crate::protocol::{Answer, Capability, Names, Request, SharedBackend};

pub(super) struct AnyName {
    pub(super) inner: SharedBackend,
}

impl Rule for AnyName {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn capability(&self) -> Capability {
        let inner = self.inner.capability();
        let names = Names {
            deceptive: true,
            ..inner.names
        };
        Capability { names, ..inner }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        self.inner.call(request)
    }
}
