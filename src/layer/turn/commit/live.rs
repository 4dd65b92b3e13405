//! Which journals this process has begun and not finished. Its seal shows that a journal is of this
//! process, but not that it was not carried out before: somebody may have kept a copy and put it back.
//! So a process also remembers which ones it takes back: it never carries those out again.

use std::time::Duration;

use bytes::Bytes;

use super::record::{Record, Stage};
use crate::core::bugs::{Bug, has};
use crate::core::cell::{LocalCell, RefCell};
use crate::core::time::Time;

/// Journals of others that are remembered.
const SEEN: usize = 8;

struct Live {
    id: u64,
    /// Whether it is being taken back.
    undone: bool,
}

thread_local! {
    /// Journals that were found, and since when.
    static FOUND: RefCell<Vec<(Bytes, Time)>> = const { RefCell::new(Vec::new()) };
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

/// How long this process has known a journal of these bytes.
pub(super) fn unchanged(journal: &Bytes, now: Time) -> Duration {
    FOUND.with_borrow_mut(|found| {
        // A clock that was set back begins anew.
        found.retain(|(_, since)| *since <= now);
        if let Some((_, since)) = found.iter().find(|(bytes, _)| bytes == journal) {
            let micros = now.micros().saturating_sub(since.micros());
            return Duration::from_micros(micros.cast_unsigned());
        }
        if found.len() >= SEEN {
            found.remove(0);
        }
        found.push((journal.clone(), now));
        Duration::ZERO
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_known_as_long_as_it_stays_the_same() {
        let at = |millis| Time::from_millis(millis);
        let [one, other] = [Bytes::from("one"), Bytes::from("other")];
        assert_eq!(unchanged(&one, at(1000.0)), Duration::ZERO);
        assert_eq!(unchanged(&one, at(4000.0)), Duration::from_secs(3));
        assert_eq!(unchanged(&other, at(4000.0)), Duration::ZERO);
        assert_eq!(unchanged(&one, at(11_000.0)), Duration::from_secs(10));
        assert_eq!(unchanged(&one, at(500.0)), Duration::ZERO, "set back");
        for number in 0..SEEN {
            unchanged(&Bytes::from(number.to_string()), at(600.0));
        }
        assert_eq!(unchanged(&one, at(600.0)), Duration::ZERO, "forgotten");
    }
}
