//! Below all rules: passes calls to the backend, or, while a commit is judged, those of the commit to
//! an overlay. So a turn has its changes judged by the rules as they are, with their counters and
//! their quota, before any of them is made.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::LocalBoxFuture;

use super::rule::Rule;
use super::rules::{Beneath, Rules, Touch};
use crate::core::cell::RefCell;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::running;
use crate::protocol::{Answer, Guard, Request, SharedBackend};

pub(super) struct Detour {
    inner: SharedBackend,
    /// Where the calls go that are made now by this call of the host.
    judged: RefCell<Option<(u32, SharedBackend)>>,
    /// Incremented when files were changed below the rules.
    recount: Rc<Cell<u64>>,
    /// What the rules hide.
    rules: Option<Rules>,
}

impl Detour {
    pub(super) fn new(
        inner: SharedBackend,
        recount: Rc<Cell<u64>>,
        rules: Option<Rules>,
    ) -> Detour {
        Detour {
            inner,
            rules,
            judged: RefCell::renewable(|| None),
            recount,
        }
    }
}

impl Rule for Detour {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        // Where a call goes depends on when it runs, not on when it was made.
        Box::pin(async move {
            let judged = self.judged.borrow().clone();
            match judged {
                Some((call, files)) if call == running::current() => files.call(request).await,
                _ => self.inner.call(request).await,
            }
        })
    }

    fn guard(&self) -> Option<&dyn Guard> {
        Some(self)
    }
}

impl Guard for Detour {
    fn inner(&self) -> SharedBackend {
        self.inner.clone()
    }

    fn judging<'a>(
        &'a self,
        files: SharedBackend,
        calls: LocalBoxFuture<'a, ()>,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(Judging {
            detour: self,
            files,
            calls,
        })
    }

    fn changed(&self) {
        self.recount.set(self.recount.get().wrapping_add(1));
    }

    fn shows(&self, path: &VPath, beneath: bool) -> bool {
        self.rules.as_ref().is_none_or(|rules| {
            !rules.denies(Touch::Read, path)
                || (beneath && rules.beneath(Touch::Read, path) != Beneath::Closed)
        })
    }
}

/// Calls that go to an overlay, also if the host does other calls in between.
struct Judging<'a> {
    detour: &'a Detour,
    files: SharedBackend,
    calls: LocalBoxFuture<'a, ()>,
}

impl Future for Judging<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let detour = self.detour;
        let files = (running::current(), self.files.clone());
        let before = detour.judged.replace(Some(files));
        let polled = self.calls.as_mut().poll(context);
        detour.judged.replace(before);
        polled
    }
}
