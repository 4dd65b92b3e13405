//! What a backend can promise. It explains refusals, and picks the cases of the conformance suite.

use std::rc::Rc;

/// How far a promise reaches when several writers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The storage itself checks and changes in one step; it holds between processes.
    Storage,
    /// Calls take their turn inside this instance only; other writers are not seen.
    Instance,
    /// It cannot be done at all.
    Never,
}

/// How directories come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directories {
    /// They are what stands before a `/` in some file's path, and may share a file's name.
    Implied,
    /// They exist by themselves, also empty, and a name is either a file or a directory.
    Real,
}

/// Which files a call works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSet {
    /// The same files for every caller.
    Same,
    /// Those of whoever calls now. Calls with the same number work on the same files.
    Caller(u32),
    /// Those of whoever calls, and nothing tells one caller from another.
    Unknown,
}

impl FileSet {
    /// The files of two backends seen as one tree.
    pub fn and(self, other: FileSet) -> FileSet {
        match (self, other) {
            (FileSet::Same, other) | (other, FileSet::Same) => other,
            (FileSet::Caller(a), FileSet::Caller(b)) => FileSet::Caller(a.max(b)),
            (FileSet::Unknown, _) | (_, FileSet::Unknown) => FileSet::Unknown,
        }
    }
}

/// What a backend can promise. It explains refusals, and picks the cases of the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Whose word it is that a create happens only where nothing was.
    pub create: Reach,
    /// Whose word it is that an edit never loses another's.
    pub update: Reach,
    /// Whether a part of a file can be fetched.
    pub ranged_reads: bool,
    /// Whether the storage narrows a search by itself.
    pub native_search: bool,
    /// How directories come to be.
    pub directories: Directories,
    /// Whether `created_at` is kept through edits and overwrites.
    pub keeps_created: bool,
    /// Whether a type that was given is kept.
    pub keeps_mime: bool,
    /// Whether the `v1` form of a text file is kept.
    pub keeps_format: bool,
    /// Whether bytes that are not text can be kept.
    pub keeps_binary: bool,
    /// Whether anything can be changed.
    pub writable: bool,
    /// The largest file it takes, where there is a limit.
    pub max_file_bytes: Option<u64>,
    /// Whose files a call made now works on.
    pub files: FileSet,
    /// What else a caller should know, a sentence each.
    pub notes: Vec<Rc<str>>,
}

impl Capability {
    /// A place in memory that can do everything.
    pub fn full() -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            ranged_reads: true,
            native_search: false,
            directories: Directories::Implied,
            keeps_created: true,
            keeps_mime: true,
            keeps_format: true,
            keeps_binary: true,
            writable: true,
            max_file_bytes: None,
            files: FileSet::Same,
            notes: Vec::new(),
        }
    }
}
