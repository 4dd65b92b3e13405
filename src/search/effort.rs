//! The work of matching paths against patterns. It is counted, because a path is matched where nothing can
//! wait and the clock is far: a storage asks in the midst of its own work.

use std::cell::Cell;

use crate::core::error::{Error, Kind, Result};

/// Steps that matching paths may take in one search, whatever their number is, and those that each path
/// may take besides. A step is about one comparison of a byte.
const PATHS: usize = 1 << 25;
const PER_PATH: usize = 2_000;

/// Steps that matching paths takes in one stretch, if it can be put off.
const STRETCH: usize = 1 << 18;
/// Steps that are about one item of work.
const OF_ITEM: usize = 16;
/// Steps that matching one path takes at most.
const ONE_PATH: usize = 1 << 19;

/// The work of one search.
pub struct Effort {
    left: Cell<usize>,
    /// Of the path that is matched.
    of_path: Cell<usize>,
    /// Since the last pause.
    of_stretch: Cell<usize>,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            left: Cell::new(PATHS),
            of_path: Cell::new(0),
            of_stretch: Cell::new(0),
        }
    }
}

impl Effort {
    /// Another path is matched. Returns whether to do so.
    pub fn begin(&self) -> bool {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left.saturating_add(PER_PATH));
        }
        self.of_path.set(0);
        left > 0
    }

    /// Records `steps` of work. Returns whether to continue.
    pub fn worked(&self, steps: usize) -> bool {
        let more = |counter: &Cell<usize>| {
            counter.set(counter.get().saturating_add(steps));
            counter.get()
        };
        more(&self.of_stretch);
        let left = match more(&self.of_path) > ONE_PATH {
            true => 0,
            false => self.left.get().saturating_sub(steps),
        };
        self.left.set(left);
        left > 0
    }

    /// Whether other paths should be matched after a pause.
    pub fn is_pause_due(&self) -> bool {
        self.of_stretch.get() >= STRETCH
    }

    /// Another stretch of work begins. Returns the work of the last one, for a [`Pace`](crate::core::pace::Pace).
    pub fn resume(&self) -> usize {
        1 + self.of_stretch.take() / OF_ITEM
    }

    /// The error if the work was stopped. `what` is what the paths are matched against.
    pub fn over(&self, what: &str) -> Result<()> {
        match self.left.get() {
            0 => Err(Error::new(
                Kind::Timeout,
                format!(
                    "Matching paths against {what} takes too long. Use fewer patterns, with fewer \
                     wildcards, or search in fewer files"
                ),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_may_take_more_the_more_paths_there_are() {
        let effort = Effort::default();
        let paths = PATHS / ONE_PATH;
        for _ in 0..paths {
            assert!(effort.begin() && effort.worked(ONE_PATH));
        }
        assert!(effort.begin() && effort.worked(PER_PATH * (paths + 1) - 1));
        assert!(effort.over("a pattern").is_ok());
        assert!(!effort.worked(1));
        assert!(!effort.begin(), "what is over stays over");
        let error = effort.over("a pattern").expect_err("an error");
        assert_eq!(error.kind(), Kind::Timeout);
    }

    #[test]
    fn one_path_may_not_take_all_of_the_work() {
        let effort = Effort::default();
        assert!(effort.begin() && effort.worked(ONE_PATH));
        assert!(!effort.worked(1));
        assert!(effort.over("a pattern").is_err());
    }

    #[test]
    fn a_pause_between_paths_is_due_after_so_many_steps() {
        let effort = Effort::default();
        assert!(effort.worked(STRETCH - 1) && !effort.is_pause_due());
        assert!(effort.worked(1) && effort.is_pause_due());
        assert_eq!(effort.resume(), 1 + STRETCH / OF_ITEM);
        assert!(!effort.is_pause_due());
    }
}
