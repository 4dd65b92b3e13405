//! What a place must do to keep files: a handful of methods, and a few conveniences with a body
//! that a storage may replace where it can do better in one go. What the operations *mean* is
//! not its business; that stands in [`backend::files`](crate::backend::files).

mod provided;

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, ready};

use crate::error::{Error, Result};
use crate::file::{Format, Mime, Texture};
use crate::path::VPath;
use crate::protocol::Capability;
use crate::time::Time;

/// A future of this single-threaded world.
pub type Pending<'a, T> = LocalBoxFuture<'a, Result<T>>;

/// What a storage calls one state of one file. Two states of a file never share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// A number that a storage of ours counts up.
    Number(u64),
    /// A word that a server chose, such as an ETag.
    Tag(Rc<str>),
}

/// What is known of a file without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Bytes of the body.
    pub size: u64,
    /// When it was first written, where the storage keeps that.
    pub created: Option<Time>,
    /// When it was last written.
    pub modified: Time,
    /// The type kept beside it; by name and content where there is none.
    pub mime: Option<Mime>,
    /// The form in which a caller of `readRaw` gets it.
    pub format: Format,
    /// Text, ASCII or bytes, where the storage keeps that; found from the body otherwise.
    pub texture: Option<Texture>,
    /// Which state of the file this is, where the storage can compare and swap.
    pub version: Option<Version>,
}

impl Meta {
    /// Of a file of which a storage tells no more than this.
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
    /// What is known of it.
    pub meta: Meta,
    /// Its bytes, or the range of them that was asked for.
    pub body: Bytes,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What is known of the whole file, and the bytes of the part.
    pub file: File,
    /// Where in the file they begin.
    pub start: u64,
    /// Lines of the whole file, where the storage keeps that.
    pub lines: Option<u64>,
}

impl Part {
    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.start == 0 && self.file.body.len() as u64 == self.file.meta.size
    }
}

/// What a put stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// All its bytes.
    pub body: Bytes,
    /// When it was first written.
    pub created: Time,
    /// When it is written now.
    pub modified: Time,
    /// The type to keep beside it.
    pub mime: Mime,
    /// The form to keep beside it.
    pub format: Format,
    /// Text, ASCII or bytes.
    pub texture: Texture,
}

impl NewFile {
    /// What is known of it once it is stored.
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

/// When a put may happen. The check and the change are one step, or the storage says in its
/// [`Capability`] that they are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Only where nothing is; else `already_exists`.
    Create,
    /// Whatever is there.
    Overwrite,
    /// Only over this state of the file; else `conflict`, also where it is gone.
    Update(Version),
}

/// How deep a listing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The files and directories directly inside.
    One,
    /// Every file beneath, and no directories.
    All,
}

/// One file of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: VPath,
    /// What is known of it.
    pub meta: Meta,
}

/// Where the next page of a listing begins: whatever the storage wants to read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub Rc<str>);

/// A part of a listing.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Files, in byte order of their paths.
    pub files: Vec<Entry>,
    /// Directories directly inside (only with [`Depth::One`]), in byte order.
    pub dirs: Vec<VPath>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
}

impl Listing {
    /// A listing of `dir` out of all files beneath it, which come in byte order.
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

/// What a walk looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Every file beneath this directory; the file of that very path as well.
    pub root: VPath,
    /// Only files whose path below `root` starts with this text. A hint that narrows the work;
    /// it may cut a segment in two (`src/ma`). Empty for all.
    pub prefix: String,
}

impl Scope {
    /// Everything at and beneath `root`.
    pub fn all(root: &VPath) -> Scope {
        Scope {
            root: root.clone(),
            prefix: String::new(),
        }
    }

    /// The text that the path of every file in scope starts with, the file `root` itself apart.
    pub fn key_prefix(&self) -> String {
        self.root.dir_prefix() + &self.prefix
    }

    /// Whether a file of that path is in scope.
    pub fn admits(&self, path: &VPath) -> bool {
        match path.relative_to(&self.root) {
            Some("") => self.prefix.is_empty() && !path.is_root(),
            Some(rest) => rest.starts_with(&self.prefix),
            None => false,
        }
    }
}

/// What a search wants to see, said ahead so that a storage can narrow it.
pub struct Scan<'a> {
    /// Where to look.
    pub scope: &'a Scope,
    /// Which files may be wanted, by their path alone: for storages that pay to learn more.
    pub names: &'a dyn Fn(&VPath) -> bool,
    /// Which files to load, by what is known without loading them. It asks `names` as well.
    pub want: &'a dyn Fn(&VPath, &Meta) -> bool,
    /// Whether that leaves out files by their names. A hint: where it does not, a storage may show
    /// what it meets on its way before it knows all names.
    pub by_name: bool,
    /// Bytes that a file must contain to be of interest. A hint; passing over it is right too.
    pub literal: Option<&'a [u8]>,
}

/// Which files a search by name wants.
pub struct Find<'a> {
    /// Where to look.
    pub scope: &'a Scope,
    /// Which files to show, by their path alone.
    pub want: &'a dyn Fn(&VPath) -> bool,
}

/// A visitor's answer: go on, or stop here.
pub type Flow = ControlFlow<()>;

/// What an update makes of the file as it stands. It may be asked again, about a newer state. A
/// body that does not grow may be used up in making the new one; where the answer is a refusal or
/// a longer body, the file is left as it was.
pub type Change<'a> = dyn FnMut(&mut File) -> Result<NewFile> + 'a;

/// Times an update is repeated on fresh text before it gives up with `conflict`.
pub const REPLAYS: u32 = 64;

/// How many bodies a storage is asked for at once where it names no number of its own.
pub const PARALLEL: usize = 16;

/// A place that keeps files.
///
/// Paths are canonical. The methods without a body are the contract; the others are written over
/// them and may be replaced, with the same answers, by a storage that has a shorter way.
pub trait Storage: AsStorage {
    /// What it can promise.
    fn capability(&self) -> Capability;

    /// What is known of the file at `path`; `None` where there is no file (a directory is none).
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>>;

    /// The file at `path`. With a range, the body is that part of it, cut at its end; `meta`
    /// always tells of the whole. Only asked with a range where `capability` has ranged reads.
    fn get<'a>(&'a self, path: &'a VPath, range: Option<Range<u64>>) -> Pending<'a, Option<File>>;

    /// Stores a file whole or not at all, under the condition of `mode`, and tells what is known
    /// of it now. The only way to change bytes.
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta>;

    /// Removes one file; with a version, only that state of it (else `conflict`). `false` where
    /// there was none.
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool>;

    /// A page of what is inside `dir`, in byte order. A missing directory is an empty one.
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing>;

    /// Shows every file in scope, in byte order of the paths, until the visitor stops.
    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        provided::walk(self.as_storage(), scope, visit)
    }

    /// Shows the wanted files, in byte order, until the visitor stops. For storages that pay to
    /// learn more than a file's name.
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

    /// How many bytes to ask for first where a page of a large text is wanted; `None` where
    /// parts save nothing and files are read whole.
    fn part_bytes(&self) -> Option<u64> {
        None
    }

    /// A part of a file, cut at its end: what was asked for, or the whole where that is at hand.
    /// Only asked where `part_bytes` is a number; each part tells the version it is of.
    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        provided::get_part(self.as_storage(), path, range)
    }

    /// Many files at once, answered in the order asked.
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        provided::get_many(self.as_storage(), paths)
    }

    /// Shows the wanted files with their bodies, in byte order, until the visitor stops.
    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        provided::scan(self.as_storage(), scan, visit)
    }

    /// Stores many files, each whatever is there, answering each in order. No path comes twice.
    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        provided::put_many(self.as_storage(), files)
    }

    /// Puts what `change` makes of a file in its place; `None` where there is no file. The put
    /// happens only over the very state that `change` was shown, so that no other writer's
    /// change is lost; here, by doing all of it again a bounded number of times. A storage that
    /// can hold the file still meanwhile needs no second try.
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        provided::update(self.as_storage(), path, change)
    }

    /// Waits before try number `attempt` (from 0) of an edit that met another writer. Storages
    /// across a network wait a little, and not all alike.
    fn pause(&self, _attempt: u32) -> LocalBoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Removes the file at `root` and every file beneath it, and tells which were removed and
    /// what went wrong, if anything did.
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        provided::delete_tree(self.as_storage(), root)
    }
}

/// A storage as what it is to everyone else. What the trait provides is written once over this,
/// and not compiled again for each storage: in wasm, that is a large part of the size.
pub trait AsStorage {
    /// Itself.
    fn as_storage(&self) -> &(dyn Storage + '_);
}

impl<S: Storage> AsStorage for S {
    fn as_storage(&self) -> &(dyn Storage + '_) {
        self
    }
}

/// What a recursive delete did.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// The files that are gone.
    pub paths: Vec<VPath>,
    /// Whether a directory without files is gone as well, where directories are real.
    pub directories: bool,
    /// The first thing that went wrong; some files may be left then.
    pub error: Option<Error>,
}

/// The deepest directory that holds everything in scope.
pub fn literal_dir(scope: &Scope) -> VPath {
    match scope.prefix.rfind('/') {
        Some(at) => {
            let dir = scope.prefix.get(..at).unwrap_or_default();
            scope.root.join(dir).unwrap_or_else(|_| scope.root.clone())
        }
        None => scope.root.clone(),
    }
}

/// An answer that is already there.
pub fn done<'a, T: 'a>(answer: Result<T>) -> Pending<'a, T> {
    Box::pin(ready(answer))
}
