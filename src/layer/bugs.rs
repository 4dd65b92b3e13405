//! Deliberate bugs of rules and labels, which the adversary of `tests/simulation/src/adversary` must find.
//! They exist only with the feature `simulation`; without it [`has`] is `false` at compile time.

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A history shows earlier contents without a word to the labels.
    DiffUntold,
    /// Pins are read past the labels.
    PinUntold,
    /// A kept turn has no labels.
    KeptUnlabelled,
    /// What a labelled file held is forgotten when it is deleted.
    DeletedForgotten,
    /// What is stored is not looked up among labelled contents.
    ContentUnjudged,
    /// A moved file leaves its labels behind.
    MoveUnlabelled,
    /// A search finds what a rule hides.
    SearchUnfiltered,
    /// A move is judged by its directory alone.
    MoveUnjudged,
    /// A protected directory can be moved away.
    PrefixMoved,
    /// A batch is downloaded without a look at each of its files.
    DownloadUnjudged,
    /// A download does not taint.
    DownloadUntold,
}

/// Every bug.
#[cfg(feature = "simulation")]
pub const ALL: &[Bug] = &[
    Bug::DiffUntold,
    Bug::PinUntold,
    Bug::KeptUnlabelled,
    Bug::DeletedForgotten,
    Bug::ContentUnjudged,
    Bug::MoveUnlabelled,
    Bug::SearchUnfiltered,
    Bug::MoveUnjudged,
    Bug::PrefixMoved,
    Bug::DownloadUnjudged,
    Bug::DownloadUntold,
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

/// Whether rules and labels have that bug.
#[cfg(feature = "simulation")]
pub(in crate::layer) fn has(bug: Bug) -> bool {
    CHOSEN.get() == Some(bug)
}

/// Whether rules and labels have that bug.
#[cfg(not(feature = "simulation"))]
pub(in crate::layer) const fn has(_: Bug) -> bool {
    false
}
