//! Which journals this process has begun and not finished. Its seal shows that a journal is of this
//! process, but not that it was not carried out before: somebody may have kept a copy and put it back.
//! So a process also remembers which ones it takes back: it never carries those out again.

use super::record::{Record, Stage};
use crate::core::bugs::{Bug, has};
use crate::core::cell::{LocalCell, RefCell};

struct Live {
    id: u64,
    /// Whether it is being taken back.
    undone: bool,
}

thread_local! {
    static LIVE: RefCell<Vec<Live>> = const { RefCell::new(Vec::new()) };
}

/// What this process does with one of its own journals that it finds: what the journal says, or, once it
/// takes the commit back, nothing but that. `None` if the journal is not one that it has begun and not
/// finished.
pub(super) fn stage(found: &Record) -> Option<Stage> {
    LIVE.with_borrow(|live| {
        let one = live.iter().find(|one| one.id == found.id)?;
        Some(match one.undone && !has(Bug::JournalReplayed) {
            true => Stage::Undoing,
            false => found.stage,
        })
    })
}

/// Adds one that is about to be stored.
pub(super) fn begin(record: &Record) {
    let (id, undone) = (record.id, record.stage == Stage::Undoing);
    LIVE.with_borrow_mut(|live| {
        if !live.iter().any(|one| one.id == id) {
            live.push(Live { id, undone });
        }
    });
}

/// Says that one is taken back from now on.
pub(super) fn undo(id: u64) {
    LIVE.with_borrow_mut(|live| {
        for one in live.iter_mut().filter(|one| one.id == id) {
            one.undone = true;
        }
    });
}

/// Removes one that is gone.
pub(super) fn end(id: u64) {
    LIVE.with_borrow_mut(|live| live.retain(|one| one.id != id));
}
