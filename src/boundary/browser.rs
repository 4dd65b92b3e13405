//! `IndexedDbBackend`, `OpfsBackend`.

use std::time::Duration;

use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::{Node, Table};
use crate::boundary::{Field, Host, Reader};
use crate::files::WriteMode;
use crate::storage::browser::{CrashProtection, Durability};

words! { Durability { Strict = "strict", Relaxed = "relaxed" } }

impl Field for CrashProtection {
    fn read(reader: &mut Reader<'_>) -> CrashProtection {
        match bool::read(reader) {
            true => CrashProtection::On,
            false => CrashProtection::Off,
        }
    }

    #[cfg(test)]
    fn kind() -> Node {
        bool::kind()
    }
}

options! {
    /// Options of files in IndexedDB. `tell` is called with the paths of each change.
    pub struct IndexedDbGiven {
        database: String,
        namespace: String = "",
        write_mode: WriteMode = "create",
        durability: Durability = "strict",
        open_timeout_ms: Duration = 5000,
        crash_protection: CrashProtection,
        tell: Host [own],
    }
}

options! {
    /// Options of files in OPFS. `steps` are the directories below the origin's root, or below
    /// `directory`; `tell` is called with the paths of each change.
    pub struct OpfsGiven {
        directory: Option<Host> [own],
        steps: Vec<String> [own],
        write_mode: WriteMode = "create",
        crash_protection: CrashProtection,
        tell: Host [own],
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![IndexedDbGiven::printed(), OpfsGiven::printed()]
}
