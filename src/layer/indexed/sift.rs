//! The two sieves: one leaves out what the index excludes, and counts; the other lets through what
//! the index does not know yet, and collects the trigrams of the bodies.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::grams::{Collector, Grams};
use super::hash::{Key, hash};
use super::load::{Known, Opened};
use super::segment::{Entry, Name};
use crate::core::cell::RefCell;
use crate::core::path::VPath;
use crate::protocol::{GrepStats, Sieve, Sift, Stamp, State};

/// Files above this size are not indexed: every search reads them.
pub const MAX_FILE: u64 = 8 << 20;

/// How many files a page of a listing has: fewer than a bucket's thousand, so that some may be added.
const PAGE: usize = 900;

/// The name of a state: `None` if the storage does not tell versions.
pub fn name(key: Key, path: &VPath, state: &State<'_>) -> Option<Name> {
    let mut text = path.as_str().as_bytes().to_vec();
    match state.stamp? {
        Stamp::Number(number) => {
            text.push(0);
            text.extend_from_slice(&number.to_le_bytes());
        }
        Stamp::Tag(tag) => {
            text.push(1);
            text.extend_from_slice(tag.as_bytes());
        }
    }
    let head = [state.size, state.modified.micros().cast_unsigned()];
    Some(hash(key, head, &text))
}

/// Leaves out what the index excludes.
pub struct Search {
    hidden: Option<VPath>,
    outer: Option<Sieve>,
    known: Option<Rc<Known>>,
    may: Vec<Vec<bool>>,
    stats: Cell<GrepStats>,
}

impl Search {
    pub fn new(hidden: Option<VPath>, outer: Option<Sieve>, opened: Opened) -> Search {
        // What was read of the index tells something about all files.
        let tells = outer.as_ref().is_none_or(|outer| !outer.hides());
        Search {
            hidden,
            known: opened.known,
            may: opened.may,
            stats: Cell::new(GrepStats {
                requests: if tells { opened.requests } else { 0 },
                bytes: if tells { opened.bytes } else { 0 },
                ..GrepStats::default()
            }),
            outer,
        }
    }

    pub fn stats(&self) -> GrepStats {
        self.stats.get()
    }

    pub fn met_unknown(&self) -> bool {
        self.stats.get().unindexed > 0
    }
}

impl Sift for Search {
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        if self.hidden.as_ref().is_some_and(|dir| path.is_under(dir))
            || self
                .outer
                .as_ref()
                .is_some_and(|outer| !outer.admits(path, state))
        {
            return false;
        }
        let may = self.known.as_ref().and_then(|known| {
            let (segment, file) = known.places.get(&name(known.manifest.key, path, state)?)?;
            self.may.get(*segment)?.get(*file).copied()
        });
        let mut stats = self.stats.get();
        match may {
            Some(false) => stats.indexed += 1,
            Some(true) => stats.candidates += 1,
            None => stats.unindexed += 1,
        }
        if may != Some(false) {
            stats.bytes = stats.bytes.saturating_add(state.size);
        }
        self.stats.set(stats);
        may != Some(false)
    }

    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        if let Some(outer) = &self.outer {
            outer.read(path, state, body, is_text);
        }
    }

    fn splits(&self) -> Vec<VPath> {
        let known = self.known.as_ref();
        known
            .map(|known| known.manifest.splits.clone())
            .unwrap_or_default()
    }

    fn hides(&self) -> bool {
        true
    }
}

/// A state as it was listed.
struct Listed {
    name: Name,
    stamp: Version,
}

/// A [`Stamp`] that is kept.
#[derive(PartialEq, Eq)]
enum Version {
    Number(u64),
    Tag(Rc<str>),
}

impl Version {
    fn of(stamp: Stamp<'_>) -> Version {
        match stamp {
            Stamp::Number(number) => Version::Number(number),
            Stamp::Tag(tag) => Version::Tag(tag.into()),
        }
    }
}

/// Collects what the index does not know.
pub struct Collect {
    pub hidden: Option<VPath>,
    pub key: Key,
    pub known: Option<Rc<Known>>,
    /// Entries are collected up to this many bytes.
    pub limit: usize,
    found: RefCell<Found>,
}

#[derive(Default)]
struct Found {
    collector: Collector,
    listed: HashMap<VPath, Listed>,
    live: HashSet<Name>,
    seen: usize,
    splits: Vec<VPath>,
    entries: Vec<Entry>,
    bytes: usize,
    is_full: bool,
}

/// What was collected.
pub struct Collected {
    /// New entries.
    pub entries: Vec<Entry>,
    /// The known states that still exist.
    pub live: HashSet<Name>,
    /// Whether more files are to be indexed.
    pub is_full: bool,
    /// Every so many files the path of one.
    pub splits: Vec<VPath>,
}

impl Collect {
    pub fn new(hidden: Option<VPath>, key: Key, known: Option<Rc<Known>>, limit: usize) -> Collect {
        Collect {
            hidden,
            key,
            known,
            limit,
            found: RefCell::new(Found::default()),
        }
    }

    pub fn take(&self) -> Collected {
        let found = self.found.take();
        Collected {
            entries: found.entries,
            live: found.live,
            is_full: found.is_full,
            splits: found.splits,
        }
    }
}

impl Sift for Collect {
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        let mut found = self.found.borrow_mut();
        found.seen += 1;
        if found.seen.is_multiple_of(PAGE) {
            found.splits.push(path.clone());
        }
        if self.hidden.as_ref().is_some_and(|dir| path.is_under(dir)) || state.size > MAX_FILE {
            return false;
        }
        let (Some(name), Some(stamp)) = (name(self.key, path, state), state.stamp) else {
            return false;
        };
        let is_known = self.known.as_ref().is_some_and(|known| {
            known.manifest.key == self.key && known.places.contains_key(&name)
        });
        if is_known {
            found.live.insert(name);
            return false;
        }
        let stamp = Version::of(stamp);
        found.listed.insert(path.clone(), Listed { name, stamp });
        !found.is_full
    }

    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        let mut found = self.found.borrow_mut();
        let Some(listed) = found.listed.remove(path) else {
            return;
        };
        // Another state than the one that was listed has no name that is known here.
        if state.stamp.map(Version::of) != Some(listed.stamp) || found.is_full {
            return;
        }
        let grams = match is_text {
            true => found.collector.collect(body),
            false => Grams::Nothing,
        };
        let entry = Entry {
            name: listed.name,
            grams,
        };
        found.bytes += entry.bytes();
        found.entries.push(entry);
        found.is_full = found.bytes >= self.limit;
    }

    fn splits(&self) -> Vec<VPath> {
        Vec::new()
    }

    fn hides(&self) -> bool {
        false
    }
}
