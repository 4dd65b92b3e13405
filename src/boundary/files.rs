//! Words that several descriptions have in common, and the options of [`Files`](crate::files::Files).

use crate::boundary::macros::words;
use crate::boundary::{Field, Reader};
use crate::core::file::Format;
use crate::files::{FilesOptions, WriteMode};
use crate::protocol::{Directories, Names, Operation, Reach};

#[cfg(test)]
use crate::boundary::printed::Node;

words! { WriteMode { Create = "create", Overwrite = "overwrite" } }
words! { Format { V1 = "v1", V2 = "v2" } }
words! { Reach { Storage = "storage", Instance = "instance", Never = "never" } }
words! { Directories { Implied = "implied", Real = "real" } }

/// The spellings that a storage folds, as a capability names them.
const NAMES: &[&str] = &["exact", "case", "composition", "case and composition"];

impl Field for Names {
    fn read(reader: &mut Reader<'_>) -> Names {
        Names::of(reader.word(NAMES, "exact")).unwrap_or_default()
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::words(NAMES)
    }
}

impl Field for Operation {
    fn read(reader: &mut Reader<'_>) -> Operation {
        reader.word(Operation::ALL, Operation::Read)
    }

    #[cfg(test)]
    fn kind() -> Node {
        let names: Vec<&str> = Operation::ALL.iter().map(|one| one.name()).collect();
        Node::words(&names)
    }
}

/// The options of files that may be of any size.
pub fn files_options(write_mode: WriteMode) -> FilesOptions {
    FilesOptions {
        write_mode,
        ..FilesOptions::default()
    }
}
