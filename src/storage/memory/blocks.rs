//! Blocks of neighbouring files, and for each a set of the short pieces of text (grams) in it, so that a
//! search passes over a block that cannot contain its text. Blocks divide all paths, so a new file is in
//! one, too; a change of a file makes its block unknown. After a search, as many unknown blocks are read
//! as take a fraction of that search's time.
//!
//! A gram is five bytes in which the letters of ASCII are small, so that one set serves searches in either
//! case. What makes letters small also changes other bytes; these are then taken for each other, which
//! excludes less and nothing wrongly.

use std::cell::Cell;
use std::ops::Bound;

use crate::core::cell::{Ref, RefCell};
use crate::core::file::Texture;
use crate::core::path::{ByPath, VPath};
use crate::storage::File;

/// Bytes of a gram.
const GRAM: usize = 5;
/// The most bytes of a block of several files.
const BLOCK: usize = 24 << 10;
/// A larger file has too many grams, and is always searched.
const MOST: usize = 1 << 20;
/// Bytes of text for each byte of a set.
const PER_BYTE: usize = 42;
/// A search covers so many bytes for each one that is read for a set after it, which takes about a
/// quarter of its time.
const SHARE: usize = 16;
/// With less than this part of [`BLOCK`] in a block, on average, all are made anew.
const FEW: usize = 3;
/// The logarithms of the bytes of a small and of a large table.
const TABLES: [u32; 2] = [12, 15];

pub(super) struct Block {
    /// The block has the paths from this one up to the first one of the next block.
    first: VPath,
    /// The set; empty if it is not known.
    grams: Vec<u8>,
}

impl Block {
    fn unknown(first: VPath) -> Block {
        let grams = Vec::new();
        Block { first, grams }
    }
}

/// The blocks of a memory.
pub(super) struct Blocks {
    /// In order. The first one begins with the root.
    all: RefCell<Vec<Block>>,
    /// The most bytes of a block of several files.
    most: usize,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks::of(BLOCK)
    }
}

impl Blocks {
    /// Blocks of at most so many bytes.
    pub(super) fn of(most: usize) -> Blocks {
        Blocks {
            all: RefCell::renewable(Vec::new),
            most,
        }
    }

    /// The blocks as they are now.
    pub(super) fn now(&self) -> Ref<'_, Vec<Block>> {
        self.all.borrow()
    }

    /// The file at this path changes.
    pub(super) fn forget(&self, path: &VPath) {
        let mut blocks = self.all.borrow_mut();
        let at = block_of(&blocks, path.as_str());
        if let Some(block) = blocks.get_mut(at) {
            block.grams = Vec::new();
        }
    }

    /// Reads unknown blocks of these files, of `used` bytes in all, from the block of the path `from`,
    /// after a search that has covered so many bytes.
    pub(super) fn learn(&self, files: &ByPath<File>, used: u64, from: &str, covered: usize) {
        let mut left = covered / SHARE;
        if left < self.most {
            return;
        }
        let mut blocks = self.all.borrow_mut();
        if blocks.len() as u64 * (self.most / FEW) as u64 > used {
            blocks.clear();
        }
        if blocks.is_empty() {
            blocks.push(Block::unknown(VPath::root()));
        }
        let mut at = block_of(&blocks, from);
        let mut table = Vec::new();
        while left > 0 {
            let Some(block) = blocks.get(at) else { return };
            if !block.grams.is_empty() {
                at += 1;
                continue;
            }
            let end = blocks.get(at + 1).map(|block| block.first.as_str());
            let end = end.map_or(Bound::Unbounded, Bound::Excluded);
            let range = files.range::<str, _>((Bound::Included(block.first.as_str()), end));
            let (mut bodies, mut bytes, mut next) = (Vec::new(), 0, None);
            for (path, file) in range {
                if file.meta.texture == Some(Texture::Binary) {
                    continue;
                }
                if bytes > 0 && bytes + file.body.len() > self.most {
                    next = Some(path.clone());
                    break;
                }
                bytes += file.body.len();
                bodies.push(&*file.body);
            }
            let Some(grams) = grams(&bodies, bytes, &mut table) else {
                return;
            };
            left = left.saturating_sub(bytes);
            if let Some(block) = blocks.get_mut(at) {
                block.grams = grams;
            }
            at += 1;
            if let Some(first) = next {
                blocks.insert(at, Block::unknown(first));
            }
        }
    }

    /// Bytes of all sets, and of what is kept besides.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.all.borrow();
        let sets: usize = blocks.iter().map(|block| block.grams.len()).sum();
        sets + blocks.len() * size_of::<Block>()
    }
}

/// What a search looks for: texts of which every file with a match has at least one, in any case of ASCII letters.
/// Without texts every file may match.
pub(super) struct Wanted {
    /// The grams of each text.
    texts: Vec<Vec<u64>>,
}

impl Wanted {
    pub(super) fn new(texts: &[&[u8]]) -> Wanted {
        let grams = |text: &&[u8]| text.windows(GRAM).map(|five| mixed(gram(five))).collect();
        Wanted {
            texts: texts.iter().map(grams).collect(),
        }
    }

    /// Whether the block may have a file that matches.
    fn may_be_in(&self, block: &Block) -> bool {
        let length = block.grams.len();
        let size = table_for(length);
        let has = |hash: &u64| {
            let byte = ((hash << 3 >> (64 - size)) as usize).checked_rem(length);
            let byte = byte.and_then(|byte| block.grams.get(byte));
            byte.is_none_or(|byte| byte >> (hash >> 61) & 1 != 0)
        };
        self.texts.is_empty() || self.texts.iter().any(|text| text.iter().all(has))
    }
}

/// A range of paths whose files may match.
pub(super) struct Run<'a> {
    /// Where it begins, if that is behind the path from which the search goes on.
    pub first: Option<&'a str>,
    /// Where it ends, if that is not the end of all.
    pub until: Option<&'a str>,
}

/// The ranges of paths from the path `from` whose files may match. Adds the bytes that are passed over.
pub(super) fn runs<'a>(
    blocks: &'a [Block],
    from: &str,
    wanted: &'a Wanted,
    passed: &'a Cell<usize>,
) -> impl Iterator<Item = Run<'a>> {
    let start = block_of(blocks, from);
    let mut at = start;
    let mut is_over = false;
    std::iter::from_fn(move || {
        let first_of = |at: usize| blocks.get(at).map(|block| block.first.as_str());
        let excluded = |at: usize| blocks.get(at).filter(|block| !wanted.may_be_in(block));
        while let Some(block) = excluded(at) {
            passed.set(passed.get() + block.grams.len() * PER_BYTE);
            at += 1;
        }
        // The last block ends all. Without blocks there is one run.
        if is_over || (at > start && at >= blocks.len()) {
            return None;
        }
        let first = first_of(at).filter(|_| at > start);
        at += 1;
        while at < blocks.len() && excluded(at).is_none() {
            at += 1;
        }
        is_over = at >= blocks.len();
        let until = first_of(at);
        Some(Run { first, until })
    })
}

/// The number of the block with this path.
fn block_of(blocks: &[Block], path: &str) -> usize {
    let behind = blocks.partition_point(|block| block.first.as_str() <= path);
    behind.saturating_sub(1)
}

/// The logarithm of the bytes of the table from which a set of so many bytes is made.
fn table_for(bytes: usize) -> u32 {
    let [small, large] = TABLES;
    if bytes >> small == 0 { small } else { large }
}

/// The set of the grams in these bodies, of so many bytes in all. `None` if there is no memory for it.
fn grams(bodies: &[&[u8]], bytes: usize, table: &mut Vec<u8>) -> Option<Vec<u8>> {
    let length = (bytes / PER_BYTE).max(1);
    let mut set = Vec::new();
    if bytes > MOST {
        set.push(u8::MAX);
        return Some(set);
    }
    set.try_reserve_exact(length).ok()?;
    set.resize(length, 0);
    // A byte for each hash, so that marking it is one store. They are in eight parts, one for each bit of
    // the set, and a smaller set takes several bytes of each part together.
    let size = table_for(length);
    table.clear();
    table.try_reserve_exact(8 << size).ok()?;
    table.resize(8 << size, 0);
    let mut mark = |gram: u64| {
        if let Some(place) = table.get_mut((mixed(gram) >> (61 - size)) as usize) {
            *place = 1;
        }
    };
    for body in bodies {
        let mut rest = *body;
        while let Some((eight, _)) = rest.split_first_chunk::<8>() {
            let word = small(u64::from_le_bytes(*eight));
            for bits in [0, 8, 16, 24] {
                mark(word >> bits << 24);
            }
            rest = rest.get(4..).unwrap_or_default();
        }
        for last in rest.windows(GRAM) {
            mark(gram(last));
        }
    }
    for (part, bit) in table.chunks(1 << size).zip(0..8) {
        for some in part.chunks(length) {
            for (byte, seen) in set.iter_mut().zip(some) {
                *byte |= seen << bit;
            }
        }
    }
    Some(set)
}

/// Eight bytes with small letters: where the bit of 64 is set, that of 32 is set as well.
fn small(word: u64) -> u64 {
    word | (word & 0x4040_4040_4040_4040) >> 1
}

/// Five bytes, the last one in the highest byte.
fn gram(bytes: &[u8]) -> u64 {
    let shifted = |word: u64, byte: &u8| word >> 8 | u64::from(*byte) << 56;
    small(bytes.iter().fold(0, shifted))
}

fn mixed(gram: u64) -> u64 {
    gram.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
