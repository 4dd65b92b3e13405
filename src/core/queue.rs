//! Per-path locks with a queue. Calls of one instance that read, change and put the same file wait
//! here for each other. If a storage has no compare-and-swap, this is the only protection against
//! lost updates.

use std::collections::HashMap;
use std::rc::{Rc, Weak};

use crate::core::cell::RefCell;
use crate::core::lock::{Mutex, OwnedMutexGuard};
use crate::core::order;
use crate::core::path::VPath;

/// The locks of one instance.
#[derive(Default)]
pub struct Queue(Rc<RefCell<HashMap<VPath, Rc<Mutex<()>>>>>);

/// A held lock; dropping it releases the lock.
pub struct Turn {
    guard: Option<OwnedMutexGuard<()>>,
    path: VPath,
    queue: Weak<RefCell<HashMap<VPath, Rc<Mutex<()>>>>>,
}

impl Queue {
    /// Waits for the lock of `path`.
    pub async fn turn(&self, path: &VPath) -> Turn {
        let mutex = self.0.borrow_mut().entry(path.clone()).or_default().clone();
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
        turns
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard = None;
        let Some(queue) = self.queue.upgrade() else {
            return;
        };
        let mut queue = queue.borrow_mut();
        // The map holds one reference; every waiting call holds another one.
        if queue
            .get(&self.path)
            .is_some_and(|mutex| Rc::strong_count(mutex) == 1)
        {
            queue.remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_second_turn_waits_for_the_first_and_nothing_is_left_behind() {
        let queue = Queue::default();
        let path = VPath::parse("/a").expect("a path");
        let other = VPath::parse("/b").expect("a path");
        let first = queue.turn(&path).now_or_never().expect("free");
        let mut second = Box::pin(queue.turn(&path));
        assert!((&mut second).now_or_never().is_none());
        assert!(queue.turn(&other).now_or_never().is_some());
        drop(first);
        let second = second.now_or_never().expect("free now");
        drop(second);
        assert!(queue.0.borrow().is_empty());
    }
}
