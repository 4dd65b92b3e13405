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
mod prune;
mod store;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::clock;
use crate::protocol::SharedBackend;

use store::Store;

pub use ask::{Compared, Moment, Why};
pub use note::{Change, Note};
pub use prune::Pruned;

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

/// Makes an empty backend, in which edits are tried.
pub type Scratch = Rc<dyn Fn() -> SharedBackend>;

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

/// A backend whose changes are noted.
pub struct History {
    inner: SharedBackend,
    store: Store,
    scratch: Scratch,
    who: Who,
    options: HistoryOptions,
    /// The time of the last note, in microseconds: later notes have later times.
    last: Cell<i64>,
    /// Changes since notes were last dropped.
    since: Cell<u32>,
}

impl History {
    /// A history of `inner`, kept in the directory `dir` of `at`. Nothing is read.
    pub fn new(
        inner: SharedBackend,
        at: SharedBackend,
        dir: VPath,
        scratch: Scratch,
        who: Who,
        options: HistoryOptions,
    ) -> History {
        History {
            inner,
            store: Store { at, dir },
            scratch,
            who,
            options,
            last: Cell::new(0),
            since: Cell::new(0),
        }
    }

    /// The time of a new note.
    fn now(&self) -> i64 {
        let now = clock::now().micros().max(self.last.get() + 1);
        self.last.set(now);
        now
    }
}
