//! `withIgnore`, `withIndex`, `CompositeBackend`.

use bytes::Bytes;

use crate::boundary::Handle;
use crate::boundary::macros::{calls, options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::boundary::reader::FilePath;
use crate::core::path::VPath;
use crate::layer::indexed::Freshness;

words! { Freshness { Listing = "listing", Writers = "writers" } }

options! {
    /// Names of ignore files, and lines that apply to the whole tree.
    pub struct IgnoreGiven {
        inner: Handle [own],
        files: Vec<String> = ".gitignore"
            [lines, wanted "an array of strings without line breaks"],
        patterns: Vec<String> [lines, wanted "an array of strings without line breaks"],
    }
}

calls! {
    /// Those of some files that a search below a directory does not leave out.
    pub enum IgnoreCall {
        Shown { below: VPath, paths: Vec<FilePath> },
    }
}

options! {
    /// Where an index is; without `keep`, in the backend itself. And how searches learn of changes.
    pub struct IndexGiven {
        inner: Handle,
        keep: Option<Handle>,
        path: String,
        key: Option<Bytes>,
        freshness: Freshness,
    }
}

options! {
    /// A backend below a prefix of paths.
    pub struct MountGiven {
        prefix: String,
        backend: Handle,
    }
}

options! {
    /// Backends in one tree.
    pub struct CompositeGiven {
        fallback: Handle,
        mounts: Vec<MountGiven>,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        IgnoreGiven::printed(),
        IgnoreCall::printed(),
        IndexGiven::printed(),
        MountGiven::printed(),
        CompositeGiven::printed(),
    ]
}
