//! How many requests may be under way at once. Who waits is served in turn; who gives up waiting
//! is passed over.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::future::poll_fn;
use std::task::{Poll, Waker};

/// So many permits, and those who wait for one.
#[derive(Clone)]
pub struct Permits(Rc<RefCell<Inner>>);

struct Inner {
    free: usize,
    last: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// Leave to send one request; given back when it is dropped.
pub struct Permit(Permits);

/// A place in the line, given up when it is dropped.
struct Place(Permits, Option<u64>);

impl Permits {
    /// So many, at least one.
    pub fn new(count: usize) -> Permits {
        Permits(Rc::new(RefCell::new(Inner {
            free: count.max(1),
            last: 0,
            waiting: VecDeque::new(),
        })))
    }

    /// Waits for a permit.
    pub async fn take(&self) -> Permit {
        let mut place = Place(self.clone(), None);
        poll_fn(|context| {
            let mut inner = self.0.borrow_mut();
            let first = match place.1 {
                None => inner.waiting.is_empty(),
                Some(id) => inner.waiting.front().is_some_and(|(at, _)| *at == id),
            };
            if first && inner.free > 0 {
                inner.free -= 1;
                if place.1.take().is_some() {
                    inner.waiting.pop_front();
                }
                inner.wake_first();
                return Poll::Ready(());
            }
            match place.1 {
                None => {
                    inner.last += 1;
                    let id = inner.last;
                    inner.waiting.push_back((id, context.waker().clone()));
                    place.1 = Some(id);
                }
                Some(id) => {
                    if let Some(own) = inner.waiting.iter_mut().find(|(at, _)| *at == id) {
                        own.1.clone_from(context.waker());
                    }
                }
            }
            Poll::Pending
        })
        .await;
        Permit(self.clone())
    }
}

impl Inner {
    fn wake_first(&self) {
        if self.free > 0
            && let Some((_, waker)) = self.waiting.front()
        {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut inner = self.0.0.borrow_mut();
        inner.free += 1;
        inner.wake_first();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(id) = self.1 {
            let mut inner = self.0.0.borrow_mut();
            inner.waiting.retain(|(at, _)| *at != id);
            inner.wake_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn no_more_than_allowed_and_in_turn() {
        let permits = Permits::new(2);
        let one = permits.take().now_or_never().expect("free");
        let _two = permits.take().now_or_never().expect("free");
        let mut third = Box::pin(permits.take());
        let mut fourth = Box::pin(permits.take());
        assert!((&mut third).now_or_never().is_none());
        assert!((&mut fourth).now_or_never().is_none());
        drop(one);
        assert!((&mut fourth).now_or_never().is_none(), "not its turn");
        let third = (&mut third).now_or_never().expect("its turn");
        drop(third);
        assert!((&mut fourth).now_or_never().is_some());
    }

    #[test]
    fn who_gives_up_waiting_blocks_nobody() {
        let permits = Permits::new(1);
        let one = permits.take().now_or_never().expect("free");
        let mut second = Box::pin(permits.take());
        assert!((&mut second).now_or_never().is_none());
        let mut third = Box::pin(permits.take());
        assert!((&mut third).now_or_never().is_none());
        drop(second);
        drop(one);
        assert!((&mut third).now_or_never().is_some());
        assert_eq!(permits.0.borrow().free, 1, "given back");
    }
}
