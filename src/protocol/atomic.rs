//! How several files of a backend can be changed as one. The code that does it is in
//! [`layer::turn`](crate::layer::turn); a backend only states what it has for it.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::SharedBackend;
use crate::core::file::Mode;
use crate::core::future::Pending;
use crate::core::path::VPath;

/// One file of a change of several: what it must hold before, and what it holds after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub path: VPath,
    /// Its content before; `None` if there must be no file.
    pub before: Option<Bytes>,
    /// Its content after; `None` deletes it.
    pub after: Option<Bytes>,
    /// The permission bits of a file that is created or deleted, if they are known. One that stays
    /// keeps its own.
    pub mode: Option<Mode>,
}

/// A backend that changes several files in one step.
pub trait Transaction {
    /// Applies all replacements if every file holds what its replacement expects, else none.
    /// Returns the files that hold something else; empty if all were applied.
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>>;

    /// Whether it is made with a journal: one that is broken off is finished or taken back later, and
    /// meanwhile others may see a part of it.
    fn is_journaled(&self) -> bool {
        false
    }
}

/// A backend whose storage changes several files in one step, while others read and write it.
pub trait Together {
    /// The name of the state of all files, if the storage has such names.
    fn moment(&self) -> Option<Pending<'_, Rc<str>>>;

    /// Applies all replacements if every file holds what its replacement expects, else none, and
    /// returns which. With names of states, it is the state that must still be that one.
    fn replace_at<'a>(
        &'a self,
        files: &'a [Replacement],
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool>;
}

/// A backend with rules around another one.
pub trait Guard {
    /// The backend below all rules.
    fn inner(&self) -> SharedBackend;

    /// The same future; what it calls of the guarded backend goes through the rules to `files`
    /// instead of [`Guard::inner`].
    fn judging<'a>(
        &'a self,
        files: SharedBackend,
        calls: LocalBoxFuture<'a, ()>,
    ) -> LocalBoxFuture<'a, ()>;

    /// Called after files of [`Guard::inner`] were changed below the rules.
    fn changed(&self);

    /// Whether the rules show a file; with `beneath`, whether they may show anything at or below it.
    fn shows(&self, path: &VPath, beneath: bool) -> bool;
}

/// What a backend has for changes of several files.
pub enum Atomic<'a> {
    /// Transactions.
    Transaction(&'a dyn Transaction),
    /// Single conditional changes, each of which is complete when it is made: no other call comes
    /// between two of them.
    Immediate,
    /// Changes of several files in one step, which take their time.
    Together(&'a dyn Together),
    /// Only single conditional changes: `write` of new content, `edit` of a whole file, `delete` of
    /// an unchanged file.
    Conditional,
    /// Rules, which must judge each change first.
    Guarded(&'a dyn Guard),
    /// Another backend as it is.
    Inner(SharedBackend),
    /// Nothing.
    Never,
}
