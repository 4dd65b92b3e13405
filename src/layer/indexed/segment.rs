//! A segment: an immutable file about many files. First the names of their states, then, for each
//! hash of a trigram, one bit for each file. The bits are ordered by hash, so one short read has
//! them for all files, and its place follows from the counts in the manifest: nothing has to be
//! looked up first. `docs/search-index.md` describes the format.
//!
//! Everything that is read is checked; a part that is damaged, or belongs elsewhere, is as if it
//! were missing.

use std::ops::Range;

use super::grams::{FULL, Gram, Grams, LEAST, Need, for_each_bit};
use super::hash::{Key, checksum};

/// Kinds of files: those without text, those that any search must read, and those with a set of
/// bits, by its size.
pub const KINDS: usize = 3 + (FULL - LEAST) as usize;
/// Files without sets come first.
const PLAIN: usize = 2;
/// The rows are stored in this many slices, each with all rows of the hashes in one range.
const SLICES: usize = 1 << LEAST;
/// Slices are stored together until they have this many bytes.
const BLOCK: usize = 512;
const SUM: usize = 8;
const NAME: usize = 16;

/// A state of a file: a hash of its path, size, time and version.
pub type Name = u128;

/// A file of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its state.
    pub name: Name,
    /// Its trigrams.
    pub grams: Grams,
}

impl Entry {
    /// Its kind.
    fn kind(&self) -> usize {
        match &self.grams {
            Grams::Nothing => 0,
            Grams::Anything => 1,
            Grams::Set { size, .. } => PLAIN + (size.saturating_sub(LEAST)) as usize,
        }
    }

    /// How many bytes it adds to a segment.
    pub fn bytes(&self) -> usize {
        match &self.grams {
            Grams::Set { bits, .. } => NAME + bits.len() * 8,
            _ => NAME,
        }
    }
}

/// What the manifest tells of a segment. The layout of the file follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its number, of which its file name is made.
    pub id: u64,
    /// How many files it has of each kind.
    pub counts: [u32; KINDS],
}

/// The files of one kind that have sets.
struct Kind {
    /// The logarithm of the size of the sets.
    size: u32,
    files: usize,
    /// Where its rows begin in a slice.
    offset: usize,
    /// The index of its first file.
    first: usize,
}

impl Kind {
    fn row_bytes(&self) -> usize {
        self.files.div_ceil(8)
    }

    fn rows(&self) -> usize {
        1 << (self.size - LEAST)
    }
}

impl Shape {
    /// How many files it has.
    pub fn files(&self) -> usize {
        self.counts.iter().map(|count| *count as usize).sum()
    }

    /// What its files add to a segment, as [`Entry::bytes`] tells for one.
    pub fn entry_bytes(&self) -> u64 {
        let sized = (LEAST..).zip(self.counts.iter().skip(PLAIN));
        let sets: u64 = sized
            .map(|(size, count)| u64::from(*count) << (size - 3))
            .sum();
        sets + (self.files() * NAME) as u64
    }

    fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        let plain = self.counts.iter().take(PLAIN);
        let mut first = plain.map(|count| *count as usize).sum();
        let mut offset = 0usize;
        for (size, count) in (LEAST..).zip(self.counts.iter().skip(PLAIN)) {
            let kind = Kind {
                size,
                files: *count as usize,
                offset,
                first,
            };
            offset += kind.rows() * kind.row_bytes();
            first += kind.files;
            if kind.files > 0 {
                kinds.push(kind);
            }
        }
        kinds
    }

    fn slice_bytes(&self) -> usize {
        let sized = (LEAST..).zip(self.counts.iter().skip(PLAIN));
        sized
            .map(|(size, count)| (*count as usize).div_ceil(8) << (size - LEAST))
            .sum()
    }

    /// How many slices are in one block.
    fn per_block(&self) -> usize {
        let least = BLOCK.div_ceil(self.slice_bytes().max(1));
        least.next_power_of_two().min(SLICES)
    }

    /// Where the names are.
    pub fn names(&self) -> Range<u64> {
        0..(self.files() * NAME + SUM) as u64
    }

    /// The block with the rows of a hash.
    pub fn block_of(&self, gram: Gram) -> usize {
        (gram >> (FULL - LEAST)) as usize / self.per_block()
    }

    /// Where a block is.
    pub fn block(&self, block: usize) -> Range<u64> {
        let bytes = (self.per_block() * self.slice_bytes() + SUM) as u64;
        let from = self.names().end + block as u64 * bytes;
        from..from + bytes
    }

    /// How long the file is.
    pub fn bytes(&self) -> u64 {
        self.block(SLICES / self.per_block()).start
    }

    /// The names, if `data` has them intact.
    pub fn read_names(&self, key: Key, data: &[u8]) -> Option<Vec<Name>> {
        let body = checked(key, self.id, 0, data)?;
        let (names, rest) = body.as_chunks::<NAME>();
        if names.len() != self.files() || !rest.is_empty() {
            return None;
        }
        Some(
            names
                .iter()
                .map(|name| Name::from_le_bytes(*name))
                .collect(),
        )
    }

    /// A block, if `data` has it intact.
    pub fn read_block<'a>(&self, key: Key, block: usize, data: &'a [u8]) -> Option<&'a [u8]> {
        let body = checked(key, self.id, block as u64 + 1, data)?;
        (body.len() == self.per_block() * self.slice_bytes()).then_some(body)
    }

    /// For each file whether it may match. `block` returns a block, if it is at hand; without it
    /// nothing is excluded.
    pub fn candidates<'a>(
        &self,
        need: &Need,
        block: &dyn Fn(usize) -> Option<&'a [u8]>,
    ) -> Vec<bool> {
        let files = self.files();
        let empty = self.counts.first().map_or(0, |count| *count as usize);
        let mut may: Vec<bool> = (0..files).map(|file| file >= empty).collect();
        let kinds = self.kinds();
        for clause in need {
            let mut some = vec![false; files];
            for literal in clause {
                let mut all = vec![true; files];
                for gram in literal {
                    self.keep(&kinds, *gram, block, &mut all);
                }
                for (some, all) in some.iter_mut().zip(&all) {
                    *some |= all;
                }
            }
            for (may, some) in may.iter_mut().zip(&some) {
                *may &= some;
            }
        }
        may
    }

    /// Keeps the files with this trigram.
    fn keep<'a>(
        &self,
        kinds: &[Kind],
        gram: Gram,
        block: &dyn Fn(usize) -> Option<&'a [u8]>,
        kept: &mut [bool],
    ) {
        let Some(rows) = block(self.block_of(gram)) else {
            return;
        };
        let slice = (gram >> (FULL - LEAST)) as usize % self.per_block();
        let start = slice * self.slice_bytes();
        for kind in kinds {
            let row = (gram >> (FULL - kind.size)) as usize % kind.rows();
            let from = start + kind.offset + row * kind.row_bytes();
            let Some(bits) = rows.get(from..from + kind.row_bytes()) else {
                continue;
            };
            let files = kept.iter_mut().skip(kind.first).take(kind.files);
            for (at, kept) in files.enumerate() {
                *kept &= bits
                    .get(at / 8)
                    .is_some_and(|bits| bits >> (at % 8) & 1 == 1);
            }
        }
    }

    /// The files of a whole segment, if all of it is intact.
    pub fn decode(&self, key: Key, data: &[u8]) -> Option<Vec<Entry>> {
        let part = |range: Range<u64>| {
            let from = usize::try_from(range.start).ok()?;
            data.get(from..usize::try_from(range.end).ok()?)
        };
        let names = self.read_names(key, part(self.names())?)?;
        let kinds = self.kinds();
        let mut entries: Vec<Entry> = names
            .into_iter()
            .map(|name| Entry {
                name,
                grams: Grams::Anything,
            })
            .collect();
        let empty = self.counts.first().map_or(0, |count| *count as usize);
        for entry in entries.iter_mut().take(empty) {
            entry.grams = Grams::Nothing;
        }
        for kind in &kinds {
            for entry in entries.iter_mut().skip(kind.first).take(kind.files) {
                entry.grams = Grams::Set {
                    size: kind.size,
                    bits: vec![0; 1 << (kind.size - 6)],
                };
            }
        }
        let slice_bytes = self.slice_bytes();
        for block in 0..SLICES / self.per_block() {
            let rows = self.read_block(key, block, part(self.block(block))?)?;
            for inside in 0..self.per_block() {
                let slice = block * self.per_block() + inside;
                for kind in &kinds {
                    let start = inside * slice_bytes + kind.offset;
                    for row in 0..kind.rows() {
                        let from = start + row * kind.row_bytes();
                        let bits = rows.get(from..from + kind.row_bytes())?;
                        let place = slice * kind.rows() + row;
                        for (at, byte) in bits.iter().enumerate() {
                            for_each_bit(u64::from(*byte), |bit| {
                                let file = kind.first + at * 8 + bit;
                                set(entries.get_mut(file), place);
                            });
                        }
                    }
                }
            }
        }
        Some(entries)
    }
}

fn set(entry: Option<&mut Entry>, place: usize) {
    if let Some(Entry {
        grams: Grams::Set { bits, .. },
        ..
    }) = entry
        && let Some(word) = bits.get_mut(place >> 6)
    {
        *word |= 1 << (place & 63);
    }
}

/// The bytes before a checksum, if it is right.
fn checked(key: Key, id: u64, part: u64, data: &[u8]) -> Option<&[u8]> {
    let (body, sum) = data.split_last_chunk::<SUM>()?;
    (*sum == checksum(key, id, part, body)).then_some(body)
}

/// Builds a segment.
pub fn encode(key: Key, id: u64, mut entries: Vec<Entry>) -> (Shape, Vec<u8>) {
    crate::core::order::sort_by_key(&mut entries, Entry::kind);
    let mut counts = [0u32; KINDS];
    for entry in &entries {
        if let Some(count) = counts.get_mut(entry.kind()) {
            *count += 1;
        }
    }
    let shape = Shape { id, counts };
    let slice_bytes = shape.slice_bytes();
    let mut rows = vec![0u8; SLICES * slice_bytes];
    for kind in shape.kinds() {
        let files = entries.iter().skip(kind.first).take(kind.files);
        for (file, entry) in files.enumerate() {
            let Grams::Set { bits, .. } = &entry.grams else {
                continue;
            };
            for (at, word) in bits.iter().enumerate() {
                for_each_bit(*word, |bit| {
                    let place = at << 6 | bit;
                    let (slice, row) = (place / kind.rows(), place % kind.rows());
                    let from = slice * slice_bytes + kind.offset + row * kind.row_bytes();
                    if let Some(byte) = rows.get_mut(from + file / 8) {
                        *byte |= 1 << (file % 8);
                    }
                });
            }
        }
    }
    let length = usize::try_from(shape.bytes()).unwrap_or_default();
    let mut data = Vec::with_capacity(length);
    for entry in &entries {
        data.extend_from_slice(&entry.name.to_le_bytes());
    }
    let sum = checksum(key, id, 0, &data);
    data.extend_from_slice(&sum);
    // Files without text have no rows, but their segment has blocks, which are empty.
    let block_bytes = shape.per_block() * slice_bytes;
    for block in 0..SLICES / shape.per_block() {
        let from = block * block_bytes;
        let body = rows.get(from..from + block_bytes).unwrap_or_default();
        data.extend_from_slice(body);
        data.extend_from_slice(&checksum(key, id, block as u64 + 1, body));
    }
    (shape, data)
}
