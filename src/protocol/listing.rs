//! Files and directories as listings return them.

use crate::core::path::VPath;
use crate::core::time::Time;

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Its path; returned with a trailing `/` for a directory.
    pub path: VPath,
    /// What it is.
    pub entry: EntryInfo,
}

/// A file or a directory, in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryInfo {
    /// A directory, without further metadata.
    Directory,
    /// A file.
    File {
        /// Its size in bytes; `None` if a foreign backend did not report it.
        size: Option<u64>,
        /// When it was last written; `None` if a foreign backend did not report it.
        modified: Option<Time>,
    },
}

impl FileInfo {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.entry, EntryInfo::Directory)
    }

    /// The path as listings return and sort it.
    pub fn shown_path(&self) -> String {
        if self.is_dir() {
            self.path.dir_prefix()
        } else {
            self.path.as_str().to_owned()
        }
    }

    /// The order of `ls`: by returned path, in bytes.
    pub fn listing_order(&self, other: &FileInfo) -> std::cmp::Ordering {
        let (a, b) = (
            self.path.as_str().as_bytes(),
            other.path.as_str().as_bytes(),
        );
        let shared = a.len().min(b.len());
        let (head_a, tail_a) = a.split_at(shared);
        let (head_b, tail_b) = b.split_at(shared);
        head_a.cmp(head_b).then_with(|| {
            let slash = |info: &FileInfo| (info.is_dir() && !info.path.is_root()).then_some(b'/');
            let rest_a = tail_a.iter().copied().chain(slash(self));
            let rest_b = tail_b.iter().copied().chain(slash(other));
            rest_a.cmp(rest_b)
        })
    }

    /// When it was last written, if that is known.
    pub fn modified(&self) -> Option<Time> {
        match self.entry {
            EntryInfo::File { modified, .. } => modified,
            EntryInfo::Directory => None,
        }
    }

    /// The order of `glob`: the newest first, then by path.
    pub fn newest_first(&self, other: &FileInfo) -> std::cmp::Ordering {
        let by_time = other.modified().cmp(&self.modified());
        by_time.then_with(|| self.path.cmp(&other.path))
    }
}
