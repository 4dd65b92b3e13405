//! An index beside the files: a search skips files that cannot match. The index only says which
//! files those are. A file whose state it does not know is searched, so an index that is old,
//! partial, damaged or missing costs time and never a match. `docs/search-index.md` has the rules, and
//! `segment.rs` the format.
//!
//! The layer works over any backend. It passes a sieve down with the query, which the storage asks
//! for each listed file, so the search itself is the one that the storage always does. A backend
//! whose storage lists no versions is searched completely.
//!
//! [With notes](Indexed::with_notes) nothing is listed. Then the sieve names the files to read: those of the
//! index that may match (`given.rs`), and those that notes of their writers name (`notes.rs`). `glob` and `ls` of
//! very many files have them from the index, too (`named.rs`, `listed.rs`).

mod catalogue;
mod dead;
mod given;
mod hash;
mod listed;
mod load;
mod manifest;
mod named;
mod noted;
mod notes;
mod pack;
mod parts;
mod segment;
mod sift;
#[cfg(test)]
mod tests;
mod update;

use std::cell::Cell;
use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, GlobQuery, GlobResult, GrepQuery, GrepResult,
    Listings, Request, SharedBackend, Sieve, answer,
};
use crate::search::grams;
use crate::side::Room;

use given::Base;
use load::{Known, Opened};
use noted::Noting;
use notes::Notes;
use parts::Parts;
use sift::Search;

pub use update::Updated;

/// The note in `capability` if files cannot be told apart.
const NO_VERSIONS: &str = "The storage lists no versions of its files, so the search index is not \
    used: every search reads all files.";

/// The note in `capability` if changes are known from notes of their writers.
const BY_NOTES: &str = "Searches list nothing: a change that was not made through an index with \
    freshness \"writers\" is found only after the next updateIndex.";

/// The note in `capability` if that cannot be.
const NOT_BY_NOTES: &str = "Searches list all files, although freshness is \"writers\": the backend \
    has ignore files, or does not tell names with other letters apart.";

/// How searches learn of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// From a listing of the files.
    #[default]
    Listing,
    /// From notes of their writers.
    Writers,
}

/// A backend with an index.
pub struct Indexed {
    inner: SharedBackend,
    room: Room,
    notes: Rc<Notes>,
    /// The backend that notes changes, if searches depend on that.
    noting: Option<Rc<Noting>>,
    state: State,
}

/// What is known of the index.
struct State {
    known: RefCell<Rc<Known>>,
    /// Whether the manifest is read again before the next search.
    stale: Cell<bool>,
    /// A segment that could not be read.
    broken: Cell<Option<u64>>,
    /// The index of searches that list nothing, as it was last read.
    base: RefCell<Rc<Base>>,
    /// Parts of segments that they have read.
    parts: RefCell<Parts>,
    /// Directories with fewer files are listed.
    few: Cell<usize>,
    /// Entries of a page of a listing.
    page: Cell<usize>,
    /// Of how many entries the longest listing was, since the index was last looked for because of that.
    longest: Cell<usize>,
}

impl Indexed {
    /// An index of `inner`, kept in a room, which may be one of `inner` itself.
    pub fn new(inner: SharedBackend, room: Room) -> Indexed {
        Indexed {
            inner,
            notes: Rc::new(Notes::new(room.clone())),
            room,
            noting: None,
            state: State {
                known: RefCell::renewable(Rc::default),
                stale: Cell::new(false),
                broken: Cell::new(None),
                base: RefCell::renewable(Rc::default),
                parts: RefCell::renewable(Parts::default),
                few: Cell::new(named::FEW),
                page: Cell::new(listed::PAGE),
                longest: Cell::new(0),
            },
        }
    }

    /// The same, whose searches list nothing: they find what is changed through such an index, which notes
    /// it, and what the last update has found.
    #[must_use]
    pub fn with_notes(self) -> Indexed {
        let noting = Noting::new(self.inner.clone(), self.notes.clone());
        Indexed {
            noting: Some(Rc::new(noting)),
            ..self
        }
    }

    /// From how many files on `glob` lists nothing.
    #[cfg(any(test, feature = "simulation"))]
    pub fn glob_by_notes_from(&self, files: usize) {
        self.state.few.set(files);
    }

    /// How many entries `ls` takes a page of a listing for; with 0 it lists nothing.
    #[cfg(any(test, feature = "simulation"))]
    pub fn ls_by_notes_from(&self, page: usize) {
        self.state.page.set(page);
    }

    /// The backend for everything but searches. Where there is no index, changes need no notes.
    fn files(&self) -> &dyn Backend {
        match &self.noting {
            Some(noting) if self.inner.capability().lists_versions => &**noting,
            _ => &*self.inner,
        }
    }

    /// Whether searches can do without a listing. Ignore files change what is searched elsewhere, and where
    /// names have several spellings, a note may have another one than the listing.
    fn goes_by_notes(&self) -> bool {
        let Capability {
            lists_versions,
            leaves_out,
            names,
            ..
        } = self.inner.capability();
        self.noting.is_some() && lists_versions && !leaves_out && !names.folds()
    }

    async fn search(&self, query: &GrepQuery) -> Result<GrepResult> {
        if self.goes_by_notes()
            && let Some(found) = self.given(query).await?
        {
            return Ok(found);
        }
        // An invalid pattern is refused by the backend, in its words.
        let opened = match grams::need(query, 0) {
            Ok(need) if self.capability().indexed => self.open(&need, false).await,
            _ => Opened::default(),
        };
        let search = Rc::new(Search::new(query.sieve.clone(), opened));
        let mut own = query.clone();
        own.stats = false;
        own.sieve = Some(Sieve(search.clone()));
        let mut found = self.inner.grep(&own).await?;
        let stats = search.stats();
        if stats.unindexed > 0 {
            self.state.stale.set(true);
        }
        found.stats = query.stats.then_some(stats);
        Ok(found)
    }

    async fn find(&self, query: &GlobQuery) -> Result<GlobResult> {
        if self.goes_by_notes()
            && self.inner.capability().listings != Listings::Ruled
            && let Some(found) = self.named(query).await?
        {
            return Ok(found);
        }
        self.inner.glob(query).await
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Indexed {
    fn capability(&self) -> Capability {
        let mut capability = self.inner.capability();
        capability.indexed = capability.lists_versions;
        if !capability.indexed {
            capability.notes.push(NO_VERSIONS.into());
        } else if self.noting.is_some() {
            let note = match self.goes_by_notes() {
                true => BY_NOTES,
                false => NOT_BY_NOTES,
            };
            capability.notes.push(note.into());
        }
        capability
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Grep(query) => answer(self.search(query), Answer::Grep),
            Request::Glob(query) if self.noting.is_some() => answer(self.find(query), Answer::Glob),
            Request::Ls(path) if self.noting.is_some() => answer(self.listed(path), Answer::Ls),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Glob(_)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            | Request::Download(_)
            | Request::Execute(..) => self.files().call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        match &self.noting {
            Some(noting) if self.inner.capability().lists_versions => Atomic::Inner(noting.clone()),
            _ => Atomic::Inner(self.inner.clone()),
        }
    }
}
