//! `StateBackend`.

use crate::boundary::Host;
use crate::boundary::macros::options;
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::file::Format;
use crate::files::{Files, FilesOptions, WriteMode};
use crate::storage::memory::{DEFAULT_MAX_BYTES, Memory};

options! {
    /// Options of files in memory. `graphs` finds the files of a running graph.
    pub struct StateGiven {
        write_mode: WriteMode = "create",
        file_format: Format = "v2",
        max_bytes: Option<u64> [most 2147483648, wanted "at most 2147483648, which is what memory holds"],
        graphs: Option<Host> [own],
    }
}

impl StateGiven {
    /// Files with these options.
    pub fn files(&self) -> Files<Memory> {
        let options = FilesOptions {
            write_mode: self.write_mode,
            format: self.file_format,
            max_file_bytes: None,
        };
        let limit = self.max_bytes.unwrap_or(DEFAULT_MAX_BYTES);
        Files::new(Memory::new(limit), options)
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![StateGiven::printed()]
}
