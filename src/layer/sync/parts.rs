//! What was agreed on, in parts: each has the files from its first path up to that of the next one. Of each
//! part a hash is known of what a side lists of its files while nobody changes one, so a part is read only
//! if a side lists something else.

use super::entry::{Entries, Entry, Stamp, at};
use super::plan::{Pair, Side};
use crate::core::hash::{Hasher, Key, hash};
use crate::core::path::VPath;
use crate::env::random;
use crate::protocol::FileInfo;
use crate::side;

/// The most files of a part; and how many there are before a path may end one.
const MOST: usize = 4096;
const LEAST: usize = 64;
/// One path in so many ends a part, so that a new file changes one part only.
const ENDS: u32 = 64;

/// The length of a part's name.
const NAME: usize = 32;

/// Some files that were agreed on.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name; empty if it is not stored.
    pub name: String,
    /// Its first path. The first part begins before all paths, whatever this is.
    pub first: VPath,
    /// The hashes of what the sides list of it, if no file of it is to be looked at again.
    pub sums: Pair<Option<u128>>,
    /// The bytes of the texts that are kept of it, and the first run in which one was.
    pub texts: u64,
    pub oldest: Option<u64>,
    /// Its files in order, if they were read.
    pub entries: Option<Entries>,
    /// Whether it has other files than the stored one.
    pub is_changed: bool,
}

/// What was agreed, as far as it was read.
pub struct Base {
    /// The number of the last run.
    pub run: u64,
    /// The key of the hashes. Who knows it could make two listings with one hash.
    pub key: Key,
    /// At least one part, in order of their first paths.
    pub parts: Vec<Part>,
    /// Whether something of it was lost.
    pub is_damaged: bool,
}

impl Default for Base {
    fn default() -> Base {
        Base {
            run: 0,
            key: [random::bits(), random::bits()],
            parts: vec![Part::empty()],
            is_damaged: false,
        }
    }
}

/// The hash of what a side lists of some files, if it lists enough to know each again.
pub fn sum<'a>(key: Key, files: impl Iterator<Item = (&'a VPath, Option<Stamp>)>) -> Option<u128> {
    let mut hasher = Hasher::new(key);
    for (path, stamp) in files {
        let Stamp { size, modified } = stamp?;
        hasher.number(size);
        hasher.number(modified.cast_unsigned());
        hasher.bytes(path.as_str().as_bytes());
    }
    Some(hasher.end())
}

/// Whether a part ends behind this path.
fn ends(path: &VPath, count: usize) -> bool {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    count >= MOST
        || (count >= LEAST
            && (path.as_str().bytes().fold(0x811c_9dc5, mix) >> 8).is_multiple_of(ENDS))
}

/// The bytes that a text takes where it is kept.
pub fn stored(text: u64) -> u64 {
    text.saturating_add(side::LINE as u64)
}

fn word<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

/// A word, if it is not `-`.
fn unless_none<T>(word: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match word {
        "-" => Some(None),
        word => parse(word).map(Some),
    }
}

impl Part {
    /// One without files.
    pub fn empty() -> Part {
        Part {
            name: String::new(),
            first: VPath::root(),
            sums: Pair::default(),
            texts: 0,
            oldest: None,
            entries: Some(Vec::new()),
            is_changed: false,
        }
    }

    /// One of these files, and how it is stored.
    fn of(key: Key, entries: Entries) -> (Part, String) {
        let mut body = String::new();
        for (path, entry) in &entries {
            entry.write(path, &mut body);
        }
        let mut part = Part {
            // Two parts with one name would be one file: its files would only be compared again.
            name: format!("{:032x}", hash(key, [0, 0], body.as_bytes())),
            first: entries
                .first()
                .map_or_else(VPath::root, |one| one.0.clone()),
            entries: Some(entries),
            ..Part::empty()
        };
        for side in Side::BOTH {
            let files = part.entries.iter().flatten();
            let files = files.map(|(path, entry)| (path, *entry.stamps.of(side)));
            *part.sums.of_mut(side) = sum(key, files);
        }
        part.count_texts();
        (part, body)
    }

    /// Its line in `base`.
    pub fn line(&self) -> String {
        let [a, b] = Side::BOTH.map(|side| word(self.sums.of(side).map(|sum| format!("{sum:x}"))));
        format!(
            "{} {a} {b} {} {} {}\n",
            self.name,
            self.texts,
            word(self.oldest),
            self.first.as_str()
        )
    }

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<Part> {
        let mut words = line.splitn(6, ' ');
        let name = words.next()?.to_owned();
        let is_name = name.len() == NAME && name.bytes().all(|one| one.is_ascii_alphanumeric());
        let hex = |word: &str| u128::from_str_radix(word, 16).ok();
        let sums = Pair {
            a: unless_none(words.next()?, hex)?,
            b: unless_none(words.next()?, hex)?,
        };
        let part = Part {
            name,
            sums,
            texts: words.next()?.parse().ok()?,
            oldest: unless_none(words.next()?, |run| run.parse().ok())?,
            first: VPath::from_stored(words.next()?)?,
            entries: None,
            is_changed: false,
        };
        is_name.then_some(part)
    }

    /// Notes the texts of its files.
    pub fn count_texts(&mut self) {
        (self.texts, self.oldest) = (0, None);
        for (_, entry) in self.entries.iter().flatten() {
            if let Some(run) = entry.text {
                self.texts = self.texts.saturating_add(stored(entry.size));
                self.oldest = Some(self.oldest.map_or(run, |oldest| oldest.min(run)));
            }
        }
    }

    /// Other files, and those that are gone, in order.
    fn apply(&mut self, new: &mut [(VPath, Option<Entry>)]) {
        let old = self.entries.take().unwrap_or_default();
        let mut all = Vec::with_capacity(old.len() + new.len());
        let mut new = new.iter_mut().peekable();
        let add = |all: &mut Entries, one: &mut (VPath, Option<Entry>)| {
            all.extend(one.1.take().map(|entry| (one.0.clone(), entry)));
        };
        for (path, entry) in old {
            while let Some(before) = new.next_if(|one| one.0 < path) {
                add(&mut all, before);
            }
            match new.next_if(|one| one.0 == path) {
                Some(instead) => add(&mut all, instead),
                None => all.push((path, entry)),
            }
        }
        new.for_each(|one| add(&mut all, one));
        self.entries = Some(all);
        self.is_changed = true;
        self.count_texts();
    }
}

impl Base {
    /// The place of the part that has a path, or would have it.
    pub fn place(&self, path: &VPath) -> usize {
        let behind = self.parts.partition_point(|part| part.first <= *path);
        behind.saturating_sub(1)
    }

    /// What was agreed on a path, if its part was read.
    pub fn entry(&self, path: &VPath) -> Option<&Entry> {
        let part = self.parts.get(self.place(path))?;
        at(part.entries.as_deref()?, path)
    }

    /// Where a part ends: the first path that is behind it.
    pub fn end(&self, place: usize) -> Option<&VPath> {
        self.parts.get(place + 1).map(|part| &part.first)
    }

    /// Takes the files of a part from those that a side lists from there on.
    pub fn take<'a>(&self, place: usize, rest: &mut &'a [FileInfo]) -> &'a [FileInfo] {
        let count = match self.end(place) {
            Some(end) => rest.partition_point(|info| info.path < *end),
            None => rest.len(),
        };
        let (these, others) = rest.split_at(count);
        *rest = others;
        these
    }

    /// Whether these files of a side are all that was agreed on in a part.
    pub fn is_same(&self, place: usize, side: Side, files: &[FileInfo]) -> bool {
        let wanted = self.parts.get(place).and_then(|part| *part.sums.of(side));
        let stamped = files
            .iter()
            .map(|info| (&info.path, Stamp::of(&info.entry)));
        wanted.is_some() && wanted == sum(self.key, stamped)
    }

    /// Whether some files were not read.
    pub fn is_unread(&self, place: usize) -> bool {
        let part = self.parts.get(place);
        part.is_some_and(|part| part.entries.is_none())
    }

    /// The places of these paths, which are in order.
    pub fn places<'a>(&self, paths: impl Iterator<Item = &'a VPath>) -> Vec<usize> {
        let mut places: Vec<usize> = paths.map(|path| self.place(path)).collect();
        places.dedup();
        places
    }

    /// Files in order that have other entries now or none. Their parts were read.
    pub fn apply(&mut self, mut new: Vec<(VPath, Option<Entry>)>) {
        let mut rest = new.as_mut_slice();
        while let Some((path, _)) = rest.first() {
            let place = self.place(path);
            let count = match self.end(place) {
                Some(end) => rest.partition_point(|(path, _)| path < end),
                None => rest.len(),
            };
            let (some, others) = rest.split_at_mut(count);
            if let Some(part) = self.parts.get_mut(place) {
                part.apply(some);
            }
            rest = others;
        }
    }
}

/// Cuts files into parts again.
pub struct Cut {
    key: Key,
    /// The files behind the last end.
    rest: Entries,
    /// The parts so far.
    pub parts: Vec<Part>,
    /// How the new ones among them are stored: names and bodies.
    pub bodies: Vec<(String, String)>,
}

impl Cut {
    /// With the key of a base.
    pub fn new(key: Key) -> Cut {
        Cut {
            key,
            rest: Vec::new(),
            parts: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Whether a part stays as it is if it comes next.
    pub fn keeps(&self, part: &Part) -> bool {
        self.rest.is_empty() && !part.is_changed && !part.name.is_empty()
    }

    /// The next files.
    pub fn add(&mut self, entries: Entries) {
        for (path, entry) in entries {
            let is_end = ends(&path, self.rest.len() + 1);
            self.rest.push((path, entry));
            if is_end {
                self.end();
            }
        }
    }

    /// A part ends here.
    pub fn end(&mut self) {
        if self.rest.is_empty() {
            return;
        }
        let (part, body) = Part::of(self.key, std::mem::take(&mut self.rest));
        self.bodies.push((part.name.clone(), body));
        self.parts.push(part);
    }
}
