//! An index beside the files: a search skips files that cannot match. The index only says which
//! files those are. A file whose state it does not know is searched, so an index that is old,
//! partial, damaged or missing costs time and never a match. `docs/search-index.md` has the rules, and
//! `segment.rs` the format.
//!
//! The layer works over any backend. It passes a sieve down with the query, which the storage asks
//! for each listed file, so the search itself is the one that the storage always does. A backend
//! whose storage lists no versions is searched completely.

mod hash;
mod load;
mod manifest;
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
    Answer, Atomic, Backend, BackendExt, Capability, GrepQuery, GrepResult, Request, SharedBackend,
    Sieve, answer,
};
use crate::search::grams;
use crate::side::Room;

use load::{Known, Opened};
use sift::Search;

pub use update::Updated;

/// The note in `capability` if files cannot be told apart.
const NO_VERSIONS: &str = "The storage lists no versions of its files, so the search index is not \
    used: every search reads all files.";

/// A backend with an index.
pub struct Indexed {
    inner: SharedBackend,
    room: Room,
    state: State,
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
    /// An index of `inner`, kept in a room, which may be one of `inner` itself.
    pub fn new(inner: SharedBackend, room: Room) -> Indexed {
        Indexed {
            inner,
            room,
            state: State {
                known: RefCell::renewable(Rc::default),
                stale: Cell::new(false),
                broken: Cell::new(None),
            },
        }
    }

    async fn search(&self, query: &GrepQuery) -> Result<GrepResult> {
        // An invalid pattern is refused by the backend, in its words.
        let opened = match grams::need(query) {
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

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Grep(query) => answer(self.search(query), Answer::Grep),
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
            | Request::Execute(..) => self.inner.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Inner(self.inner.clone())
    }
}
