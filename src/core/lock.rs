//! FIFO semaphores and locks that are released when the call that held them ends. A call ends when
//! its future completes or is dropped, which releases its permits. A trap drops nothing, so permits
//! of calls that a trap ended count as free for the next caller.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::core::cell::{LocalCell, RefCell};
use crate::core::running;
use crate::core::sorted::Sorted;

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::new(Waiting::default());
}

#[derive(Default)]
struct Waiting {
    last: u64,
    wakers: Sorted<u64, Waker>,
}

/// Wakes all waiters after a trap: the permits of the lost calls are free, and nothing else reports
/// it.
pub fn wake_all() {
    let wakers: Vec<Waker> = WAITING.with(|waiting| match waiting.try_borrow() {
        Some(waiting) => waiting.wakers.values().cloned().collect(),
        None => Vec::new(),
    });
    for waker in wakers {
        waker.wake();
    }
}

/// How many calls wait for a permit.
#[cfg(feature = "testing")]
pub fn waiting() -> u32 {
    WAITING.with_borrow(|waiting| u32::try_from(waiting.wakers.len()).unwrap_or(u32::MAX))
}

/// A FIFO semaphore: the permits and the queue of waiters.
struct Line(RefCell<Inner>);

struct Inner {
    places: usize,
    /// The call that holds each taken permit.
    holders: Vec<u32>,
    /// Ticket and call number of each waiter, in order of arrival.
    queue: VecDeque<(u64, u32)>,
}

/// A position in the queue; leaves the queue when it is dropped.
struct Ticket<'a> {
    line: &'a Line,
    number: Option<u64>,
}

impl Line {
    fn new(places: usize) -> Line {
        Line(RefCell::new(Inner {
            places: places.max(1),
            holders: Vec::new(),
            queue: VecDeque::new(),
        }))
    }

    /// Waits for a permit and returns the number of the call that now holds it.
    async fn enter(&self) -> u32 {
        let mut ticket = Ticket {
            line: self,
            number: None,
        };
        poll_fn(|context| {
            let call = running::current();
            let mut inner = self.0.borrow_mut();
            if inner.may_enter(ticket.number) {
                inner.holders.push(call);
                if let Some(number) = ticket.number.take() {
                    inner.queue.pop_front();
                    WAITING.with_borrow_mut(|waiting| waiting.wakers.remove(&number));
                }
                inner.wake_first();
                running::holds();
                return Poll::Ready(call);
            }
            WAITING.with_borrow_mut(|waiting| {
                let number = *ticket.number.get_or_insert_with(|| {
                    waiting.last = waiting.last.wrapping_add(1);
                    inner.queue.push_back((waiting.last, call));
                    waiting.last
                });
                waiting.wakers.insert(number, context.waker().clone());
            });
            Poll::Pending
        })
        .await
    }

    fn leave(&self, call: u32) {
        let mut inner = self.0.borrow_mut();
        if let Some(at) = inner.holders.iter().position(|holder| *holder == call) {
            inner.holders.swap_remove(at);
        }
        running::gives_back();
        inner.wake_first();
    }
}

impl Inner {
    fn may_enter(&mut self, ticket: Option<u64>) -> bool {
        while let Some((_, call)) = self.queue.front()
            && running::is_lost(*call)
        {
            self.queue.pop_front();
        }
        let first = match ticket {
            None => self.queue.is_empty(),
            Some(number) => self.queue.front().is_some_and(|(at, _)| *at == number),
        };
        if first && self.holders.len() >= self.places {
            self.holders.retain(|call| !running::is_lost(*call));
        }
        first && self.holders.len() < self.places
    }

    fn wake_first(&self) {
        if self.holders.len() < self.places
            && let Some((number, _)) = self.queue.front()
            && let Some(waker) = WAITING.with_borrow(|waiting| waiting.wakers.get(number).cloned())
        {
            waker.wake();
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut inner = self.line.0.borrow_mut();
            inner.queue.retain(|(at, _)| *at != number);
            WAITING.with_borrow_mut(|waiting| waiting.wakers.remove(&number));
            inner.wake_first();
        }
    }
}

/// A FIFO semaphore. A waiter that gives up is skipped.
#[derive(Clone)]
pub struct Permits(Rc<Line>);

/// One permit; released when it is dropped.
pub struct Permit {
    line: Rc<Line>,
    call: u32,
}

impl Permits {
    /// A semaphore with `count` permits, at least one.
    pub fn new(count: usize) -> Permits {
        Permits(Rc::new(Line::new(count)))
    }

    /// Waits for a permit.
    pub async fn take(&self) -> Permit {
        let call = self.0.enter().await;
        Permit {
            line: self.0.clone(),
            call,
        }
    }

    /// From now on there are `count` permits, at least one. Those that are taken stay taken.
    pub fn resize(&self, count: usize) {
        let mut inner = self.0.0.borrow_mut();
        inner.places = count.max(1);
        inner.wake_first();
    }

    /// Whether somebody waits for one.
    pub fn are_wanted(&self) -> bool {
        !self.0.0.borrow().queue.is_empty()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.line.leave(self.call);
    }
}

/// A value that one call at a time may use, also across an `await`.
pub struct Mutex<T> {
    line: Line,
    value: UnsafeCell<T>,
}

/// Access to the value while it is locked.
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    call: u32,
}

/// A lock that keeps its mutex alive.
pub struct OwnedMutexGuard<T> {
    mutex: Rc<Mutex<T>>,
    call: u32,
}

impl<T> Mutex<T> {
    /// A mutex that contains `value`.
    pub fn new(value: T) -> Mutex<T> {
        Mutex {
            line: Line::new(1),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        let call = self.line.enter().await;
        MutexGuard { mutex: self, call }
    }

    /// Waits for the lock.
    pub async fn lock_owned(self: Rc<Mutex<T>>) -> OwnedMutexGuard<T> {
        let call = self.line.enter().await;
        OwnedMutexGuard { mutex: self, call }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the semaphore has one permit, and this guard holds it until it is dropped, or
        // until its call is lost, after which no code of that call runs.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.line.leave(self.call);
    }
}

impl<T> Drop for OwnedMutexGuard<T> {
    fn drop(&mut self) {
        self.mutex.line.leave(self.call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::running::Call;
    use crate::core::testing::{now, waits};

    #[test]
    fn no_more_than_allowed_and_in_turn() {
        let permits = Permits::new(2);
        let one = now(permits.take());
        let _two = now(permits.take());
        let mut third = Box::pin(permits.take());
        let mut fourth = Box::pin(permits.take());
        assert!(waits(&mut third));
        assert!(waits(&mut fourth));
        drop(one);
        assert!(waits(&mut fourth), "not its turn");
        assert!(waits(permits.take()), "no newcomer either");
        let third = now(third);
        drop(third);
        assert!(!waits(fourth));
    }

    #[test]
    fn there_may_be_more_or_fewer_of_them_later() {
        let permits = Permits::new(1);
        let one = now(permits.take());
        let mut second = Box::pin(permits.take());
        let mut third = Box::pin(permits.take());
        assert!(!permits.are_wanted());
        assert!(waits(&mut second) && waits(&mut third) && permits.are_wanted());
        permits.resize(2);
        let second = now(second);
        assert!(waits(&mut third));
        permits.resize(0);
        drop(one);
        assert!(waits(&mut third), "one is left, and taken");
        drop(second);
        let _third = now(third);
        assert!(!permits.are_wanted() && waits(permits.take()));
    }

    #[test]
    fn who_gives_up_waiting_is_passed_over() {
        let permits = Permits::new(1);
        let one = now(permits.take());
        let mut second = Box::pin(permits.take());
        let mut third = Box::pin(permits.take());
        assert!(waits(&mut second));
        assert!(waits(&mut third));
        drop(second);
        drop(one);
        assert!(!waits(third));
    }

    #[test]
    fn what_a_lost_call_held_is_free_for_the_next() {
        let mutex = Mutex::new(1);
        let (lost, other) = (Call::new(), Call::new());
        running::within(lost, || {
            std::mem::forget(now(mutex.lock()));
            running::trapped(usize::MAX, false);
            // A real trap would not return; here the call returns normally.
        });
        assert_eq!(*running::within(other, || now(mutex.lock())), 1);
        assert!(!waits(mutex.lock()), "and given back");
    }

    #[test]
    fn the_places_of_lost_calls_in_the_queue_are_passed_over() {
        let mutex = Mutex::new(());
        let (holder, lost) = (Call::new(), Call::new());
        let held = running::within(holder, || now(mutex.lock()));
        let mut first = Box::pin(mutex.lock());
        running::within(lost, || {
            assert!(waits(&mut first));
            running::trapped(usize::MAX, false);
        });
        let mut second = Box::pin(mutex.lock());
        assert!(waits(&mut second), "it is held");
        drop(held);
        assert!(!waits(second));
        std::mem::forget(first);
    }

    #[test]
    fn what_other_calls_hold_stays_theirs() {
        let mutex = Mutex::new(());
        let (holder, lost) = (Call::new(), Call::new());
        let _held = running::within(holder, || now(mutex.lock()));
        running::within(lost, || running::trapped(usize::MAX, false));
        assert!(waits(mutex.lock()));
    }
}
