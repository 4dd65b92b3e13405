//! Who watches a turn that is kept. A turn tells of its own changes when they are kept, and of all its
//! files when it is emptied; a change below shows only where the turn has no file of its own. A turn
//! that is not kept tells nobody, so that this is in the chunk that makes kept turns.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::core::cell::RefCell;
use crate::core::path::{ByPath, VPath};

/// Changes that nobody was told of yet.
#[derive(Default)]
pub(in crate::layer::turn) struct Watch {
    /// Somebody listens, or is about to ask again.
    listens: Cell<bool>,
    found: RefCell<ByPath<()>>,
    waker: RefCell<Option<Waker>>,
}

/// Nobody listens any more after a call that was cancelled.
struct Listening<'a> {
    watch: &'a Watch,
    goes_on: bool,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        if !self.goes_on {
            self.watch.listens.set(false);
            self.watch.found.take();
        }
    }
}

impl Watch {
    /// What the turn shows at a path may be other than before.
    pub(super) fn note(&self, path: &VPath) {
        if !self.listens.get() {
            return;
        }
        self.found.borrow_mut().insert(path.clone(), Box::new(()));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Waits for changes. From the first call on they are collected, until a call is cancelled.
    pub(in crate::layer::turn) async fn next(&self) -> ByPath<()> {
        self.listens.set(true);
        let mut listening = Listening {
            watch: self,
            goes_on: false,
        };
        let found = poll_fn(|context| {
            let found = self.found.take();
            if found.is_empty() {
                self.waker.replace(Some(context.waker().clone()));
                return Poll::Pending;
            }
            Poll::Ready(found)
        })
        .await;
        listening.goes_on = true;
        found
    }
}
