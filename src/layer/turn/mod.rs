//! A turn: changes of several files that are made together or not at all. It is an overlay over any
//! backend, and a backend itself. Changes stay in the overlay until [`Turn::commit`]; what was read
//! from below is noted and checked then. `docs/turns.md` describes what that guarantees.
//!
//! This file has the overlay: which files it covers, and the changes of files. Reads of files are in
//! `reads`, listings and searches in `merge`, notes in `notes`.

mod below;
mod calls;
mod changes;
mod commit;
mod finisher;
mod journal;
mod judge;
mod keep;
mod keeper;
mod lines;
mod log;
mod merge;
mod notes;
mod plan;
mod reads;
mod rebase;
mod record;
#[cfg(test)]
mod tests;
mod watch;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Format};
use crate::core::lock::Mutex;
use crate::core::path::{ByPath, VPath};
use crate::core::time::Time;
use crate::env::random;
use crate::layer::kit::if_there;
use crate::protocol::{
    BackendExt, Content, DeleteResult, Edit, EditResult, GlobQuery, RawFile, Replacement,
    SharedBackend, WriteResult,
};

use finisher::Finisher;
use keeper::Keeper;
use notes::{Digests, Notes, Question};

pub use changes::{FileChange, Hunk, Kind as ChangeKind, compared};
pub use commit::{Commits, Outcome, Receipt, undo};
pub use keep::kept;
pub use plan::Conflict;
pub use rebase::{Rebased, Unmerged};

/// A file below the turn, as it was when the turn first changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Before {
    body: Bytes,
    created: Option<Time>,
    format: Format,
}

impl From<RawFile> for Before {
    fn from(file: RawFile) -> Before {
        Before {
            body: file.body,
            created: file.created,
            format: file.format,
        }
    }
}

/// A file that the turn covers: what is below is not shown any more.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Covered {
    before: Option<Before>,
    /// Whether the turn has a file there; it is in `over` then.
    exists: bool,
}

/// Makes an empty backend for the files of a turn.
pub type Overlays = Rc<dyn Fn() -> SharedBackend>;

/// Options of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnOptions {
    /// Whether `write` replaces a file that exists.
    pub overwrite: bool,
}

/// An overlay over a backend. Invariants:
///
/// - `over` has exactly the covered files that exist;
/// - a path is covered from its first change on, and `before` is what was below at that time.
pub struct Turn {
    base: SharedBackend,
    /// For what is written.
    over: SharedBackend,
    overlays: Overlays,
    by: Rc<str>,
    options: TurnOptions,
    covered: RefCell<ByPath<Covered>>,
    digests: Cell<Digests>,
    notes: RefCell<Notes>,
    /// Whether `base` has no unfinished commit from before this turn.
    recovered: Cell<bool>,
    /// Changes run one at a time.
    changing: Mutex<()>,
    /// Where the turn is kept beyond this process.
    kept: OnceCell<Rc<dyn Keeper>>,
}

impl Turn {
    /// A turn over `base`. Nothing is read.
    pub fn new(base: SharedBackend, overlays: Overlays, by: Rc<str>, options: TurnOptions) -> Turn {
        Turn {
            base,
            over: overlays(),
            overlays,
            by,
            options,
            covered: RefCell::default(),
            digests: Cell::new(Digests::new([random::bits(), random::bits()])),
            notes: RefCell::new(Notes::default()),
            recovered: Cell::new(false),
            changing: Mutex::default(),
            kept: OnceCell::new(),
        }
    }

    /// Who makes the changes.
    pub fn by(&self) -> &Rc<str> {
        &self.by
    }

    fn digests(&self) -> Digests {
        self.digests.get()
    }

    /// Whether the turn itself has a file at `path` (or none any more); `None` if it covers nothing
    /// there.
    fn own(&self, path: &VPath) -> Option<bool> {
        let covered = self.covered.borrow();
        covered.get(path).map(|one| one.exists)
    }

    fn cover(&self, path: &VPath, before: Option<Before>, exists: bool) {
        self.mark(path);
        let mut covered = self.covered.borrow_mut();
        match covered.get_mut(path) {
            Some(one) => one.exists = exists,
            None => {
                let one = Covered { before, exists };
                covered.insert(path.clone(), Box::new(one));
            }
        }
    }

    fn note(&self, question: Question, digest: u128) {
        let is_new = self.notes.borrow_mut().add(question.clone(), digest);
        if let Some(kept) = self.kept.get().filter(|_| is_new) {
            kept.noted(question, digest, false);
        }
    }

    /// A turn changes nothing of what the library keeps for itself: the journal of its commit is there.
    fn may_change(&self, path: &VPath) -> Result<()> {
        match path.is_own() {
            true => Err(Error::at(
                Kind::PermissionDenied,
                "Error: permission denied for '",
                path,
                "': kitbag keeps its own files there, and a turn does not change them",
            )),
            false => Ok(()),
        }
    }

    fn finisher(&self) -> Finisher {
        Finisher {
            by: self.by.clone(),
            top: self.base.clone(),
            overlays: self.overlays.clone(),
        }
    }

    /// The backend below. Before the first use, a commit that was broken off there is finished.
    async fn base(&self) -> Result<&SharedBackend> {
        if !self.recovered.get() {
            commit::recover(self.base.clone(), &self.finisher()).await?;
            self.recovered.set(true);
        }
        Ok(&self.base)
    }

    /// A file below, whole.
    async fn below(&self, path: &VPath) -> Result<Option<Before>> {
        found(self.base().await?.read_raw(path).await)
    }

    /// Files below, whole.
    async fn fetch(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        if paths.is_empty() {
            return Vec::new();
        }
        match self.base().await {
            Ok(base) => base.download(paths).await,
            Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    async fn write_file(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        self.may_change(path)?;
        let overwrite = self.options.overwrite && !matches!(content, Content::New(_));
        let body = match content {
            Content::Text(text) => file::decode_content(path, text)?,
            Content::Raw(bytes) | Content::New(bytes) => bytes,
        };
        let (exists, before) = match self.own(path) {
            Some(exists) => (exists, None),
            None => {
                let before = self.below(path).await?;
                (before.is_some(), before)
            }
        };
        if exists && !overwrite {
            if self.own(path).is_none() {
                let digest = self.digests().of_existence(true);
                self.note(Question::Exists(path.clone()), digest);
            }
            return Err(Error::already_exists(path));
        }
        match self.own(path) {
            // A write keeps the time of creation.
            Some(true) => {
                self.mark(path);
                self.over.write(path, Content::Raw(body)).await?;
            }
            _ => self.put(path, body).await?,
        }
        self.cover(path, before, true);
        Ok(WriteResult::default())
    }

    /// Stores a file in the overlay.
    async fn put(&self, path: &VPath, body: Bytes) -> Result<()> {
        self.mark(path);
        self.over.store(path, body).await
    }

    async fn edit_file(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        self.may_change(path)?;
        if self.own(path).is_some() {
            self.mark(path);
            return self.over.edit(path, edit).await;
        }
        let Some(before) = self.below(path).await? else {
            let digest = self.digests().of_existence(false);
            self.note(Question::Exists(path.clone()), digest);
            return Err(Error::nothing_there(path));
        };
        self.put(path, before.body.clone()).await?;
        let edited = self.over.edit(path, edit).await;
        match edited {
            Ok(edited) => {
                self.cover(path, Some(before), true);
                Ok(edited)
            }
            Err(error) => {
                let digest = self.digests().of_body(Some(&before.body));
                self.note(Question::Whole(path.clone()), digest);
                self.over.delete(path, Some(&before.body)).await?;
                Err(error)
            }
        }
    }

    async fn delete_path(&self, path: &VPath, unchanged: Option<&Bytes>) -> Result<DeleteResult> {
        self.may_change(path)?;
        match unchanged {
            Some(body) => self.delete_unchanged(path, body).await?,
            None => self.delete_tree(path).await?,
        }
        Ok(DeleteResult::default())
    }

    async fn delete_unchanged(&self, path: &VPath, body: &Bytes) -> Result<()> {
        if self.own(path).is_some() {
            self.mark(path);
            self.over.delete(path, Some(body)).await?;
            self.cover(path, None, false);
            return Ok(());
        }
        let Some(before) = self.below(path).await? else {
            let digest = self.digests().of_existence(false);
            self.note(Question::Exists(path.clone()), digest);
            return Err(Error::nothing_there(path));
        };
        if before.body != *body {
            let digest = self.digests().of_body(Some(&before.body));
            self.note(Question::Whole(path.clone()), digest);
            return Err(Error::conflict(path));
        }
        self.cover(path, Some(before), false);
        Ok(())
    }

    async fn delete_tree(&self, root: &VPath) -> Result<()> {
        let found = self.glob_merged(&GlobQuery::all(root)).await?;
        let mut paths: Vec<VPath> = found
            .complete(root)?
            .into_iter()
            .map(|info| info.path)
            .collect();
        if !root.is_root() {
            paths.push(root.clone());
        }
        let below: Vec<VPath> = paths
            .iter()
            .filter(|path| self.own(path).is_none())
            .cloned()
            .collect();
        let mut befores: ByPath<Bytes> = ByPath::new();
        for (path, answer) in below.iter().zip(self.fetch(&below).await) {
            if let Some(body) = if_there(answer)? {
                befores.insert(path.clone(), Box::new(body));
            } else if path == root {
                let digest = self.digests().of_existence(false);
                self.note(Question::Exists(path.clone()), digest);
            }
        }
        let mut any = false;
        for path in &paths {
            if self.own(path) == Some(true) {
                self.drop_own(path).await?;
                self.cover(path, None, false);
                any = true;
            } else if let Some(body) = befores.remove(path) {
                let before = Before {
                    body: *body,
                    created: None,
                    format: Format::default(),
                };
                self.cover(path, Some(before), false);
                any = true;
            }
        }
        match any {
            true => Ok(()),
            false => Err(Error::nothing_there(root)),
        }
    }

    /// The bytes of a file of the overlay.
    async fn over_body(&self, path: &VPath) -> Result<Bytes> {
        self.over.fetch(path).await
    }

    /// Removes a file of the overlay.
    async fn drop_own(&self, path: &VPath) -> Result<()> {
        self.mark(path);
        let body = self.over_body(path).await?;
        self.over.delete(path, Some(&body)).await.map(|_| ())
    }

    async fn upload_files(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let mut asked: Vec<VPath> = Vec::new();
        for (path, _) in &files {
            if self.own(path).is_none() && !asked.contains(path) {
                asked.push(path.clone());
            }
        }
        let mut befores: ByPath<Result<Option<Bytes>>> = ByPath::new();
        for (path, answer) in asked.iter().zip(self.fetch(&asked).await) {
            befores.insert(path.clone(), Box::new(if_there(answer)));
        }
        let mut answers = Vec::with_capacity(files.len());
        for (path, body) in files {
            let before = befores.get(&path).map(|before| &**before);
            answers.push(self.upload_file(&path, body, before).await);
        }
        answers
    }

    async fn upload_file(
        &self,
        path: &VPath,
        body: Bytes,
        before: Option<&Result<Option<Bytes>>>,
    ) -> Result<()> {
        self.may_change(path)?;
        let before = match before {
            Some(before) => before.clone()?,
            None => None,
        };
        self.put(path, body).await?;
        let before = before.map(|body| Before {
            body,
            created: None,
            format: Format::default(),
        });
        self.cover(path, before, true);
        Ok(())
    }

    /// Replaces several files, for a turn in this turn.
    async fn replace_files(&self, files: &[Replacement]) -> Result<Vec<VPath>> {
        let mut differ = Vec::new();
        let mut befores: ByPath<Option<Before>> = ByPath::new();
        for file in files {
            self.may_change(&file.path)?;
            let now = match self.own(&file.path) {
                Some(true) => Some(self.over_body(&file.path).await?),
                Some(false) => None,
                None => {
                    let before = self.below(&file.path).await?;
                    let now = before.as_ref().map(|before| before.body.clone());
                    befores.insert(file.path.clone(), Box::new(before));
                    now
                }
            };
            if now != file.before {
                differ.push(file.path.clone());
            }
        }
        if !differ.is_empty() {
            return Ok(differ);
        }
        for file in files {
            match &file.after {
                Some(after) => self.put(&file.path, after.clone()).await?,
                None if self.own(&file.path) == Some(true) => self.drop_own(&file.path).await?,
                None => {}
            }
            let before = befores.remove(&file.path).and_then(|before| *before);
            self.cover(&file.path, before, file.after.is_some());
        }
        Ok(Vec::new())
    }
}

/// A file, or none; other failures stay.
fn found(answer: Result<RawFile>) -> Result<Option<Before>> {
    if_there(answer).map(|file| file.map(Before::from))
}
