//! All rules of a policy as one: passes each call to them, and can put the same rules around another
//! backend. A turn uses that to have its changes judged before any of them is made.

use super::rule::{Next, Rule};
use super::{Policy, stacked};
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::protocol::{Answer, Guard, Request, SharedBackend};

pub(super) struct Whole {
    rules: Next,
    inner: SharedBackend,
    policy: Policy,
}

impl Whole {
    pub(super) fn new(rules: Next, inner: SharedBackend, policy: Policy) -> Whole {
        Whole {
            rules,
            inner,
            policy,
        }
    }
}

impl Rule for Whole {
    fn inner(&self) -> &Next {
        &self.rules
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        self.rules.call(request)
    }

    fn guard(&self) -> Option<&dyn Guard> {
        Some(self)
    }
}

impl Guard for Whole {
    fn inner(&self) -> SharedBackend {
        self.inner.clone()
    }

    fn around(&self, files: SharedBackend) -> Result<SharedBackend> {
        Ok(stacked(files, self.policy.clone())?.shared())
    }

    fn changed(&self) {
        self.policy
            .recount
            .set(self.policy.recount.get().wrapping_add(1));
    }
}
