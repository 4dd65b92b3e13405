//! Options that several classes share.

use crate::core::file::Format;
use crate::files::{FilesOptions, WriteMode};

/// The options of [`Files`](crate::files::Files). A negative limit means no limit.
pub fn files_options(overwrite: bool, v1: bool, max_file_bytes: f64) -> FilesOptions {
    FilesOptions {
        write_mode: if overwrite {
            WriteMode::Overwrite
        } else {
            WriteMode::Create
        },
        format: if v1 { Format::V1 } else { Format::V2 },
        // A float-to-integer cast saturates.
        max_file_bytes: (max_file_bytes >= 0.0).then_some(max_file_bytes as u64),
    }
}
