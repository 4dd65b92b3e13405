//! Which journals this process has begun and not finished. Its seal shows that a journal is of this
//! process, but not that it was not carried out before: somebody may have kept a copy and put it back.

use crate::core::cell::{LocalCell, RefCell};

thread_local! {
    static LIVE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Whether it is one of them.
pub(super) fn has(id: u64) -> bool {
    LIVE.with_borrow(|live| live.contains(&id))
}

/// Adds one that is about to be stored.
pub(super) fn begin(id: u64) {
    LIVE.with_borrow_mut(|live| {
        if !live.contains(&id) {
            live.push(id);
        }
    });
}

/// Removes one that is gone.
pub(super) fn end(id: u64) {
    LIVE.with_borrow_mut(|live| live.retain(|one| *one != id));
}
