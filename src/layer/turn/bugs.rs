//! Deliberate bugs, which the model check must find. They exist only in tests; elsewhere [`has`] is
//! `false` at compile time.

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    /// A commit does not compare what the turn has read.
    ReadsUnchecked,
    /// The journal is deleted before the files are written.
    JournalEarly,
    /// Undo writes whatever the files hold now.
    UndoBlind,
    /// A rebase takes a file that was deleted below for unchanged.
    RebaseDropsDeletion,
}

#[cfg(test)]
thread_local! {
    static CHOSEN: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Gives this thread a bug, or none.
#[cfg(test)]
pub(super) fn choose(bug: Option<Bug>) {
    CHOSEN.set(bug);
}

/// Whether turns have that bug.
#[cfg(test)]
pub(super) fn has(bug: Bug) -> bool {
    CHOSEN.get() == Some(bug)
}

/// Whether turns have that bug.
#[cfg(not(test))]
pub(super) const fn has(_: Bug) -> bool {
    false
}
