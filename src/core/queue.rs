//! Per-path locks with a queue. Calls of one instance that read, change and put the same file wait
//! here for each other. If a storage has no compare-and-swap, this is the only protection against
//! lost updates. A change that was given up keeps its path closed until the host has finished it
//! ([`unsettled`](crate::core::unsettled)).

use std::rc::{Rc, Weak};

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::lock::{Mutex, OwnedMutexGuard};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::core::unsettled::{self, Sleep, Unsettled};

/// The locks of one instance.
#[derive(Default)]
pub struct Queue(Rc<Inner>);

#[derive(Default)]
struct Inner {
    locks: RefCell<Sorted<VPath, Rc<Mutex<()>>>>,
    /// What calls that were given up have left behind, at the paths that they had locked.
    left: RefCell<Vec<(VPath, Unsettled)>>,
}

/// A held lock; dropping it releases the lock. If its call was given up while the host was working
/// for it, the path stays closed to [`Queue::settled_turn`] until the host has finished.
pub struct Turn {
    guard: Option<OwnedMutexGuard<()>>,
    path: VPath,
    queue: Weak<Inner>,
}

impl Queue {
    /// Waits for the lock of `path`.
    pub async fn turn(&self, path: &VPath) -> Turn {
        let mutex = {
            let mut locks = self.0.locks.borrow_mut();
            let known = locks.get(path).cloned();
            known.unwrap_or_else(|| {
                let new = Rc::<Mutex<()>>::default();
                locks.insert(path.clone(), new.clone());
                new
            })
        };
        Turn {
            guard: Some(mutex.lock_owned().await),
            path: path.clone(),
            queue: Rc::downgrade(&self.0),
        }
    }

    /// Waits for the locks of several paths. They are taken in sorted order, which prevents
    /// deadlocks.
    pub async fn turns(&self, paths: impl IntoIterator<Item = &VPath>) -> Vec<Turn> {
        let mut sorted: Vec<&VPath> = paths.into_iter().collect();
        order::sort(&mut sorted);
        sorted.dedup();
        let mut turns = Vec::with_capacity(sorted.len());
        for path in sorted {
            turns.push(self.turn(path).await);
        }
        // They are dropped in this order, and the last entry of the map is removed at once.
        turns.reverse();
        turns
    }

    /// The same as [`Queue::turn`]; waits for changes at, above and below `path` that were given up
    /// and may still happen.
    pub async fn settled_turn(&self, path: &VPath, sleep: Sleep) -> Result<Turn> {
        let turn = self.turn(path).await;
        if let Some(waiting) = self.settling(path, sleep) {
            waiting.await?;
        }
        Ok(turn)
    }

    /// The same as [`Queue::turns`], waiting likewise.
    pub async fn settled_turns(
        &self,
        paths: impl IntoIterator<Item = &VPath>,
        sleep: Sleep,
    ) -> Result<Vec<Turn>> {
        let turns = self.turns(paths).await;
        for turn in &turns {
            if let Some(waiting) = self.settling(&turn.path, sleep) {
                waiting.await?;
            }
        }
        Ok(turns)
    }

    /// Waits likewise, but takes no lock: for changes whose condition the storage checks.
    pub async fn watch(&self, path: &VPath, sleep: Sleep) -> Result<Turn> {
        if let Some(waiting) = self.settling(path, sleep) {
            waiting.await?;
        }
        Ok(Turn {
            guard: None,
            path: path.clone(),
            queue: Rc::downgrade(&self.0),
        })
    }

    /// Waits until nothing is left behind at a path; `None` if nothing is. Boxed, because it is rare
    /// and every change has a place for it.
    #[inline(never)]
    fn settling<'a>(&'a self, path: &'a VPath, sleep: Sleep) -> Option<Pending<'a, ()>> {
        self.0.left_at(path)?;
        Some(Box::pin(self.settle(path, sleep)))
    }

    async fn settle(&self, path: &VPath, sleep: Sleep) -> Result<()> {
        while let Some(work) = self.0.left_at(path) {
            if !work.wait(sleep).await {
                return Err(closed(path));
            }
        }
        Ok(())
    }
}

/// The error of a change that would come before an earlier one that was given up.
pub fn closed(path: &VPath) -> Error {
    Error::at(
        Kind::Unavailable,
        "An earlier change of '",
        path,
        "' was given up, but the storage has not finished it and may still make it; \
         nothing was changed. Try again when the storage answers.",
    )
}

impl Inner {
    fn left_at(&self, path: &VPath) -> Option<Unsettled> {
        let mut left = self.left.borrow_mut();
        left.retain(|(_, work)| !work.is_settled());
        let at = |(of, _): &&(VPath, Unsettled)| of.is_under(path) || path.is_under(of);
        left.iter().find(at).map(|(_, work)| work.clone())
    }
}

impl Drop for Turn {
    #[inline(never)]
    fn drop(&mut self) {
        let Some(queue) = self.queue.upgrade() else {
            return;
        };
        // Before the lock is released.
        if let Some(work) = unsettled::of_this_call()
            && !has(Bug::EarlyTurn)
        {
            let mut left = queue.left.borrow_mut();
            left.retain(|(_, work)| !work.is_settled());
            left.push((self.path.clone(), work));
        }
        if self.guard.take().is_none() {
            return;
        }
        let mut locks = queue.locks.borrow_mut();
        // The map holds one reference; every waiting call holds another one.
        if locks
            .get(&self.path)
            .is_some_and(|mutex| Rc::strong_count(mutex) == 1)
        {
            locks.remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{now, waits};

    use crate::core::running::{Call, within};

    #[test]
    fn a_second_turn_waits_for_the_first_and_nothing_is_left_behind() {
        let queue = Queue::default();
        let path = VPath::parse("/a").expect("a path");
        let other = VPath::parse("/b").expect("a path");
        let first = now(queue.turn(&path));
        let mut second = Box::pin(queue.turn(&path));
        assert!(waits(&mut second));
        assert!(!waits(queue.turn(&other)));
        drop(first);
        let second = now(second);
        drop(second);
        assert!(queue.0.locks.borrow().is_empty());
    }

    #[test]
    fn a_path_stays_closed_until_the_work_of_a_dropped_call_has_settled() {
        let never: Sleep = |_| Box::pin(std::future::pending());
        let queue = Queue::default();
        let path = |text| VPath::parse(text).expect("a path");
        let call = Call::new();
        let turn = within(call, || now(queue.settled_turn(&path("/d/a"), never)));
        let piece = within(call, || {
            let piece = unsettled::leave();
            drop(turn);
            piece
        });
        let closed = |at| {
            let at = path(at);
            within(Call::new(), || waits(queue.watch(&at, never)))
        };
        assert!(closed("/d/a") && closed("/d") && closed("/d/a/below"));
        assert!(!closed("/d/b") && !closed("/other"));
        piece.settle();
        assert!(!closed("/d/a"));
        assert!(queue.0.left.borrow().is_empty());
    }

    #[test]
    fn work_with_a_condition_closes_no_path_but_is_known_of_its_call() {
        let never: Sleep = |_| Box::pin(std::future::pending());
        let queue = Queue::default();
        let path = VPath::parse("/a").expect("a path");
        let call = Call::new();
        let turn = within(call, || now(queue.settled_turn(&path, never)));
        let mut piece = None;
        let mut known = 0;
        let work = within(call, || {
            let work = unsettled::give_up_conditional(|| piece = Some(unsettled::leave()));
            drop(turn);
            unsettled::each_of_this_call(&mut |conditional, _| known += i32::from(conditional));
            work
        });
        assert_eq!(known, 1);
        assert!(!within(Call::new(), || waits(queue.watch(&path, never))));
        let work = work.expect("left behind");
        assert!(!work.is_settled());
        piece.into_iter().for_each(unsettled::Piece::settle);
        assert!(work.is_settled());
    }

    #[test]
    fn work_that_never_settles_is_an_error_when_the_time_is_up() {
        let at_once: Sleep = |_| Box::pin(std::future::ready(()));
        let queue = Queue::default();
        let path = VPath::parse("/a").expect("a path");
        let call = Call::new();
        let turn = within(call, || now(queue.settled_turn(&path, at_once)));
        let piece = within(call, || (unsettled::leave(), drop(turn)));
        let answer = now(queue.settled_turn(&path, at_once));
        assert_eq!(
            answer.err().map(|error| error.kind()),
            Some(Kind::Unavailable)
        );
        piece.0.settle();
        let answer = now(queue.settled_turn(&path, at_once));
        assert!(answer.is_ok());
    }
}
