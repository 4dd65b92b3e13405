//! Deliberate bugs, which the simulators must find: each is a mistake that this library had, or that
//! is easily made. They exist only with the feature `simulation`; without it [`has`] is `false` at
//! compile time and nothing of them is left.

/// Defines the bugs with their names, in a list for each program that must find them.
macro_rules! bugs {
    ($($(#[$doc:meta])* $list:ident { $($(#[$bug_doc:meta])* $bug:ident => $name:literal,)+ })+) => {
        /// A deliberate bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($($(#[$bug_doc])* $bug,)+)+
        }

        impl Bug {
            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Bug::$bug => $name,)+)+
                }
            }

            $(
                $(#[$doc])*
                pub const $list: &'static [Bug] = &[$(Bug::$bug),+];
            )+
        }
    };
}

bugs! {
    /// Bugs of calls, which the histories of `tests/simulation/src/run.rs` must find.
    CALLS {
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
    /// Bugs of an index whose searches list nothing, which the histories of `tests/simulation/src/index`
    /// must find.
    NOTES {
        /// A change is noted after it was made.
        NoteLate => "note-late",
        /// A change of a directory is noted as one of a file.
        NoteTreesFlat => "note-trees-flat",
        /// An update counts changes as ended that have only begun.
        NoteAbsorbedEarly => "note-absorbed-early",
        /// An update deletes notes before it stores the manifest that has absorbed them.
        NoteDeletedEarly => "note-deleted-early",
        /// The manifest is read before the notes are listed.
        ManifestFirst => "manifest-first",
        /// A layer above changes several files at once past the notes.
        NoteAtomicPast => "note-atomic-past",
    }
    /// Bugs of turns and histories, which the histories of `tests/simulation/src/turns` must find.
    TURNS {
        /// A commit does not compare what the turn has read.
        ReadsUnchecked => "reads-unchecked",
        /// A commit in one step compares what the turn has read without keeping other commits away.
        ReadsUnguarded => "reads-unguarded",
        /// The journal is deleted before the files are written.
        JournalEarly => "journal-early",
        /// Undo writes whatever the files hold now.
        UndoBlind => "undo-blind",
        /// A rebase takes a file that was deleted below for unchanged.
        RebaseDropsDeletion => "rebase-drops-deletion",
        /// A history that is pruned deletes what pins name.
        PruneDropsPinned => "prune-drops-pinned",
    }
    /// Bugs of a sync of two trees, which the histories of `tests/simulation/src/sync` must find.
    SYNC {
        /// What was agreed on is forgotten.
        SyncBaseForgotten => "base-forgotten",
        /// A deletion of one side beats an edit of the other one.
        SyncDeleteFirst => "delete-first",
        /// A conflict copy is written over whatever has its name.
        SyncCopyOver => "copy-over",
        /// A run that goes on makes another conflict copy.
        SyncResumedTwice => "resumed-twice",
        /// A file is replaced whatever it holds by now.
        SyncBlind => "sync-blind",
        /// A content is written without the labels that it came with.
        SyncLabelDropped => "label-dropped",
        /// Of a file that one side moved, only that it is gone is brought to the other one.
        SyncMoveHalved => "move-halved",
        /// The rules around a side are passed by.
        SyncBelowRules => "below-rules",
        /// A file that has the same time and size has the same content, however new it is.
        SyncClockTrusted => "clock-trusted",
        /// What was sent while a side was listed is not noted.
        SyncSentForgotten => "sent-forgotten",
    }
    /// Bugs of rules, labels and what is kept, which the adversary of `tests/simulation/src/adversary` must
    /// find.
    TRUST {
        /// A history shows earlier contents without a word to the labels.
        DiffUntold => "diff-untold",
        /// Pins are read past the labels.
        PinUntold => "pin-untold",
        /// A kept turn has no labels.
        KeptUnlabelled => "kept-unlabelled",
        /// A history keeps a content, whose change may be broken off, without a word to the labels.
        NoteUnlabelled => "note-unlabelled",
        /// A record of another key stops work for good.
        OtherStuck => "other-stuck",
        /// What a labelled file held is forgotten when it is deleted.
        DeletedForgotten => "deleted-forgotten",
        /// What is stored is not looked up among labelled contents.
        ContentUnjudged => "content-unjudged",
        /// A moved file leaves its labels behind.
        MoveUnlabelled => "move-unlabelled",
        /// A search finds what a rule hides.
        SearchUnfiltered => "search-unfiltered",
        /// A move is judged by its directory alone.
        MoveUnjudged => "move-unjudged",
        /// A protected directory can be moved away.
        PrefixMoved => "prefix-moved",
        /// A batch is downloaded without a look at each of its files.
        DownloadUnjudged => "download-unjudged",
        /// A download does not taint.
        DownloadUntold => "download-untold",
        /// Any journal is carried out as this process's own.
        JournalTrusted => "journal-trusted",
        /// A journal that is being taken back is carried out if its older form is put in its place.
        JournalReplayed => "journal-replayed",
        /// A journal that cannot be read stays where it is.
        JournalStuck => "journal-stuck",
        /// A record is believed whatever its seal is.
        SealUnchecked => "seal-unchecked",
        /// The manifest of an index is believed whatever its seal is.
        IndexUnsealed => "index-unsealed",
        /// Callers can name the library's own files.
        OwnReachable => "own-reachable",
        /// What lies below a mount is shown through it.
        ShadowShown => "shadow-shown",
        /// The rules are not asked about the changes of a commit.
        CommitUnjudged => "commit-unjudged",
        /// Nobody is asked about an upload.
        UploadUnasked => "upload-unasked",
        /// Rules know one spelling of a name only.
        CaseBlind => "case-blind",
    }
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
