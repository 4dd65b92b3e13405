//! Turns, a path at a time. Calls of one instance that read, change and put the same file take
//! their turn here; where a storage cannot compare and swap, this is all that keeps two edits
//! from losing one another.

use std::collections::HashMap;
use std::rc::{Rc, Weak};

use crate::cell::RefCell;
use crate::lock::{Mutex, OwnedMutexGuard};
use crate::order;
use crate::path::VPath;

/// The turns of one instance.
#[derive(Default)]
pub struct Queue(Rc<RefCell<HashMap<VPath, Rc<Mutex<()>>>>>);

/// Somebody's turn; it ends when this is dropped.
pub struct Turn {
    guard: Option<OwnedMutexGuard<()>>,
    path: VPath,
    queue: Weak<RefCell<HashMap<VPath, Rc<Mutex<()>>>>>,
}

impl Queue {
    /// Waits for the turn of `path`.
    pub async fn turn(&self, path: &VPath) -> Turn {
        let mutex = self.0.borrow_mut().entry(path.clone()).or_default().clone();
        Turn {
            guard: Some(mutex.lock_owned().await),
            path: path.clone(),
            queue: Rc::downgrade(&self.0),
        }
    }

    /// Waits for the turns of many paths. They are taken in one order, so that two who want the
    /// same ones cannot wait for each other.
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
        // The map holds one reference; whoever else waits holds another.
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
