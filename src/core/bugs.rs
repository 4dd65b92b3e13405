//! Deliberate bugs, which the simulator must find: each is a mistake that this library had, or that
//! is easily made. They exist only with the feature `simulation`; without it [`has`] is `false` at
//! compile time and nothing of them is left.

/// Defines the bugs with their names.
macro_rules! bugs {
    ($($(#[$doc:meta])* $bug:ident => $name:literal,)+) => {
        /// A deliberate bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$doc])* $bug,)+
        }

        impl Bug {
            /// Every bug.
            pub const ALL: &'static [Bug] = &[$(Bug::$bug),+];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Bug::$bug => $name,)+
                }
            }
        }
    };
}

bugs! {
    /// An edit reads the file and writes the result, without a condition and without a lock.
    ReadThenWrite => "read-then-write",
    /// An edit that was inspected is applied to whatever the file holds by then.
    InspectBypassed => "inspect-bypassed",
    /// S3 repeats an overwriting PUT without looking after a lost answer.
    BlindRepeat => "blind-repeat",
    /// The lock of a path is released before the host has finished a cancelled change.
    EarlyTurn => "early-turn",
    /// The quota releases the space of a cancelled change, which the storage still makes.
    QuotaForgetful => "quota-forgetful",
    /// The index of the lines of a file is used for a later version of it.
    StaleIndex => "stale-index",
    /// S3 sends a conditional PUT without its condition.
    ConditionDropped => "condition-dropped",
    /// A walk over S3 ends after the first page of the listing.
    PageSkipped => "page-skipped",
    /// SQL deletes a row whatever its version.
    DeleteRace => "delete-race",
    /// A page of a large text is put together from parts of two versions.
    TornPage => "torn-page",
}

#[cfg(feature = "simulation")]
thread_local! {
    static CHOSEN: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Gives this thread a bug, or none.
#[cfg(feature = "simulation")]
pub fn choose(bug: Option<Bug>) {
    CHOSEN.set(bug);
}

/// Whether the library has that bug.
#[cfg(feature = "simulation")]
pub fn has(bug: Bug) -> bool {
    CHOSEN.get() == Some(bug)
}

/// Whether the library has that bug.
#[cfg(not(feature = "simulation"))]
pub const fn has(_: Bug) -> bool {
    false
}
