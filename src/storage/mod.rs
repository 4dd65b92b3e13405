//! What a storage must implement to keep files: a few required methods, and provided methods that a
//! storage may override with faster ones. What the operations mean is defined in
//! [`files`](crate::files), not here.

pub mod browser;
pub mod context_hub;
#[cfg(target_arch = "wasm32")]
pub mod custom;
#[cfg(target_arch = "wasm32")]
pub mod custom_values;
#[cfg(target_arch = "wasm32")]
pub mod disk;
pub mod hosted;
pub mod memory;
pub mod pinned;
mod provided;
pub mod s3;
pub mod sandbox;
pub mod sql;
#[cfg(target_arch = "wasm32")]
pub mod store;

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, ready};

use crate::core::error::{Error, Result};
use crate::core::file::{Format, Mime, Texture};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::{Capability, Transfer, one_by_one};

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
        } = self;
        Meta {
            size: body.len() as u64,
            created: Some(*created),
            modified: *modified,
            mime: Some(mime.clone()),
            format: *format,
            texture: Some(*texture),
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

/// What a search needs, declared in advance so that a storage can narrow the work.
pub struct Scan<'a> {
    /// Where to search.
    pub scope: &'a Scope,
    /// Which files may match, by path alone: for storages where metadata is expensive.
    pub names: &'a dyn Fn(&VPath) -> bool,
    /// Which files to load, by path and metadata. It calls `names` as well.
    pub want: &'a dyn Fn(&VPath, &Meta) -> bool,
    /// Whether `names` excludes files. A hint: if it does not, a storage may visit files as it
    /// finds them, before it knows all names.
    pub by_name: bool,
    /// Bytes that a file must contain to match. A hint; ignoring it is correct too.
    pub literal: Option<&'a [u8]>,
    /// Texts of which a file must contain at least one to match, in any case of ASCII letters; empty if
    /// they are not known, or if files without them are to be visited as well. A hint, too.
    pub texts: &'a [&'a [u8]],
    /// What is searched for, for a storage with an index of its own. A hint as well.
    pub query: Option<&'a GrepQuery>,
    /// Paths that divide the files into parts that are listed fast, in order. A hint: a storage may
    /// list several parts at once.
    pub splits: &'a [VPath],
    /// Whether the visitor has set files aside, because a pause is due. A hint: a storage whose walk
    /// does not wait by itself may then be pending, without a wake, and go on when it is polled again.
    pub is_behind: &'a dyn Fn() -> bool,
}

/// Which files a search by name needs.
pub struct Find<'a> {
    /// Where to search.
    pub scope: &'a Scope,
    /// Which files to visit, by path alone.
    pub want: &'a dyn Fn(&VPath) -> bool,
}

/// A visitor's return value: continue or stop.
pub type Flow = ControlFlow<()>;

/// Computes an update from the current file. It may be called again with a newer state. If the new
/// body is not longer, the old one may be consumed to build it; on an error or with a longer body,
/// the file is left unchanged.
pub type Change<'a> = dyn FnMut(&mut File) -> Result<NewFile> + 'a;

/// How often an update is retried on the new state before it fails with `conflict`.
pub const REPLAYS: u32 = 64;

/// How many bodies are requested in parallel if a storage has no limit of its own.
pub const PARALLEL: usize = 16;

/// A place that keeps files.
///
/// Paths are canonical. The methods without a body are required; the others are implemented in
/// terms of them, and a storage may override them with faster ones that give the same results.
pub trait Storage: AsStorage {
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

    /// Visits every file in scope, in byte order of the paths, until the visitor stops.
    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        provided::walk(self.as_storage(), scope, visit)
    }

    /// Visits the wanted files, in byte order, until the visitor stops. For storages where metadata
    /// is expensive.
    fn find<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut wanted = |path: &VPath, meta: &Meta| match (find.want)(path) {
                true => visit(path, meta),
                false => Flow::Continue(()),
            };
            self.walk(find.scope, &mut wanted).await
        })
    }

    /// Reading in parts, if that saves something; otherwise files are read whole.
    fn ranged(&self) -> Option<&dyn Ranged> {
        None
    }

    /// Moving and copying without reading, if the storage can; otherwise files are read and put.
    fn within(&self) -> Option<&dyn Within> {
        None
    }

    /// Changing several files in one step, if the storage can.
    fn together(&self) -> Option<&dyn Together> {
        None
    }

    /// Fetches many files, in the order of `paths`.
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        provided::get_many(self.as_storage(), paths)
    }

    /// Visits the wanted files with their bodies, in byte order, until the visitor stops.
    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        provided::scan(self.as_storage(), scan, visit)
    }

    /// Stores many files unconditionally, with one result each, in order. No path occurs twice.
    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        provided::put_many(self.as_storage(), files)
    }

    /// Replaces a file with what `change` returns for it; `None` if there is no file. The put
    /// happens only if the file is still in the state that `change` received, so no other writer's
    /// change is lost; this default retries a bounded number of times. A storage that can lock the
    /// file needs no retry.
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        provided::update(self.as_storage(), path, change)
    }

    /// Waits before retry number `attempt` (from 0) of an edit that conflicted with another writer.
    /// Storages on a network wait a short, random time.
    fn pause(&self, _attempt: u32) -> LocalBoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Whether each call is complete when it is made, so that no other call comes between two.
    fn is_immediate(&self) -> bool {
        false
    }

    /// Removes the empty directories at and below `root`, where directories are real. Others stay,
    /// and so does what cannot be removed.
    fn prune<'a>(&'a self, _root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    /// Removes the file at `root` and every file below it; returns which were removed and the
    /// error, if there was one.
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        provided::delete_tree(self.as_storage(), root)
    }

    /// Deletes the files at and below `root` that were found before, for callers that keep changes of
    /// these away meanwhile. A file that was made since stays, unless the storage has a way of its
    /// own to spare it.
    fn delete_found<'a>(
        &'a self,
        _root: &'a VPath,
        found: Vec<VPath>,
    ) -> LocalBoxFuture<'a, Removed> {
        provided::delete_found(self.as_storage(), found)
    }
}

/// Reading files in parts, for storages where every byte costs time.
pub trait Ranged {
    /// How many bytes to request first for a page of a large text.
    fn part_bytes(&self) -> u64;

    /// A part of a file, clipped to its end: the requested range, or the whole file if it is at
    /// hand. Each part includes the version that it belongs to.
    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>>;
}

/// Moving and copying inside of a storage, for storages where that is atomic or saves reading.
pub trait Within {
    /// Moves or copies one file. Where a file exists at `to`, it is replaced if `asked` overwrites;
    /// else `already_exists`. `not_found` without a file. If it fails, the file is still at `from`.
    /// `unsupported` if this one must be read and put.
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()>;

    /// Whether it gives a file whose new name has another type that type.
    fn retypes(&self) -> bool {
        false
    }

    /// Moves a directory as a whole, if nothing is at its new path. `unsupported` if its files must be
    /// moved one by one.
    fn move_tree<'a>(&'a self, _from: &'a VPath, _to: &'a VPath) -> Pending<'a, ()> {
        done(Err(one_by_one()))
    }
}

/// One file of a change of several.
#[derive(Clone, Debug)]
pub struct Alteration {
    /// The file.
    pub path: VPath,
    /// The version that it must have; `None` if there must be no file.
    pub was: Option<Version>,
    /// What is stored; `None` deletes it.
    pub file: Option<NewFile>,
}

impl Alteration {
    /// Whether it stores or deletes something; otherwise it only compares.
    pub fn alters(&self) -> bool {
        self.file.is_some() || self.was.is_some()
    }
}

/// Changing several files in one step, for storages with transactions of their own.
pub trait Together {
    /// The name of the state of all files, if the storage has such names.
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        None
    }

    /// Makes all changes if every file has the version that its change expects, else none, and
    /// returns which. With names of states, it is the state that must still be that one. No path
    /// occurs twice.
    fn change<'a>(&'a self, changes: Vec<Alteration>, moment: Option<Rc<str>>)
    -> Pending<'a, bool>;
}

/// A storage as a trait object. The provided methods are compiled once for `dyn Storage` and not
/// for each storage; that is a large part of the size in wasm.
pub trait AsStorage {
    /// Itself.
    fn as_storage(&self) -> &(dyn Storage + '_);
}

impl<S: Storage> AsStorage for S {
    fn as_storage(&self) -> &(dyn Storage + '_) {
        self
    }
}

/// The result of a recursive delete.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// The removed files.
    pub paths: Vec<VPath>,
    /// Whether an empty directory was removed as well, on storages with real directories.
    pub directories: bool,
    /// The first error; some files may remain then.
    pub error: Option<Error>,
}

pub use crate::core::future::done;
