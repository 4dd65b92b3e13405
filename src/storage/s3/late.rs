//! Conditional puts that were given up and may still arrive. The server refuses them once the object
//! has changed, so that later puts need not wait. Two changes would make the condition hold again:
//! a deletion, for a put that creates the object, and the same content as before, since ETags are
//! digests. These wait until the earlier put has ended. Work without a condition is not here: it
//! closes its path to all later changes ([`queue`](crate::core::queue)).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use md5::{Digest, Md5};

use super::objects::{Condition, Sent};
use super::sign::hex;
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::queue::closed;
use crate::core::unsettled::{Unsettled, give_up_conditional};
use crate::env::timer;

/// The puts of one storage that were given up.
#[derive(Default)]
pub(super) struct LatePuts(RefCell<Vec<Late>>);

/// A put that was given up.
struct Late {
    path: VPath,
    /// The ETag that it replaces; `None` if it creates the object.
    tag: Option<String>,
    work: Unsettled,
}

/// A put in progress, with the condition that the server checks.
struct Conditional<'a> {
    late: &'a LatePuts,
    path: &'a VPath,
    tag: Option<&'a str>,
    sent: Option<Sent<'a, Option<String>>>,
}

impl Future for Conditional<'_> {
    type Output = <Sent<'static, Option<String>> as Future>::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(sent) = &mut self.sent else {
            return Poll::Pending;
        };
        let polled = sent.as_mut().poll(context);
        if polled.is_ready() {
            self.sent = None;
        }
        polled
    }
}

impl Drop for Conditional<'_> {
    fn drop(&mut self) {
        let Some(sent) = self.sent.take() else {
            return;
        };
        if let Some(work) = give_up_conditional(|| drop(sent)) {
            self.late.0.borrow_mut().push(Late {
                path: self.path.clone(),
                tag: self.tag.map(str::to_owned),
                work,
            });
        }
    }
}

impl LatePuts {
    /// A put whose condition the server checks.
    pub(super) fn conditional<'a>(
        &'a self,
        path: &'a VPath,
        condition: Condition<'a>,
        sent: Sent<'a, Option<String>>,
    ) -> Sent<'a, Option<String>> {
        let tag = match condition {
            Condition::Always => return sent,
            Condition::Absent => None,
            Condition::Matches(tag, _) => Some(tag),
        };
        Box::pin(Conditional {
            late: self,
            path,
            tag,
            sent: Some(sent),
        })
    }

    /// Waits before a put for earlier ones over the same content; `None` if there is none.
    pub(super) fn before_put<'a>(
        &'a self,
        path: &'a VPath,
        body: &[u8],
    ) -> Option<Pending<'a, ()>> {
        if self.0.borrow().is_empty() {
            return None;
        }
        self.before(path, Some(hex(&Md5::digest(body))))
    }

    /// Waits before a copy, whose content is not known, for all earlier puts.
    pub(super) async fn before_copy(&self, path: &VPath) -> Result<()> {
        let next = || {
            let mut late = self.0.borrow_mut();
            late.retain(|one| !one.work.is_settled());
            let found = late.iter().find(|one| one.path == *path);
            found.map(|one| one.work.clone())
        };
        while let Some(work) = next() {
            if !work.wait(timer::sleep).await {
                return Err(closed(path));
            }
        }
        Ok(())
    }

    /// Waits before a deletion for earlier puts that would create objects again.
    pub(super) fn before_delete<'a>(&'a self, root: &'a VPath) -> Option<Pending<'a, ()>> {
        self.before(root, None)
    }

    #[inline(never)]
    fn before<'a>(&'a self, path: &'a VPath, tag: Option<String>) -> Option<Pending<'a, ()>> {
        self.next(path, tag.as_ref())?;
        Some(Box::pin(async move {
            while let Some(work) = self.next(path, tag.as_ref()) {
                if !work.wait(timer::sleep).await {
                    return Err(closed(path));
                }
            }
            Ok(())
        }))
    }

    /// A put over the content with that ETag, or one that creates an object at or below the path.
    fn next(&self, path: &VPath, tag: Option<&String>) -> Option<Unsettled> {
        let mut late = self.0.borrow_mut();
        late.retain(|one| !one.work.is_settled());
        let concerns = |one: &&Late| one.tag.as_ref() == tag && one.path.is_under(path);
        late.iter().find(concerns).map(|one| one.work.clone())
    }
}
