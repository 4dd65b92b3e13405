//! The two sieves: one leaves out what the index excludes, and counts; the other lets through what
//! the index does not know yet, and collects the trigrams of the bodies.

use std::cell::Cell;
use std::rc::Rc;

use super::catalogue::Item;
use super::hash::{Key, hash};
use super::load::{Known, Opened};
use super::segment::{Entry, Name};
use crate::core::cell::RefCell;
use crate::core::order;
use crate::core::path::{ByPath, VPath};
use crate::protocol::{GrepStats, Only, Sieve, Sift, Stamp, State};
use crate::search::grams::{Collector, Grams};

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
    outer: Option<Sieve>,
    opened: Opened,
    stats: Cell<GrepStats>,
}

impl Search {
    pub fn new(outer: Option<Sieve>, opened: Opened) -> Search {
        let mut stats = GrepStats::default();
        // What was read of the index tells something about all files.
        if outer.as_ref().is_none_or(|outer| !outer.hides()) {
            stats.requests = opened.requests;
            stats.bytes = opened.bytes;
        }
        Search {
            outer,
            opened,
            stats: Cell::new(stats),
        }
    }

    pub fn stats(&self) -> GrepStats {
        self.stats.get()
    }
}

impl Sift for Search {
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        let outer = self.outer.as_ref();
        if outer.is_some_and(|outer| !outer.admits(path, state)) {
            return false;
        }
        let known = &self.opened.known;
        let name = name(known.manifest.key, path, state);
        let place = name.and_then(|name| known.find(name));
        let may = place.and_then(|place| self.opened.may.get(place).copied());
        // The index knows nothing of what is in such a file.
        let may = may.filter(|_| state.size <= MAX_FILE);
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

    fn tells(&self, path: &VPath) -> bool {
        self.outer.as_ref().is_none_or(|outer| outer.tells(path))
    }

    fn splits(&self) -> Vec<VPath> {
        self.opened.known.manifest.splits.clone()
    }

    fn only(&self) -> Option<Rc<Only>> {
        self.outer.as_ref()?.only()
    }

    fn skipped(&self, path: &VPath, state: &State<'_>) {
        if let Some(outer) = &self.outer {
            outer.skipped(path, state);
        }
    }

    fn hides(&self) -> bool {
        true
    }

    fn counts(&self) -> bool {
        true
    }
}

/// Collects what the index does not know.
pub struct Collect {
    key: Key,
    known: Rc<Known>,
    /// Entries are collected up to this many bytes.
    limit: u64,
    found: RefCell<Found>,
}

/// What was collected.
#[derive(Default)]
pub struct Found {
    /// New entries.
    pub entries: Vec<Entry>,
    /// For each known name, whether its file still is in this state.
    pub live: Vec<bool>,
    /// Whether more files are to be indexed.
    pub is_full: bool,
    /// Every so many files the path of one.
    pub splits: Vec<VPath>,
    /// Whether there is a file whose state has no name, so that it is in no segment.
    pub has_unnamed: bool,
    /// Files that were listed, but could not be read in that state.
    pub unread: Vec<VPath>,
    collector: Collector,
    /// The files that were admitted, in the order of the listing.
    listed: ByPath<Listed>,
    seen: usize,
    bytes: u64,
}

/// A file that was admitted.
struct Listed {
    name: Name,
    stamp: Stamped,
    item: Item,
}

/// A [`Stamp`] that is kept: of a number its bytes.
type Stamped = Box<[u8]>;

fn stamped(state: &State<'_>) -> Option<Stamped> {
    Some(match state.stamp? {
        Stamp::Number(number) => Box::from(number.to_le_bytes().as_slice()),
        Stamp::Tag(tag) => Box::from(tag.as_bytes()),
    })
}

impl Collect {
    pub fn new(key: Key, known: Rc<Known>, limit: u64) -> Collect {
        let mut found = Found::default();
        found
            .live
            .resize(known.names.iter().map(|names| names.len()).sum(), false);
        Collect {
            key,
            known,
            limit,
            found: RefCell::new(found),
        }
    }

    pub fn take(&self) -> Found {
        let mut found = self.found.take();
        let left = std::mem::take(&mut found.listed);
        found.unread.extend(left.into_keys());
        order::sort(&mut found.unread);
        found
    }

    /// A listed file that the index does not know yet; `None` if it does, or cannot.
    fn news(&self, found: &mut Found, path: &VPath, state: &State<'_>) -> Option<Listed> {
        found.seen += 1;
        if found.seen.is_multiple_of(PAGE) {
            found.splits.push(path.clone());
        }
        let (Some(name), Some(stamp)) = (name(self.key, path, state), stamped(state)) else {
            found.has_unnamed = true;
            return None;
        };
        let place = match self.known.manifest.key == self.key {
            true => self.known.find(name),
            false => None,
        };
        if let Some(place) = place {
            if let Some(live) = found.live.get_mut(place) {
                *live = true;
            }
            return None;
        }
        let item = Item {
            path: path.clone(),
            size: state.size,
            modified: state.modified.micros(),
        };
        (!found.is_full).then_some(Listed { name, stamp, item })
    }

    fn add(&self, found: &mut Found, Listed { name, item, .. }: Listed, grams: Grams) {
        let entry = Entry { name, grams, item };
        found.bytes += entry.bytes();
        found.entries.push(entry);
        found.is_full = found.bytes >= self.limit;
    }
}

impl Sift for Collect {
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        let mut found = self.found.borrow_mut();
        let Some(listed) = self.news(&mut found, path, state) else {
            return false;
        };
        if state.size > MAX_FILE {
            self.add(&mut found, listed, Grams::Unread);
            return false;
        }
        found.listed.insert(path.clone(), Box::new(listed));
        true
    }

    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        let mut found = self.found.borrow_mut();
        let Some(listed) = found.listed.remove(path) else {
            return;
        };
        // Another state than the one that was listed has no name that is known here.
        if stamped(state).as_ref() != Some(&listed.stamp) || found.is_full {
            found.unread.push(path.clone());
            return;
        }
        let grams = match is_text {
            true => found.collector.collect(body),
            false => Grams::Nothing,
        };
        self.add(&mut found, *listed, grams);
    }

    fn tells(&self, _: &VPath) -> bool {
        true
    }

    fn splits(&self) -> Vec<VPath> {
        self.known.manifest.splits.clone()
    }

    fn only(&self) -> Option<Rc<Only>> {
        None
    }

    fn skipped(&self, path: &VPath, state: &State<'_>) {
        let mut found = self.found.borrow_mut();
        if let Some(listed) = self.news(&mut found, path, state) {
            self.add(&mut found, listed, Grams::Nothing);
        }
    }

    fn hides(&self) -> bool {
        false
    }

    fn counts(&self) -> bool {
        true
    }
}
