//! `withHistory` and `openPin`.

use crate::boundary::macros::{calls, options};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::boundary::reader::FilePath;
use crate::boundary::room::RoomGiven;
use crate::boundary::{Handle, Host};
use crate::core::path::VPath;
use crate::files::WriteMode;
use crate::layer::history::{HistoryOptions, Retention};

options! {
    /// What is kept; older entries are dropped.
    pub struct KeepGiven {
        count: Option<usize>,
        age_ms: Option<u64>,
        bytes: Option<u64>,
    }
}

options! {
    /// Options of a history. `who` tells who makes a change, and by which call.
    pub struct HistoryGiven {
        inner: Handle [own],
        room: RoomGiven [own],
        write_mode: WriteMode = "create",
        keep: KeepGiven [own],
        who: Host [own],
    }
}

impl HistoryGiven {
    /// The options of the history itself.
    pub fn options(&self) -> HistoryOptions {
        let KeepGiven {
            count,
            age_ms,
            bytes,
        } = self.keep;
        HistoryOptions {
            overwrite: self.write_mode == WriteMode::Overwrite,
            keep: Retention {
                count,
                age: age_ms.map(|age| i64::try_from(age).unwrap_or(i64::MAX)),
                bytes,
            },
        }
    }
}

calls! {
    /// Calls of a history. Moments are texts, since some can only be read with the notes.
    pub enum HistoryCall {
        Log { path: VPath, most: usize },
        Diff { from: String, to: Option<String> },
        Restore { path: VPath, moment: String },
        Why { path: FilePath },
        Prune {},
        Pin {},
        Unpin { pin: String },
        Pins {},
        Label { label: String, pin: String },
        Labelled { label: String },
        Verify { pin: Option<String> },
    }
}

options! {
    /// The files of a pin; `made_at` is the time that listings show, in milliseconds.
    pub struct PinnedGiven {
        history: Handle,
        pin: String,
        made_at: f64,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        KeepGiven::printed(),
        HistoryGiven::printed(),
        HistoryCall::printed(),
        PinnedGiven::printed(),
    ]
}
