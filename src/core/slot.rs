//! An event of the host as a future.

use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::core::cell::RefCell;

/// A value that is set once, later.
pub struct Slot<T>(Rc<RefCell<Inner<T>>>);

struct Inner<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot(self.0.clone())
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(Rc::new(RefCell::new(Inner {
            value: None,
            waker: None,
        })))
    }
}

impl<T> Slot<T> {
    /// Sets the value and wakes the waiting task.
    pub fn fill(&self, value: T) {
        let waker = {
            let mut inner = self.0.borrow_mut();
            inner.value = Some(value);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for the value.
    pub fn wait(&self) -> impl Future<Output = T> + use<T> {
        let held = self.0.clone();
        poll_fn(move |context| {
            let mut inner = held.borrow_mut();
            match inner.value.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    inner.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}
