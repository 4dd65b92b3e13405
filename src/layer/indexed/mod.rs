//! An index beside the files: a search skips files that cannot match. The index only says which
//! files those are. A file whose state it does not know is searched, so an index that is old,
//! partial, damaged or missing costs time and never a match. `docs/search-index.md` has the format
//! and the rules.
//!
//! The layer works over any backend. It passes a sieve down with the query, which the storage asks
//! for each listed file, so the search itself is the one that the storage always does. A backend
//! whose storage lists no versions is searched completely.

mod grams;
mod hash;
mod load;
mod manifest;
mod merge;
mod rank;
mod segment;
mod sift;
#[cfg(test)]
mod tests;
mod update;

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, FileInfo, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult, SharedBackend, Shell, Sieve,
    Transfer, WriteResult,
};

use load::{Known, Opened};
use sift::Search;

pub use merge::Merge;
pub use update::Updated;

/// The note in `capability` if files cannot be told apart.
const NO_VERSIONS: &str = "The storage lists no versions of its files, so the search index is not \
    used: every search reads all files.";

/// A backend with an index.
pub struct Indexed {
    inner: SharedBackend,
    keep: SharedBackend,
    dir: VPath,
    /// Whether the index is in `inner`, where `dir` is hidden.
    inside: bool,
    state: Rc<State>,
    /// Whether the best matches come first.
    ranks: bool,
}

/// What is known of the index.
struct State {
    known: RefCell<Rc<Known>>,
    /// Whether the manifest is read again before the next search.
    stale: Cell<bool>,
    /// A segment that could not be read.
    broken: Cell<Option<u64>>,
}

impl Indexed {
    /// An index of `inner`, kept in the directory `dir` of `keep`, or of `inner` itself.
    pub fn new(inner: SharedBackend, keep: Option<SharedBackend>, dir: VPath) -> Result<Indexed> {
        if dir.is_root() && keep.is_none() {
            return Err(Error::new(
                Kind::InvalidArgument,
                "keepIn must be a directory of its own, such as \"/.index/\", and not the root",
            ));
        }
        Ok(Indexed {
            inside: keep.is_none(),
            keep: keep.unwrap_or_else(|| inner.clone()),
            inner,
            dir,
            state: Rc::new(State {
                known: RefCell::renewable(Rc::default),
                stale: Cell::new(false),
                broken: Cell::new(None),
            }),
            ranks: false,
        })
    }

    /// The same files and index, in which a search puts the best matches first.
    pub fn ranked(&self) -> Indexed {
        Indexed {
            inner: self.inner.clone(),
            keep: self.keep.clone(),
            dir: self.dir.clone(),
            inside: self.inside,
            state: self.state.clone(),
            ranks: true,
        }
    }

    fn hides(&self, path: &VPath) -> bool {
        self.inside && path.is_under(&self.dir)
    }

    /// Whether a listing of `path` would show the directory of the index.
    fn hides_in(&self, path: &VPath) -> bool {
        self.inside && self.dir.is_under(path)
    }

    fn shows(&self, path: &VPath) -> Result<()> {
        match self.hides(path) {
            true => Err(Error::not_found(path)),
            false => Ok(()),
        }
    }

    fn may_change(&self, path: &VPath) -> Result<()> {
        match self.hides(path) {
            true => Err(Error::at(
                Kind::PermissionDenied,
                "Error: permission denied for '",
                path,
                "': the search index is kept there",
            )),
            false => Ok(()),
        }
    }

    async fn search(&self, query: &GrepQuery) -> Result<GrepResult> {
        // An invalid pattern is refused by the backend, in its words.
        let opened = match grams::need(query) {
            Ok(need) if self.capability().indexed => self.open(&need, false).await,
            _ => Opened::default(),
        };
        let hidden = self.inside.then(|| self.dir.clone());
        let search = Rc::new(Search::new(hidden, query.sieve.clone(), opened, self.ranks));
        let mut own = query.clone();
        own.stats = false;
        if self.ranks {
            own.max_count = None;
        }
        own.sieve = Some(Sieve(search.clone()));
        let mut found = self.inner.grep(&own).await?;
        let stats = search.stats();
        if stats.unindexed > 0 {
            self.state.stale.set(true);
        }
        if self.ranks {
            rank::best_first(&mut found, query, &search.times());
        }
        found.stats = query.stats.then_some(stats);
        Ok(found)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Indexed {
    fn capability(&self) -> Capability {
        let mut capability = self.inner.capability();
        capability.indexed = capability.lists_versions;
        if !capability.indexed {
            capability.notes.push(NO_VERSIONS.into());
        }
        capability
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        if self.hides(path) {
            return done(Ok(Vec::new()));
        }
        if !self.hides_in(path) {
            return self.inner.ls(path);
        }
        Box::pin(async move {
            let mut infos = self.inner.ls(path).await?;
            infos.retain(|info| !self.hides(&info.path));
            Ok(infos)
        })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        match self.shows(path) {
            Ok(()) => self.inner.read(path, page),
            Err(error) => done(Err(error)),
        }
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        match self.shows(path) {
            Ok(()) => self.inner.read_raw(path),
            Err(error) => done(Err(error)),
        }
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(self.search(query))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            let mut found = self.inner.glob(query).await?;
            found.files.retain(|info| !self.hides(&info.path));
            Ok(found)
        })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        match self.may_change(path) {
            Ok(()) => self.inner.write(path, content),
            Err(error) => done(Err(error)),
        }
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        match self.may_change(path) {
            Ok(()) => self.inner.edit(path, edit),
            Err(error) => done(Err(error)),
        }
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        match self.may_change(path) {
            Ok(()) => self.inner.delete(path, unchanged),
            Err(error) => done(Err(error)),
        }
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        if self.hides_in(&asked.from) || self.hides_in(&asked.to) {
            return done(self.may_change(&self.dir).map(|()| WriteResult::default()));
        }
        match self
            .shows(&asked.from)
            .and_then(|()| self.may_change(&asked.to))
        {
            Ok(()) => self.inner.transfer(asked),
            Err(error) => done(Err(error)),
        }
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        let refused: Vec<Option<Error>> = files
            .iter()
            .map(|(path, _)| self.may_change(path).err())
            .collect();
        let mut allowed = files;
        allowed.retain(|(path, _)| !self.hides(path));
        Box::pin(async move { filled(refused, self.inner.upload(allowed).await) })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        if !paths.iter().any(|path| self.hides(path)) {
            return self.inner.download(paths);
        }
        Box::pin(async move {
            let refused: Vec<Option<Error>> =
                paths.iter().map(|path| self.shows(path).err()).collect();
            let mut allowed = paths.to_vec();
            allowed.retain(|path| !self.hides(path));
            filled(refused, self.inner.download(&allowed).await)
        })
    }

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        match self.shows(path) {
            Ok(()) => self.inner.part(path, range),
            Err(error) => done(Err(error)),
        }
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        match self.inside {
            // The directory of the index is closed to changes.
            true => Atomic::Conditional,
            false => Atomic::Inner(self.inner.clone()),
        }
    }
}

/// Merges refusals with the answers for the other files of a batch, in order.
fn filled<T>(refused: Vec<Option<Error>>, answers: Vec<Result<T>>) -> Vec<Result<T>> {
    let mut answers = answers.into_iter();
    let missing = || Err(Error::internal("A backend answered too few files"));
    refused
        .into_iter()
        .map(|refusal| match refusal {
            Some(error) => Err(error),
            None => answers.next().unwrap_or_else(missing),
        })
        .collect()
}
