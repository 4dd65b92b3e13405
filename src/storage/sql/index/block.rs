//! A block: the sets of trigrams of some files, turned round. For each bit of a set it has a slice with
//! one bit for each file, so that a search reads a few slices and not all sets. Pure: the statements
//! are elsewhere.
//!
//! A block never changes, and what it says of a file is true for ever: it knows files by numbers that
//! stand for one state of one file.

use crate::search::grams::{Gram, Grams, LEAST, Need, for_each_bit};
use crate::storage::sql::index::terms::numbers;

/// Most bytes of a block: a database may limit the size of one value.
pub const MOST_BYTES: usize = 1 << 20;
/// Most files of a block.
pub const MOST_FILES: usize = 2_048;
/// Bytes of slices that are stored in one row.
const ROW: usize = 16 * 1024;

/// The sets of trigrams of some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The logarithm of the number of slices.
    pub size: u32,
    /// The numbers of the files, ascending.
    pub files: Vec<i64>,
    /// All slices.
    pub slices: Vec<u8>,
}

/// How the slices of a block are divided among rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a slice.
    pub width: usize,
    /// Slices in a row.
    pub each: usize,
    /// Rows.
    pub rows: usize,
}

/// Most files of a block with slices for that size.
pub fn most_files(size: u32) -> usize {
    (MOST_BYTES << 3 >> size).min(MOST_FILES)
}

/// The size of the slices that a set is for.
pub fn size_of(grams: &Grams) -> u32 {
    match grams {
        Grams::Set { size, .. } => *size,
        Grams::Nothing | Grams::Anything | Grams::Unread => LEAST,
    }
}

fn width(files: usize) -> usize {
    files.div_ceil(8)
}

/// The bit of the file at this place, in its byte.
fn bit(at: usize) -> u8 {
    1 << (at & 7)
}

impl Block {
    fn empty(size: u32, files: Vec<i64>) -> Block {
        Block {
            size,
            slices: vec![0; width(files.len()) << size],
            files,
        }
    }

    /// The block of sets that are all of this size.
    pub fn of(size: u32, sets: &[(i64, Grams)]) -> Block {
        let mut block = Block::empty(size, sets.iter().map(|(file, _)| *file).collect());
        let width = width(sets.len());
        for (at, (_, grams)) in sets.iter().enumerate() {
            match grams {
                Grams::Nothing => {}
                Grams::Anything | Grams::Unread => {
                    let all = block.slices.iter_mut().skip(at >> 3).step_by(width);
                    all.for_each(|byte| *byte |= bit(at));
                }
                Grams::Set { bits, .. } => {
                    for (word, from) in bits.iter().zip((0usize..).step_by(64)) {
                        for_each_bit(*word, |place| {
                            let byte = (from + place) * width + (at >> 3);
                            if let Some(byte) = block.slices.get_mut(byte) {
                                *byte |= bit(at);
                            }
                        });
                    }
                }
            }
        }
        block
    }

    /// One block of the files that live, of several blocks of one size. `None` if a living file is in
    /// none of them.
    pub fn merged(blocks: &[Block], live: &[i64]) -> Option<Block> {
        let size = blocks.first()?.size;
        let mut places = Vec::with_capacity(live.len());
        for file in live {
            places.push(blocks.iter().find_map(|block| {
                let place = block.files.binary_search(file).ok()?;
                (block.size == size).then_some((block, place))
            })?);
        }
        let mut merged = Block::empty(size, live.to_vec());
        let to = width(live.len()).max(1);
        for (slice, target) in merged.slices.chunks_mut(to).enumerate() {
            for (at, (block, place)) in places.iter().enumerate() {
                let source = slice * width(block.files.len()) + (place >> 3);
                let set = block
                    .slices
                    .get(source)
                    .is_some_and(|b| b & bit(*place) != 0);
                if let Some(byte) = target.get_mut(at >> 3).filter(|_| set) {
                    *byte |= bit(at);
                }
            }
        }
        Some(merged)
    }

    /// How it is stored.
    pub fn layout(&self) -> Layout {
        let width = width(self.files.len()).max(1);
        let each = (ROW / width).clamp(1, 1 << self.size);
        Layout {
            width,
            each,
            rows: (1usize << self.size).div_ceil(each),
        }
    }

    /// The numbers of the files, as pairs of the first and the last of those without a gap: files that
    /// were written together have a short text.
    pub fn ranges(&self) -> String {
        let mut text = String::from("[");
        let mut files = self.files.iter().copied().peekable();
        while let Some(first) = files.next() {
            let mut last = first;
            while let Some(next) = files.next_if_eq(&last.saturating_add(1)) {
                last = next;
            }
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&format!("[{first},{last}]"));
        }
        text.push(']');
        text
    }
}

/// The files of a block, from that text.
pub fn files_of(ranges: &str) -> Vec<i64> {
    let mut ends = numbers(ranges);
    let mut files = Vec::new();
    while let (Some(first), Some(last)) = (ends.next(), ends.next()) {
        let room = MOST_FILES.saturating_sub(files.len());
        files.extend((first..=last).take(room));
    }
    files
}

/// The places of the files that have what a search needs, by the slices of a block. `None` if they
/// exclude nothing.
pub fn matching<'a>(need: &Need, slice: impl Fn(Gram) -> Option<&'a [u8]>) -> Option<Vec<usize>> {
    let mut all: Option<Vec<u8>> = None;
    for clause in need {
        let mut any: Option<Vec<u8>> = None;
        for literal in clause {
            let mut both: Option<Vec<u8>> = None;
            // A slice that is missing excludes nothing.
            for slice in literal.iter().filter_map(|gram| slice(*gram)) {
                combine(&mut both, slice, |a, b| a & b);
            }
            match both {
                Some(both) => combine(&mut any, &both, |a, b| a | b),
                None => {
                    any = None;
                    break;
                }
            }
        }
        if let Some(any) = any {
            combine(&mut all, &any, |a, b| a & b);
        }
    }
    let mut places = Vec::new();
    for (byte, from) in all?.iter().zip((0usize..).step_by(8)) {
        for_each_bit(u64::from(*byte), |place| places.push(from + place));
    }
    Some(places)
}

fn combine(into: &mut Option<Vec<u8>>, slice: &[u8], of: impl Fn(u8, u8) -> u8) {
    match into {
        None => *into = Some(slice.to_vec()),
        Some(bytes) => {
            for (byte, other) in bytes.iter_mut().zip(slice) {
                *byte = of(*byte, *other);
            }
        }
    }
}
