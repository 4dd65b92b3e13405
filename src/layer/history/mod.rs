//! A history beside the files of a backend: each change notes what it replaced, who made it, when and
//! by which call, so that any earlier content can be read and put back. Contents are kept by their
//! digests, so each is there once. `docs/history.md` has the format and the rules.
//!
//! Every change goes through [`History::noted`]: the note and the contents are written first, then the
//! file is changed under the condition that it still holds what the note says it held.

mod ask;
mod calls;
mod change;
mod note;
mod pins;
mod prune;
mod store;
#[cfg(test)]
mod tests;
mod verify;
mod walk;

use std::cell::Cell;
use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::env::clock;
use crate::protocol::SharedBackend;
use crate::side::Room;

use pins::Base;
use prune::Reached;
use store::Store;

pub use ask::{Compared, Moment, Why};
pub use note::{Change, Note};
pub use pins::Pin;
pub use prune::Pruned;
pub use verify::{Loss, Verified};

/// Changes after which the history is pruned.
const PRUNE_EVERY: u32 = 64;

/// Who makes a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// A person or an agent.
    pub by: Rc<str>,
    /// The call, such as that of a tool.
    pub call: Rc<str>,
}

/// Tells at each change who makes it.
pub type Who = Rc<dyn Fn() -> Result<Author>>;

/// What is kept; everything where all are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Most notes.
    pub count: Option<usize>,
    /// The greatest age of a note in milliseconds.
    pub age: Option<i64>,
    /// Most bytes of contents.
    pub bytes: Option<u64>,
}

/// Options of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryOptions {
    /// Whether `write` replaces a file that exists.
    pub overwrite: bool,
    /// What is kept.
    pub keep: Retention,
}

thread_local! {
    /// The time of the last note of any history, in microseconds.
    static LAST: Cell<i64> = const { Cell::new(0) };
}

/// The time of a new note. Later notes of this process have later times, also within one tick of the
/// clock and in two histories that are kept in the same place.
fn now() -> i64 {
    let now = clock::now().micros().max(LAST.get() + 1);
    LAST.set(now);
    now
}

/// A backend whose changes are noted.
pub struct History {
    inner: SharedBackend,
    store: Store,
    who: Who,
    options: HistoryOptions,
    /// Changes since notes were last dropped, of all authors.
    since: Rc<Cell<u32>>,
    /// The last pin, so that the next one reads only what was changed since.
    base: RefCell<Option<Base>>,
    /// What pins named when the history was pruned last.
    reached: RefCell<Reached>,
}

impl History {
    /// A history of `inner`, kept in a room. Nothing is read.
    pub fn new(inner: SharedBackend, room: Room, who: Who, options: HistoryOptions) -> History {
        History {
            inner,
            store: Store::new(room),
            who,
            options,
            since: Rc::default(),
            base: RefCell::renewable(|| None),
            reached: RefCell::renewable(Reached::default),
        }
    }
    /// The same history, with changes of somebody else.
    pub fn told_by(&self, who: Who) -> History {
        History {
            since: self.since.clone(),
            ..History::new(
                self.inner.clone(),
                self.store.room().clone(),
                who,
                self.options,
            )
        }
    }
}
