//! Deliberate bugs, which the histories of `tests/simulation/src/turns` must find. They exist only
//! with the feature `simulation`; without it [`has`] is `false` at compile time.

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A commit does not compare what the turn has read.
    ReadsUnchecked,
    /// A commit in one step compares what the turn has read without keeping other commits away.
    ReadsUnguarded,
    /// The journal is deleted before the files are written.
    JournalEarly,
    /// Undo writes whatever the files hold now.
    UndoBlind,
    /// A rebase takes a file that was deleted below for unchanged.
    RebaseDropsDeletion,
    /// A history that is pruned deletes what pins name.
    PruneDropsPinned,
}

/// Every bug.
#[cfg(feature = "simulation")]
pub const ALL: &[Bug] = &[
    Bug::ReadsUnchecked,
    Bug::ReadsUnguarded,
    Bug::JournalEarly,
    Bug::UndoBlind,
    Bug::RebaseDropsDeletion,
    Bug::PruneDropsPinned,
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

/// Whether turns and histories have that bug.
#[cfg(feature = "simulation")]
pub(in crate::layer) fn has(bug: Bug) -> bool {
    CHOSEN.get() == Some(bug)
}

/// Whether turns and histories have that bug.
#[cfg(not(feature = "simulation"))]
pub(in crate::layer) const fn has(_: Bug) -> bool {
    false
}
