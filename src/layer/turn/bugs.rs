//! Deliberate bugs, which the histories of `tests/simulation/src/turns` must find. They exist only
//! with the feature `simulation`; without it [`has`] is `false` at compile time.

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A commit does not compare what the turn has read.
    ReadsUnchecked,
    /// The journal is deleted before the files are written.
    JournalEarly,
    /// Undo writes whatever the files hold now.
    UndoBlind,
    /// A rebase takes a file that was deleted below for unchanged.
    RebaseDropsDeletion,
}

/// Every bug.
#[cfg(feature = "simulation")]
pub const ALL: &[Bug] = &[
    Bug::ReadsUnchecked,
    Bug::JournalEarly,
    Bug::UndoBlind,
    Bug::RebaseDropsDeletion,
];

#[cfg(feature = "simulation")]
thread_local! {
    static CHOSEN: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Gives this thread a bug, or none.
#[cfg(feature = "simulation")]
pub fn choose(bug: Option<Bug>) {
    CHOSEN.set(bug);
}

/// Whether turns have that bug.
#[cfg(feature = "simulation")]
pub(super) fn has(bug: Bug) -> bool {
    CHOSEN.get() == Some(bug)
}

/// Whether turns have that bug.
#[cfg(not(feature = "simulation"))]
pub(super) const fn has(_: Bug) -> bool {
    false
}
