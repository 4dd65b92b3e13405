//! What a backend guarantees. Explains refusals, and selects the cases of the conformance suite.

use std::rc::Rc;

use super::Origins;
use super::names::Names;

/// How far a guarantee reaches with several writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The storage itself checks and writes atomically; this holds between processes.
    Storage,
    /// Calls are serialized within this instance only; other writers are not seen.
    Instance,
    /// It is not supported at all.
    Never,
}

/// How directories exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directories {
    /// They are prefixes of file paths before a `/`, and may share a name with a file.
    Implied,
    /// They exist by themselves, even if empty, and a name is either a file or a directory.
    Real,
}

/// What `ls` and `glob` are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listings {
    /// The files of a storage, and the directories in their paths; nothing else.
    Paths,
    /// Those of several backends, and directories where these are.
    Mounts,
    /// A rule or another program is asked about each, or directories exist by themselves.
    Ruled,
}

/// Which files a call works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSet {
    /// The same files for every caller.
    Same,
    /// The files of the current caller. Calls with the same number work on the same files.
    Caller(u32),
    /// The files of the current caller, and callers cannot be distinguished.
    Unknown,
}

impl FileSet {
    /// The file set of two backends combined into one tree.
    pub fn and(self, other: FileSet) -> FileSet {
        match (self, other) {
            (FileSet::Same, other) | (other, FileSet::Same) => other,
            (FileSet::Caller(a), FileSet::Caller(b)) => FileSet::Caller(a.max(b)),
            (FileSet::Unknown, _) | (_, FileSet::Unknown) => FileSet::Unknown,
        }
    }
}

/// What a backend guarantees. Explains refusals, and selects the cases of the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Who guarantees exclusive creation.
    pub create: Reach,
    /// Who guarantees that an edit never loses another writer's change.
    pub update: Reach,
    /// How directories exist.
    pub directories: Directories,
    /// What `ls` and `glob` are made of. Not a matter of the storage: [`Files`] and layers set it.
    ///
    /// [`Files`]: crate::files::Files
    pub listings: Listings,
    /// Which spellings of a name are one file.
    pub names: Names,
    /// Whether `created_at` survives edits and overwrites.
    pub keeps_created: bool,
    /// Whether a given type is kept.
    pub keeps_mime: bool,
    /// Whether the `v1` format of a text file is kept.
    pub keeps_format: bool,
    /// Whether permission bits survive copies between backends, turns, histories and their undo.
    pub keeps_modes: bool,
    /// Whether binary content can be stored.
    pub keeps_binary: bool,
    /// Whether anything can be changed.
    pub writable: bool,
    /// Whether `write` replaces a file that exists. Not a matter of the storage: [`Files`] sets it.
    ///
    /// [`Files`]: crate::files::Files
    pub overwrites: bool,
    /// Whether listings show a version of each file that no other state of it ever has, also after
    /// a restart.
    pub lists_versions: bool,
    /// Whether an index takes part in searches.
    pub indexed: bool,
    /// Whether searches leave out what other files name, such as ignore files.
    pub leaves_out: bool,
    /// The largest file it accepts, if there is a limit.
    pub max_file_bytes: Option<u64>,
    /// The file set that a call made now works on.
    pub files: FileSet,
    /// Further notes for a caller, one sentence each.
    pub notes: Vec<Rc<str>>,
    /// Who must know of contents that do not come from the files themselves.
    pub origins: Origins,
}

impl Capability {
    /// An in-memory storage that supports everything.
    pub fn full() -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            directories: Directories::Implied,
            listings: Listings::Ruled,
            names: Names::default(),
            keeps_created: true,
            keeps_mime: true,
            keeps_format: true,
            keeps_modes: false,
            keeps_binary: true,
            writable: true,
            overwrites: false,
            lists_versions: false,
            indexed: false,
            leaves_out: false,
            max_file_bytes: None,
            files: FileSet::Same,
            notes: Vec::new(),
            origins: Origins::default(),
        }
    }
}
