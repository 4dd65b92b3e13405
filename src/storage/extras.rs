//! What only some storages can do, or can do faster than with the methods of [`Storage`]. A storage
//! has each of these or has it not, and callers go through [`provided`], which does without. A
//! wrapper that passes extras on names all of them, so that a new one breaks its build.
//!
//! [`Storage`]: super::Storage
//! [`provided`]: super::provided

use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, ready};

use super::{File, Meta, NewFile, Part, Scope, Version};
use crate::core::error::{Error, Result};
use crate::core::future::{Pending, done};
use crate::core::parts::Parts;
use crate::core::path::VPath;
use crate::protocol::{GrepQuery, Transfer, one_by_one};

/// What a storage can do besides. `None` is always right.
#[derive(Clone, Copy)]
pub struct Extras<'a> {
    /// Reading in parts, if that saves something.
    pub ranged: Option<&'a dyn Ranged>,
    /// Moving and copying without reading.
    pub within: Option<&'a dyn Within>,
    /// Changing several files in one step.
    pub together: Option<&'a dyn Together>,
    /// Going through many files.
    pub search: Option<&'a dyn Search>,
    /// Reading and storing many files.
    pub batch: Option<&'a dyn Batch>,
    /// Storing files whose bytes come in parts.
    pub streams: Option<&'a dyn Streams>,
    /// Changing a file that nobody else can change meanwhile.
    pub update: Option<&'a dyn Update>,
    /// Removing a directory.
    pub trees: Option<&'a dyn Trees>,
    /// How long to wait before retry number so and so (from 0) of an edit that conflicted with another
    /// writer. Storages on a network wait a short, random time.
    pub pause: Option<fn(u32) -> Duration>,
    /// Whether each call is complete when it is made, so that no other call comes between two.
    pub is_immediate: bool,
}

impl Extras<'_> {
    /// Nothing besides what every storage can do.
    pub const NONE: Self = Extras {
        ranged: None,
        within: None,
        together: None,
        search: None,
        batch: None,
        streams: None,
        update: None,
        trees: None,
        pause: None,
        is_immediate: false,
    };
}

/// Reading files in parts, without the rest of them.
pub trait Ranged {
    /// How many bytes to request first for a page of a large text, where every byte costs time; `None`
    /// where the whole file is read for a page, which can tell its number of lines.
    fn part_bytes(&self) -> Option<u64> {
        None
    }

    /// A part of a file, clipped to its end: the requested range, or the whole file if it is at
    /// hand. Each part includes the version that it belongs to.
    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>>;

    /// What tells that two parts are of one state of a file; `None` if nothing does.
    fn version(&self, meta: &Meta) -> Option<Version> {
        meta.version.clone()
    }
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

/// Going through many files, for storages with a better way than pages of [`list`] and a [`get`] for
/// each.
///
/// [`list`]: super::Storage::list
/// [`get`]: super::Storage::get
pub trait Search {
    /// Visits the files in scope with their metadata, in byte order of the paths, until the visitor
    /// stops. It may visit files that are not wanted, too.
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()>;

    /// Visits the wanted files with their bodies, in byte order, until the visitor stops.
    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()>;
}

/// Which files a walk needs.
pub struct Find<'a> {
    /// Where to search.
    pub scope: &'a Scope,
    /// Which files are wanted, by path alone: for storages where metadata is expensive.
    pub want: &'a dyn Fn(&VPath) -> bool,
}

/// What a search needs, declared in advance so that a storage can narrow the work.
pub struct Scan<'a> {
    /// Where to search.
    pub scope: &'a Scope,
    /// Which files may match, by path alone: for storages where metadata is expensive.
    pub names: &'a dyn Fn(&VPath) -> bool,
    /// Which files to load, by path and metadata. It calls `names` as well.
    pub want: &'a dyn Fn(&VPath, &Meta) -> bool,
    /// What a storage may use, and may leave alone.
    pub hints: Hints<'a>,
}

/// What a storage may use to narrow a search. Leaving all of it alone is correct.
pub struct Hints<'a> {
    /// Whether [`Scan::names`] excludes files. If it does not, a storage may visit files as it
    /// finds them, before it knows all names.
    pub by_name: bool,
    /// Bytes that a file must contain to match.
    pub literal: Option<&'a [u8]>,
    /// Texts of which a file must contain at least one to match, in any case of ASCII letters; empty if
    /// they are not known, or if files without them are to be visited as well.
    pub texts: &'a [&'a [u8]],
    /// What is searched for, for a storage with an index of its own.
    pub query: Option<&'a GrepQuery>,
    /// Paths that divide the files into parts that are listed fast, in order. A storage may list
    /// several parts at once.
    pub splits: &'a [VPath],
    /// Whether the visitor has set files aside, because a pause is due. A storage whose walk does not
    /// wait by itself may then be pending, without a wake, and go on when it is polled again.
    pub is_behind: &'a dyn Fn() -> bool,
}

impl Default for Hints<'_> {
    fn default() -> Self {
        Hints {
            by_name: false,
            literal: None,
            texts: &[],
            query: None,
            splits: &[],
            is_behind: &|| false,
        }
    }
}

/// A visitor's return value: continue or stop.
pub type Flow = ControlFlow<()>;

/// Reading and storing many files with fewer requests than one for each.
pub trait Batch {
    /// Fetches many files, in the order of `paths`.
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>>;

    /// Stores many files unconditionally, with one result each, in order. No path occurs twice.
    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>>;
}

/// Storing files whose bytes come in parts, of which only a few are in memory at a time.
pub trait Streams {
    /// Stores a file, if what is [expected](crate::core::parts::expected) is in its place then; else `already_exists` or
    /// `conflict`. It is seen when all of it is there, and not before; if it fails, what was there stays.
    fn put_parts<'a>(&'a self, path: &'a VPath, parts: &'a dyn Parts) -> Pending<'a, ()>;
}

/// Computes an update from the current file. It may be called again with a newer state. A body that nobody
/// else references may be consumed to build a new one that is longer by at most
/// [`GROWTH`](crate::core::file::GROWTH); otherwise, and on an error, the file is left unchanged.
pub type Change<'a> = dyn FnMut(&mut File) -> Result<NewFile> + 'a;

/// Changing a file under a lock or in a transaction, so that no change needs a retry.
pub trait Update {
    /// Replaces a file with what `change` returns for it; `None` if there is no file.
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>>;
}

/// Removing directories as a whole.
pub trait Trees {
    /// Removes the file at `root` and every file below it; returns which were removed and the
    /// error, if there was one.
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed>;

    /// Whether that spares a file which was made after the call has listed its files.
    fn spares_new_files(&self) -> bool {
        false
    }

    /// Removes the empty directories at and below `root`, where directories are real. Others stay,
    /// and so does what cannot be removed.
    fn prune<'a>(&'a self, _root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        Box::pin(ready(()))
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

impl Removed {
    /// What came of deleting these files one by one; `false` if one was not there.
    pub fn of(answers: impl IntoIterator<Item = (VPath, Result<bool>)>) -> Removed {
        let mut removed = Removed::default();
        for (path, answer) in answers {
            match answer {
                Ok(true) => removed.paths.push(path),
                Ok(false) => {}
                Err(error) => {
                    removed.error.get_or_insert(error);
                }
            }
        }
        removed
    }

    /// Nothing was removed.
    pub fn failed(error: Error) -> Removed {
        Removed {
            error: Some(error),
            ..Removed::default()
        }
    }
}
