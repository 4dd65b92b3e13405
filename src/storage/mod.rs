//! What a storage must implement to keep files: six methods, and what it can do [besides](Extras). What
//! the operations mean is defined in [`files`](crate::files), not here.

pub mod browser;
pub mod context_hub;
#[cfg(host = "javascript")]
pub mod custom;
#[cfg(host = "javascript")]
pub mod custom_values;
#[cfg(host = "javascript")]
pub mod disk;
mod extras;
pub mod hosted;
pub mod memory;
pub mod pinned;
pub mod provided;
pub mod s3;
pub mod sandbox;
pub mod sql;
#[cfg(host = "javascript")]
pub mod store;

use std::rc::Rc;

use bytes::Bytes;

use crate::core::error::Result;
use crate::core::file::{Format, Mime, Mode, Texture};
pub use crate::core::future::PARALLEL;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::Capability;

pub use extras::{
    Alteration, Batch, Change, Extras, Find, Flow, Hints, Ranged, Removed, Scan, Search, Streams,
    Together, Trees, Update, Within,
};

pub use crate::search::query::GrepQuery;
pub use crate::search::scope::Scope;

/// Identifies one state of one file. Two states of a file never have the same version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// A number that a storage of this library increments.
    Number(u64),
    /// An opaque text that a server chose, such as an ETag.
    Tag(Rc<str>),
}

/// Metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Size of the body in bytes; [`Meta::UNKNOWN_SIZE`] if a storage lists files without sizes.
    pub size: u64,
    /// When it was created, if the storage keeps that.
    pub created: Option<Time>,
    /// When it was last written.
    pub modified: Time,
    /// The stored type; if there is none, it follows from name and content.
    pub mime: Option<Mime>,
    /// The format in which `readRaw` returns it.
    pub format: Format,
    /// Text, ASCII or binary, if the storage keeps that; otherwise it is detected from the body.
    pub texture: Option<Texture>,
    /// Its permission bits, if the storage keeps them.
    pub mode: Option<Mode>,
    /// The version of this state, if the storage supports compare-and-swap.
    pub version: Option<Version>,
}

impl Meta {
    /// Larger than any file.
    pub const UNKNOWN_SIZE: u64 = u64::MAX;

    /// Metadata for a storage that reports only size and time.
    pub fn of(size: u64, modified: Time) -> Meta {
        Meta {
            size,
            created: None,
            modified,
            mime: None,
            format: Format::V2,
            texture: None,
            mode: None,
            version: None,
        }
    }
}

/// A file with its bytes. The body is shared by reference count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its metadata.
    pub meta: Meta,
    /// Its bytes; in a [`Part`], those of the part.
    pub body: Bytes,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Metadata of the whole file, and the bytes of the part.
    pub file: File,
    /// The offset of the part in the file.
    pub start: u64,
    /// Number of lines of the whole file, if the storage keeps that.
    pub lines: Option<u64>,
}

impl Part {
    /// Whether the part is the whole file.
    pub fn is_whole(&self) -> bool {
        self.start == 0 && self.file.body.len() as u64 == self.file.meta.size
    }
}

/// What a put stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// All its bytes.
    pub body: Bytes,
    /// When it was created.
    pub created: Time,
    /// The time of this write.
    pub modified: Time,
    /// The type to store with it.
    pub mime: Mime,
    /// The format to store with it.
    pub format: Format,
    /// Text, ASCII or binary.
    pub texture: Texture,
    /// The permission bits of a file that is created, if they are known. One that is replaced keeps
    /// its own.
    pub mode: Option<Mode>,
}

impl NewFile {
    /// Its metadata once it is stored.
    pub fn meta(&self, version: Option<Version>) -> Meta {
        let NewFile {
            body,
            created,
            modified,
            mime,
            format,
            texture,
            mode,
        } = self;
        Meta {
            size: body.len() as u64,
            created: Some(*created),
            modified: *modified,
            mime: Some(mime.clone()),
            format: *format,
            texture: Some(*texture),
            mode: *mode,
            version,
        }
    }
}

/// The precondition of a put. Check and write are atomic, unless the storage says otherwise in its
/// [`Capability`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Only if no file exists; else `already_exists`.
    Create,
    /// Unconditionally.
    Overwrite,
    /// Only if the file has this version; else `conflict`, also if it was deleted.
    Update(Version),
}

/// The depth of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The files and directories directly inside.
    One,
    /// Every file below, and no directories.
    All,
}

/// One file of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path.
    pub path: VPath,
    /// Its metadata.
    pub meta: Meta,
}

/// Where the next page of a listing begins; an opaque value of the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub Rc<str>);

/// A page of a listing.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Files, in byte order of their paths.
    pub files: Vec<Entry>,
    /// Directories directly inside (only with [`Depth::One`]), in byte order.
    pub dirs: Vec<VPath>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Cursor>,
}

impl Listing {
    /// A listing of `dir`, built from all files below it, which must be in byte order.
    pub fn of_files(
        dir: &VPath,
        depth: Depth,
        files: impl IntoIterator<Item = (VPath, Meta)>,
    ) -> Result<Listing> {
        let mut listing = Listing::default();
        for (path, meta) in files {
            let Some(rest) = path.relative_to(dir).filter(|rest| !rest.is_empty()) else {
                continue;
            };
            if depth == Depth::One
                && let Some((name, _)) = rest.split_once('/')
            {
                let inside = dir.join(name)?;
                if listing.dirs.last() != Some(&inside) {
                    listing.dirs.push(inside);
                }
                continue;
            }
            listing.files.push(Entry { path, meta });
        }
        Ok(listing)
    }
}

/// How often an update is retried on the new state before it fails with `conflict`.
pub const REPLAYS: u32 = 64;

/// A place that keeps files.
///
/// Paths are canonical. What only some storages can do, or can do faster, is in [`Extras`]; the
/// functions of [`provided`] ask for it, and do the same in terms of these methods otherwise.
pub trait Storage {
    /// What it guarantees.
    fn capability(&self) -> Capability;

    /// Metadata of the file at `path`; `None` if there is no file (a directory is not a file).
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>>;

    /// The file at `path`.
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>>;

    /// Stores a file atomically if the precondition `mode` holds, and returns its new metadata.
    /// This is the only way to change bytes.
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta>;

    /// Removes one file; with a version, only if the file has that version (else `conflict`).
    /// `false` if there was no file.
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool>;

    /// A page of the contents of `dir`, in byte order. A missing directory counts as empty.
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing>;

    /// What it can do besides.
    fn extras(&self) -> Extras<'_> {
        Extras::NONE
    }
}

pub use crate::core::future::done;
