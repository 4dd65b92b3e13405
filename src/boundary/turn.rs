//! `begin` and `undo`, and turns that are kept.

use std::rc::Rc;

use bytes::Bytes;

use crate::boundary::Handle;
use crate::boundary::macros::{calls, options};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::boundary::reader::FilePath;
use crate::boundary::room::RoomGiven;
use crate::core::error::Result;
use crate::core::file::Mode;
use crate::files::WriteMode;
use crate::layer::turn::Receipt;
use crate::protocol::Replacement;

options! {
    /// Options of a turn.
    pub struct TurnGiven {
        base: Handle [own],
        by: Rc<str> = "",
        write_mode: WriteMode = "create",
    }
}

calls! {
    /// Calls of a turn.
    pub enum TurnCall {
        Diff {},
        Commit {},
        Accept { hunks: Vec<Rc<str>> },
        Discard { patterns: Vec<Rc<str>> },
        Rebase { keep: Vec<Rc<str>> },
    }
}

options! {
    /// A file that was changed, with its content before and after.
    pub struct ChangedFile {
        path: FilePath,
        before: Option<Bytes>,
        after: Option<Bytes>,
        mode: Option<u64>,
    }
}

options! {
    /// Files that are compared.
    pub struct CompareGiven {
        files: Vec<ChangedFile>,
    }
}

options! {
    /// A receipt that is taken back.
    pub struct UndoGiven {
        base: Handle,
        by: Rc<str>,
        files: Vec<ChangedFile>,
    }
}

/// A receipt of these files.
pub fn receipt(changed: Vec<ChangedFile>) -> Result<Receipt> {
    let file = |changed: ChangedFile| Replacement {
        path: changed.path.0,
        before: changed.before,
        after: changed.after,
        mode: changed.mode.map(|bits| Mode::of(bits as u32)),
    };
    Receipt::of(changed.into_iter().map(file).collect())
}

options! {
    /// Where a turn is kept, and under which name; without one, under a random one.
    pub struct KeptGiven {
        turn: Handle [own],
        room: RoomGiven [own],
        name: Option<String>,
    }
}

options! {
    /// A file as it was, as a branch has it, and as it is where the branch is merged.
    pub struct ThreeWay {
        before: Option<Bytes>,
        ours: Option<Bytes>,
        now: Option<Bytes>,
    }
}

calls! {
    /// Calls of a turn that is kept: its next own changes, and those of some files that show through it;
    /// and of a branch.
    pub enum KeptCall {
        Changed {},
        Showing { paths: Vec<FilePath> },
        Noted {},
        Show { base: Handle, note: Option<String> },
        Settle { files: Vec<ChangedFile> },
        Merge { files: Vec<ThreeWay> },
        Apart { into: Handle },
    }
}

options! {
    /// Where turns are kept.
    pub struct KeptTurnsGiven {
        backend: Handle,
        path: String,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        TurnGiven::printed(),
        TurnCall::printed(),
        ChangedFile::printed(),
        CompareGiven::printed(),
        UndoGiven::printed(),
        KeptGiven::printed(),
        ThreeWay::printed(),
        KeptCall::printed(),
        KeptTurnsGiven::printed(),
    ]
}
