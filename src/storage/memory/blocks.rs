//! Blocks of neighbouring files, and for each a set of the short pieces of text (grams) in it, so that a
//! search passes over a block that cannot contain its text. Blocks divide all paths, so a new file is in
//! one, too; a change of a file makes its block unknown. After a search, as many unknown blocks are read
//! as take a fraction of that search's time.
//!
//! A gram is four bytes in which the letters of ASCII are small, so that one set serves searches in either
//! case. What makes letters small also changes other bytes; these are then taken for each other, which
//! excludes less and nothing wrongly.

use std::cell::Cell;
use std::ops::Bound;

use super::sets::{Place, Sets, Wanted};
use crate::core::cell::{Ref, RefCell};
use crate::core::file::Texture;
use crate::core::path::{ByPath, VPath};
use crate::storage::File;

/// About how many bytes a block of several files has.
const BLOCK: usize = 32 << 10;
/// A larger file has too many grams, and is always searched.
const MOST: usize = 1 << 20;
/// A search covers so many bytes for each one that is read for a set after it, which takes about a
/// quarter of its time.
const SHARE: usize = 16;
/// With less than this part of [`BLOCK`] in a block, on average, all are made anew.
const FEW: usize = 3;

struct Block {
    /// The block has the paths from this one up to the first one of the next block.
    first: VPath,
    /// Bytes of its files, as far as they are known.
    bytes: usize,
    /// What is known of them.
    known: Known,
}

#[derive(Clone, Copy)]
enum Known {
    Nothing,
    /// They are too many to be passed over.
    Large,
    Set(Place),
}

impl Block {
    fn unknown(first: VPath) -> Block {
        Block {
            first,
            bytes: 0,
            known: Known::Nothing,
        }
    }

    /// Whether it may have a file that matches.
    fn may_have(&self, wanted: &Wanted<'_>) -> bool {
        match self.known {
            Known::Set(place) => wanted.may_be_at(place),
            Known::Nothing | Known::Large => true,
        }
    }
}

/// What is known of the files of a memory.
#[derive(Default)]
pub(super) struct All {
    /// In order. The first one begins with the root.
    blocks: Vec<Block>,
    pub(super) sets: Sets,
}

/// The blocks of a memory.
pub(super) struct Blocks {
    all: RefCell<All>,
    /// About how many bytes a block of several files has.
    size: usize,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks::of(BLOCK)
    }
}

impl Blocks {
    /// Blocks of about so many bytes.
    pub(super) fn of(size: usize) -> Blocks {
        Blocks {
            all: RefCell::renewable(All::default),
            size,
        }
    }

    /// The blocks as they are now.
    pub(super) fn now(&self) -> Ref<'_, All> {
        self.all.borrow()
    }

    /// The file at this path changes.
    pub(super) fn forget(&self, path: &VPath) {
        let mut all = self.all.borrow_mut();
        let All { blocks, sets } = &mut *all;
        let at = block_of(blocks, path.as_str());
        if let Some(block) = blocks.get_mut(at) {
            if let Known::Set(place) = block.known {
                sets.free(place);
            }
            block.known = Known::Nothing;
        }
    }

    /// Reads unknown blocks of these files, of `used` bytes in all, from the block of the path `from`,
    /// after a search that has covered so many bytes.
    pub(super) fn learn(&self, files: &ByPath<File>, used: u64, from: &str, covered: usize) {
        let mut left = covered / SHARE;
        if left < self.size {
            return;
        }
        let mut all = self.all.borrow_mut();
        let many = all.blocks.len().max(all.sets.places());
        if many as u64 * (self.size / FEW) as u64 > used {
            *all = All::default();
        }
        let All { blocks, sets } = &mut *all;
        if blocks.is_empty() {
            blocks.push(Block::unknown(VPath::root()));
        }
        let mut at = block_of(blocks, from);
        while left > 0 {
            let Some(block) = blocks.get(at) else { return };
            if !matches!(block.known, Known::Nothing) {
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
                if bytes > 0 && bytes + file.body.len() / 2 > self.size {
                    next = Some(path.clone());
                    break;
                }
                bytes += file.body.len();
                bodies.push(&*file.body);
            }
            let known = match bytes > MOST {
                true => Known::Large,
                false => match sets.add(&bodies, (bytes + self.size / 2) / self.size) {
                    Some(place) => Known::Set(place),
                    None => return,
                },
            };
            left = left.saturating_sub(bytes);
            if let Some(block) = blocks.get_mut(at) {
                block.known = known;
                block.bytes = bytes;
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
        let all = self.all.borrow();
        all.sets.bytes() + all.blocks.len() * size_of::<Block>()
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
    all: &'a All,
    from: &str,
    wanted: &'a Wanted<'a>,
    passed: &'a Cell<usize>,
) -> impl Iterator<Item = Run<'a>> {
    let blocks = &all.blocks;
    let start = block_of(blocks, from);
    let mut at = start;
    let mut is_over = false;
    std::iter::from_fn(move || {
        let first_of = |at: usize| blocks.get(at).map(|block| block.first.as_str());
        let excluded = |at: usize| blocks.get(at).filter(|block| !block.may_have(wanted));
        while let Some(block) = excluded(at) {
            passed.set(passed.get() + block.bytes);
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
