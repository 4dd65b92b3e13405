//! A segment: an immutable file about many files. First the names of their states, then, for each
//! hash of a trigram, one bit for each file. The bits are ordered by hash, so one short read has
//! them for all files, and its place follows from the counts in the manifest: nothing has to be
//! looked up first. Last the paths (`catalogue.rs`), for searches that list nothing.
//!
//! Numbers are little-endian. For each file there is the name of its state (16 bytes) and a set of bits:
//! bit *h* is set if a trigram of the file, in lower case, has the hash *h*. Sets have 2^10 to 2^18 bits, 3
//! to 6 for each trigram; hashes of smaller sets are leading bits of those of larger ones, so a block's
//! place follows from the manifest. A trigram that is not there seems to be in 15 to 30 % of the cases: six
//! pass 0.1 % of the other files, a text of three letters up to 30 %. Each part has a checksum (SipHash)
//! under the salt of the manifest or, if the room has a key, under what that key makes of the salt.
//!
//! Everything that is read is checked; a part that is damaged, or belongs elsewhere, is as if it
//! were missing.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use super::catalogue::{self, Item, Table};
use super::hash::{Key, checksum};
use crate::core::pace::Pace;
use crate::protocol::clipped;
use crate::search::grams::{FULL, Gram, Grams, LEAST, Need, for_each_bit};
use crate::search::sorted::sorted;

/// Kinds of files: those without text, those that any search must read, those that are too large for an
/// index, and those with a set of bits, by its size.
pub const KINDS: usize = 4 + (FULL - LEAST) as usize;
/// Files without sets come first.
const PLAIN: usize = 3;
/// The rows are stored in this many slices, each with all rows of the hashes in one range.
const SLICES: usize = 1 << LEAST;
/// Slices are stored together until they have this many bytes.
const BLOCK: usize = 512;
/// A segment with more bytes is none: no update makes one that is a quarter as large.
const LARGEST: u64 = 64 << 20;
const SUM: usize = 8;
const NAME: usize = 16;
/// The numbers of the parts of a catalogue, for their checksums.
const CATALOGUE: u64 = 1 << 32;
const TABLE: u64 = 2 << 32;
/// Bits of a set that are about as much work as one item: each is in another row.
const BITS_OF_ITEM: usize = 16;
/// About what a file adds to a catalogue, besides its path.
const ITEM: usize = 16;

/// A state of a file: a hash of its path, size, time and version.
pub type Name = u128;

/// A file of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its state.
    pub name: Name,
    /// Its trigrams.
    pub grams: Grams,
    /// What a listing shows of it.
    pub item: Item,
}

impl Entry {
    /// Its kind.
    fn kind(&self) -> usize {
        match &self.grams {
            Grams::Nothing => 0,
            Grams::Anything => 1,
            Grams::Unread => 2,
            Grams::Set { size, .. } => PLAIN + (size.saturating_sub(LEAST)) as usize,
        }
    }

    /// How many bytes it adds to a segment, at most.
    pub fn bytes(&self) -> u64 {
        let set = match &self.grams {
            Grams::Set { bits, .. } => bits.len() * 8,
            Grams::Nothing | Grams::Anything | Grams::Unread => 0,
        };
        (NAME + set + ITEM + self.item.path.as_str().len()) as u64
    }
}

/// What the manifest tells of a segment. The layout of the file follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its number, of which its file name is made.
    pub id: u64,
    /// How many files it has of each kind.
    pub counts: [u32; KINDS],
    /// The size of its catalogue: of the blocks, and of their table.
    pub catalogue: [u32; 2],
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

    /// The byte with the bit of a place in the set of a file.
    fn byte(&self, slice_bytes: usize, place: usize, file: usize) -> usize {
        let (slice, row) = (place / self.rows(), place % self.rows());
        slice * slice_bytes + self.offset + row * self.row_bytes() + file / 8
    }
}

impl Shape {
    /// Whether there can be such a segment. The other methods count on it: the numbers are somebody
    /// else's.
    pub fn is_possible(&self) -> bool {
        let files: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        files <= LARGEST / NAME as u64 && self.entry_bytes() <= LARGEST
    }

    /// How many files it has.
    pub fn files(&self) -> usize {
        self.counts.iter().map(|count| *count as usize).sum()
    }

    /// What its files add to a segment, as [`Entry::bytes`] limits it for one.
    pub fn entry_bytes(&self) -> u64 {
        let sized = (LEAST..).zip(self.counts.iter().skip(PLAIN));
        let sets: u64 = sized
            .map(|(size, count)| u64::from(*count) << (size - 3))
            .sum();
        let catalogue = self.catalogue.map(u64::from);
        sets + (self.files() * NAME) as u64 + catalogue.iter().sum::<u64>()
    }

    /// Where files of each kind begin.
    fn starts(&self) -> Vec<usize> {
        let counts = self.counts.iter();
        counts
            .scan(0, |first: &mut usize, count| {
                let start = *first;
                *first += *count as usize;
                Some(start)
            })
            .collect()
    }

    /// The first files that are too large for an index, and the first behind them.
    pub fn unread(&self) -> Range<usize> {
        let starts = self.starts();
        let place = |kind: usize| starts.get(kind).copied().unwrap_or_default();
        place(PLAIN - 1)..place(PLAIN)
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

    /// Where the table of the catalogue is: behind its blocks.
    pub fn table(&self) -> Range<u64> {
        let [blocks, table] = self.catalogue.map(u64::from);
        let from = self.catalogue_start() + blocks;
        from..from + table
    }

    /// Where a part of the catalogue is in the file.
    pub fn in_catalogue(&self, range: &Range<u64>) -> Range<u64> {
        let from = self.catalogue_start();
        from.saturating_add(range.start)..from.saturating_add(range.end)
    }

    fn catalogue_start(&self) -> u64 {
        self.block(SLICES / self.per_block()).start
    }

    /// How long the file is.
    pub fn bytes(&self) -> u64 {
        self.table().end
    }

    /// The table of the catalogue, if `data` has it intact.
    pub fn read_table(&self, key: Key, data: &Bytes) -> Option<Table> {
        let body = checked(key, self.id, TABLE, data)?;
        let [length, _] = self.catalogue.map(u64::from);
        Table::read(&body, self.files(), length, &self.starts())
    }

    /// The files of a block of the catalogue, if `data` has it intact.
    pub fn read_items(&self, key: Key, block: usize, data: &Bytes) -> Option<Vec<Item>> {
        let items = catalogue::read_block(&checked(key, self.id, CATALOGUE + block as u64, data)?)?;
        let rest = self.files().checked_sub(block * catalogue::PER_BLOCK)?;
        (items.len() == rest.min(catalogue::PER_BLOCK)).then_some(items)
    }

    /// The names, if `data` has them intact.
    pub fn read_names(&self, key: Key, data: &Bytes) -> Option<Rc<[Name]>> {
        let body = checked(key, self.id, 0, data)?;
        let (names, rest) = body.as_chunks::<NAME>();
        if names.len() != self.files() || !rest.is_empty() {
            return None;
        }
        let names = names.iter().map(|name| Name::from_le_bytes(*name));
        Some(names.collect())
    }

    /// A block, if `data` has it intact.
    pub fn read_block(&self, key: Key, block: usize, data: &Bytes) -> Option<Bytes> {
        let body = checked(key, self.id, block as u64 + 1, data)?;
        (body.len() == self.per_block() * self.slice_bytes()).then_some(body)
    }

    /// For each file whether it may match. Where a block is not at hand, nothing is excluded.
    pub fn candidates(&self, need: &Need, blocks: &[(usize, Bytes)]) -> Vec<bool> {
        let mut may = vec![false; self.files()];
        for hit in self.hits(need, blocks) {
            if let Some(may) = may.get_mut(hit) {
                *may = true;
            }
        }
        may
    }

    /// The files that may match, in order. Eight files are compared at once, because a large index has
    /// millions.
    pub fn hits(&self, need: &Need, blocks: &[(usize, Bytes)]) -> Vec<usize> {
        let empty = self.counts.first().map_or(0, |count| *count as usize);
        let mut hits: Vec<usize> = (empty..self.unread().end).collect();
        for kind in self.kinds() {
            let mut may = vec![0xffu8; kind.row_bytes()];
            for clause in need {
                let mut some = vec![0u8; may.len()];
                for literal in clause {
                    let mut all = may.clone();
                    for gram in literal {
                        let block = self.block_of(*gram);
                        if let Some((_, rows)) = blocks.iter().find(|(at, _)| *at == block) {
                            let row = rows.get(self.row(&kind, *gram)).unwrap_or_default();
                            all.iter_mut().zip(row).for_each(|(all, bits)| *all &= bits);
                        }
                    }
                    some.iter_mut()
                        .zip(&all)
                        .for_each(|(some, all)| *some |= all);
                }
                may = some;
            }
            for (at, bits) in may.iter().enumerate() {
                for_each_bit(u64::from(*bits), |bit| {
                    if at * 8 + bit < kind.files {
                        hits.push(kind.first + at * 8 + bit);
                    }
                });
            }
        }
        hits
    }

    /// Where the row of a trigram is in its block.
    fn row(&self, kind: &Kind, gram: Gram) -> Range<usize> {
        let slice = (gram >> (FULL - LEAST)) as usize % self.per_block();
        let row = (gram >> (FULL - kind.size)) as usize % kind.rows();
        let from = slice * self.slice_bytes() + kind.offset + row * kind.row_bytes();
        from..from + kind.row_bytes()
    }

    /// The files of a whole segment, if all of it is intact.
    pub async fn decode(&self, key: Key, data: &Bytes, pace: &Pace) -> Option<Vec<Entry>> {
        if data.len() as u64 != self.bytes() {
            return None;
        }
        let names = self.read_names(key, &clipped(data, 0, self.names()))?;
        let mut rows = Vec::new();
        for block in 0..SLICES / self.per_block() {
            let block_data = clipped(data, 0, self.block(block));
            rows.extend_from_slice(&self.read_block(key, block, &block_data)?);
            pace.read(block_data.len()).await;
        }
        let table = self.read_table(key, &clipped(data, 0, self.table()))?;
        let mut items = Vec::with_capacity(names.len());
        for block in 0..table.len() {
            let range = self.in_catalogue(&table.block(block)?);
            items.append(&mut self.read_items(key, block, &clipped(data, 0, range))?);
            pace.worked(catalogue::PER_BLOCK).await;
        }
        let empty = self.counts.first().map_or(0, |count| *count as usize);
        let unread = self.unread();
        let entries = names.iter().zip(items).enumerate();
        let entries = entries.map(|(file, (name, item))| Entry {
            name: *name,
            item,
            grams: match file {
                _ if file < empty => Grams::Nothing,
                _ if unread.contains(&file) => Grams::Unread,
                _ => Grams::Anything,
            },
        });
        let mut entries: Vec<Entry> = entries.collect();
        let slice_bytes = self.slice_bytes();
        for kind in self.kinds() {
            let files = entries.iter_mut().skip(kind.first).take(kind.files);
            for (file, entry) in files.enumerate() {
                let mut bits = vec![0u64; 1 << (kind.size - 6)];
                for place in 0..1usize << kind.size {
                    let at = kind.byte(slice_bytes, place, file);
                    let bit = rows.get(at).map_or(0, |byte| byte >> (file % 8) & 1);
                    if let Some(word) = bits.get_mut(place >> 6) {
                        *word |= u64::from(bit) << (place & 63);
                    }
                }
                let size = kind.size;
                entry.grams = Grams::Set { size, bits };
                pace.worked((1 << size) / BITS_OF_ITEM).await;
            }
        }
        Some(entries)
    }
}

/// The bytes before a checksum, if it is right. Where there is no key, somebody else may have made them.
fn checked(key: Key, id: u64, part: u64, data: &Bytes) -> Option<Bytes> {
    let (body, sum) = data.split_last_chunk::<SUM>()?;
    (*sum == checksum(key, id, part, body)).then(|| data.slice_ref(body))
}

/// The entries by kind, and those of a kind by path; and how many there are of each.
async fn in_order<'a>(entries: &'a [Entry], pace: &Pace) -> (Vec<&'a Entry>, [u32; KINDS]) {
    let mut kinds: [Vec<&Entry>; KINDS] = Default::default();
    for entry in entries {
        if let Some(kind) = kinds.get_mut(entry.kind()) {
            kind.push(entry);
        }
    }
    let counts = kinds.each_ref().map(|kind| kind.len() as u32);
    let mut all = Vec::with_capacity(entries.len());
    for kind in kinds {
        let paths = kind.iter().map(|entry| entry.item.path.as_str().as_bytes());
        let places = sorted(&paths.collect::<Vec<&[u8]>>(), pace).await;
        all.extend(places.iter().filter_map(|place| kind.get(*place).copied()));
    }
    (all, counts)
}

/// Builds a segment.
pub async fn encode(key: Key, id: u64, entries: Vec<Entry>, pace: &Pace) -> (Shape, Vec<u8>) {
    let (sorted, counts) = in_order(&entries, pace).await;
    let items: Vec<&Item> = sorted.iter().map(|entry| &entry.item).collect();
    let mut paths = Vec::new();
    let mut lengths = Vec::new();
    for (block, items) in items.chunks(catalogue::PER_BLOCK).enumerate() {
        let body = catalogue::block(items);
        pace.worked(items.len()).await;
        paths.extend_from_slice(&body);
        paths.extend_from_slice(&checksum(key, id, CATALOGUE + block as u64, &body));
        lengths.push((body.len() + SUM) as u64);
    }
    let table = catalogue::table(&items, &lengths);
    let size = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let shape = Shape {
        id,
        counts,
        catalogue: [size(paths.len()), size(table.len() + SUM)],
    };
    let slice_bytes = shape.slice_bytes();
    let mut rows = vec![0u8; SLICES * slice_bytes];
    for kind in shape.kinds() {
        let files = sorted.iter().skip(kind.first).take(kind.files);
        for (file, entry) in files.enumerate() {
            let Grams::Set { bits, .. } = &entry.grams else {
                continue;
            };
            for (at, word) in bits.iter().enumerate() {
                for_each_bit(*word, |bit| {
                    let place = at << 6 | bit;
                    if let Some(byte) = rows.get_mut(kind.byte(slice_bytes, place, file)) {
                        *byte |= 1 << (file % 8);
                    }
                });
            }
            pace.worked((1 << kind.size) / BITS_OF_ITEM).await;
        }
    }
    let length = usize::try_from(shape.bytes()).unwrap_or_default();
    let mut data = Vec::with_capacity(length);
    for entry in &sorted {
        data.extend_from_slice(&entry.name.to_le_bytes());
    }
    pace.read(data.len()).await;
    let sum = checksum(key, id, 0, &data);
    data.extend_from_slice(&sum);
    // Files without text have no rows, but their segment has blocks, which are empty.
    let block_bytes = shape.per_block() * slice_bytes;
    for block in 0..SLICES / shape.per_block() {
        let from = block * block_bytes;
        let body = rows.get(from..from + block_bytes).unwrap_or_default();
        data.extend_from_slice(body);
        data.extend_from_slice(&checksum(key, id, block as u64 + 1, body));
        pace.read(body.len()).await;
    }
    data.extend_from_slice(&paths);
    data.extend_from_slice(&table);
    data.extend_from_slice(&checksum(key, id, TABLE, &table));
    // Very many are freed with pauses, too.
    for entry in entries {
        drop(entry);
        pace.worked(1).await;
    }
    (shape, data)
}
