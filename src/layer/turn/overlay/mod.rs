//! The overlay of a turn: a backend that shows the files of its base with changes that are only in
//! memory. It keeps which files it changed, with what they held before, and what it has read of the
//! base; a commit checks and applies that. It knows neither commits nor logs.
//!
//! Reads of files are in `read`, listings and searches in `listing`, changes in `write`.

mod backend;
mod base;
mod diff;
mod lines;
mod listing;
mod read;
mod read_set;
mod rebase;
mod write;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::file::{Format, Mode};
use crate::core::lock::Mutex;
use crate::core::pace::Pace;
use crate::core::path::{ByPath, VPath};
use crate::core::time::Time;
use crate::env::{clock, random, timer};
use crate::layer::kit::{Held, held, if_there};
use crate::protocol::{BackendExt, RawFile, Replacement, SharedBackend};

pub use diff::{FileChange, Kind as ChangeKind, compared};
pub(super) use read_set::{Digests, Read, ReadSet};
pub use rebase::{Next, Rebased, Unmerged, three_way};

/// The pace of the current call.
fn pace() -> Pace {
    Pace::new(clock::now, timer::pause)
}

/// A file of the base, as it was when the overlay first changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) body: Bytes,
    pub(super) created: Option<Time>,
    pub(super) format: Format,
    pub(super) mode: Option<Mode>,
}

impl Before {
    /// One of which only the content is known, and the permission bits.
    fn of_body((body, mode): Held) -> Before {
        Before {
            body,
            created: None,
            format: Format::default(),
            mode,
        }
    }
}

impl From<RawFile> for Before {
    fn from(file: RawFile) -> Before {
        Before {
            body: file.body,
            created: file.created,
            format: file.format,
            mode: file.mode,
        }
    }
}

/// A change of a file: what the base has there is not shown any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) before: Option<Before>,
    /// Whether there is a file now; it is in `upper` then.
    pub(super) exists: bool,
    /// The permission bits for it, if it is a copy of a file that has some.
    pub(super) mode: Option<Mode>,
}

/// Makes an empty backend for the files of an overlay.
pub type Overlays = Rc<dyn Fn() -> SharedBackend>;

/// Makes a base ready, before its first use.
pub(super) type Prepare = Rc<dyn Fn() -> LocalBoxFuture<'static, Result<()>>>;

/// Options of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnOptions {
    /// Whether `write` replaces a file that exists.
    pub overwrite: bool,
}

/// Follows what happens in an overlay.
pub(super) trait Listener {
    /// Called before what the overlay has at `path` changes.
    fn touched(&self, path: &VPath);

    /// Called after something was read of the base; `again` if earlier answers are void.
    fn has_read(&self, read: Read, digest: u128, again: bool);
}

/// An overlay over a backend. Invariants:
///
/// - `upper` has exactly the changed files that exist;
/// - a path is among `changes` from its first change on, and `before` is what the base had then.
pub(super) struct Overlay {
    base: RefCell<SharedBackend>,
    prepare: RefCell<Option<Prepare>>,
    /// Whether reads are not noted: nobody will check them.
    is_branch: Cell<bool>,
    /// For what is written.
    pub(super) upper: SharedBackend,
    options: TurnOptions,
    pub(super) changes: RefCell<ByPath<Change>>,
    pub(super) digests: Cell<Digests>,
    pub(super) reads: RefCell<ReadSet>,
    listener: OnceCell<Rc<dyn Listener>>,
    /// Changes run one at a time.
    pub(super) changing: Mutex<()>,
}

impl Overlay {
    /// An overlay over `base`. Nothing is read.
    pub(super) fn new(
        base: SharedBackend,
        prepare: Option<Prepare>,
        overlays: &Overlays,
        options: TurnOptions,
    ) -> Overlay {
        Overlay {
            base: RefCell::new(base),
            prepare: RefCell::new(prepare),
            is_branch: Cell::new(false),
            upper: overlays(),
            options,
            changes: RefCell::default(),
            digests: Cell::new(Digests::new([random::bits(), random::bits()])),
            reads: RefCell::default(),
            listener: OnceCell::new(),
            changing: Mutex::default(),
        }
    }

    /// Has everything followed from now on. Once, before the first call.
    pub(super) fn follow(&self, listener: Rc<dyn Listener>) {
        let _ = self.listener.set(listener);
    }

    pub(super) fn digests(&self) -> Digests {
        self.digests.get()
    }

    /// The changed files.
    pub(super) fn changed_files(&self) -> Vec<(VPath, Change)> {
        let changes = self.changes.borrow();
        let all = changes.iter();
        all.map(|(path, one)| (path.clone(), (**one).clone()))
            .collect()
    }

    /// Whether the overlay itself has a file at `path` (or none any more); `None` if it changes nothing
    /// there.
    pub(super) fn own(&self, path: &VPath) -> Option<bool> {
        let changes = self.changes.borrow();
        changes.get(path).map(|one| one.exists)
    }

    fn change(&self, path: &VPath, before: Option<Before>, exists: bool) {
        self.touch(path);
        let mut changes = self.changes.borrow_mut();
        match changes.get_mut(path) {
            Some(one) => {
                one.exists = exists;
                one.mode = one.mode.filter(|_| exists);
            }
            None => {
                let one = Change {
                    before,
                    exists,
                    mode: None,
                };
                changes.insert(path.clone(), Box::new(one));
            }
        }
    }

    /// Notes the permission bits for a file that was just stored.
    fn permit(&self, path: &VPath, mode: Option<Mode>) {
        if let Some(one) = self.changes.borrow_mut().get_mut(path)
            && mode.is_some()
        {
            one.mode = mode;
        }
    }

    /// Shows what the base has at a path again.
    async fn drop_change(&self, path: &VPath, exists: bool) -> Result<()> {
        if exists {
            self.delete_upper(path).await?;
        }
        self.touch(path);
        self.changes.borrow_mut().remove(path);
        Ok(())
    }

    fn touch(&self, path: &VPath) {
        if let Some(listener) = self.listener.get() {
            listener.touched(path);
        }
    }

    fn note(&self, read: Read, digest: u128) {
        if self.is_branch.get() {
            return;
        }
        let is_new = self.reads.borrow_mut().add(read.clone(), digest);
        if let Some(listener) = self.listener.get().filter(|_| is_new) {
            listener.has_read(read, digest, false);
        }
    }

    /// Notes whether the base has a file, and nothing else of it.
    fn note_existence(&self, path: &VPath, exists: bool) {
        let digest = self.digests().of_existence(exists);
        self.note(Read::Exists(path.clone()), digest);
    }

    /// Notes what the base has of a file, or that there is none.
    fn note_body(&self, path: &VPath, body: Option<&Bytes>) {
        let digest = self.digests().of_body(body);
        self.note(Read::Whole(path.clone()), digest);
    }

    /// Shows another base from now on, and notes no reads: those of a branch are checked by nobody.
    pub(in crate::layer::turn) fn show(&self, base: SharedBackend) {
        self.base.replace(base);
        self.is_branch.set(true);
    }

    /// The base as it is.
    fn below(&self) -> SharedBackend {
        self.base.borrow().clone()
    }

    /// The base. It is made ready before the first use.
    pub(super) async fn base(&self) -> Result<SharedBackend> {
        let prepare = self.prepare.borrow().clone();
        if let Some(prepare) = prepare {
            prepare().await?;
            self.prepare.take();
        }
        Ok(self.below())
    }

    /// A file of the base, whole.
    async fn base_file(&self, path: &VPath) -> Result<Option<Before>> {
        let answer = self.base().await?.read_raw(path).await;
        if_there(answer).map(|file| file.map(Before::from))
    }

    /// Contents of files of the base, to change them.
    async fn base_held(&self, paths: &[VPath]) -> Vec<Result<Held>> {
        match self.base().await {
            _ if paths.is_empty() => Vec::new(),
            Ok(base) => held(&*base, paths).await,
            Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// Contents of files of the base.
    async fn base_bodies(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        if paths.is_empty() {
            return Vec::new();
        }
        match self.base().await {
            Ok(base) => base.download(paths).await,
            Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// Stores a file in the overlay.
    async fn put(&self, path: &VPath, body: Bytes) -> Result<()> {
        self.touch(path);
        self.upper.store(path, body).await
    }

    /// What the overlay has at a path that it changes.
    pub(super) async fn upper_body(&self, path: &VPath, exists: bool) -> Result<Option<Bytes>> {
        match exists {
            true => self.upper.fetch(path).await.map(Some),
            false => Ok(None),
        }
    }

    /// Removes a file of the overlay.
    async fn delete_upper(&self, path: &VPath) -> Result<()> {
        self.touch(path);
        let body = self.upper.fetch(path).await?;
        self.upper.delete(path, Some(&body)).await.map(|_| ())
    }

    /// The files that the overlay changes, and reads of those that it leaves as they are.
    pub(super) async fn replacements(&self) -> Result<(Vec<Replacement>, Vec<(Read, u128)>)> {
        let (mut files, mut reads) = (Vec::new(), Vec::new());
        for (path, one) in self.changed_files() {
            let (before, mode) = one
                .before
                .map_or((None, None), |before| (Some(before.body), before.mode));
            let after = self.upper_body(&path, one.exists).await?;
            if before == after {
                let digest = self.digests().of_body(before.as_ref());
                reads.push((Read::Whole(path), digest));
            } else {
                let mode = match after {
                    Some(_) => one.mode,
                    None => mode,
                };
                files.push(Replacement {
                    path,
                    before,
                    after,
                    mode,
                });
            }
        }
        Ok((files, reads))
    }

    /// Drops all changes, and forgets what was read.
    pub(super) async fn clear(&self) -> Result<()> {
        let changes = self.changes.take();
        self.reads.take();
        for (path, one) in changes {
            if one.exists {
                self.delete_upper(&path).await?;
            }
        }
        Ok(())
    }
}
