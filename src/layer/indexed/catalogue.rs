//! The catalogue of a segment: the paths of its files, with size and time, in the order of its rows. So
//! the bit of a row leads to a path, and nothing has to be listed. Files of one kind are in order of
//! their paths, in blocks of [`PER_BLOCK`]; a table has where each block is and its first path.

use std::ops::Range;

use super::pack;
use crate::core::path::VPath;

/// Files in a block.
pub const PER_BLOCK: usize = 128;

/// A file, as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its path.
    pub path: VPath,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written, in microseconds.
    pub modified: i64,
}

/// Where the blocks are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Its bytes in the catalogue, with those of its checksum.
    range: Range<u64>,
    first: Vec<u8>,
    /// Whether its files and the first of the next block are of one kind, so that their paths are in order.
    is_sorted: bool,
}

/// A block of a catalogue: at most [`PER_BLOCK`] files.
pub fn block(items: &[&Item]) -> Vec<u8> {
    let (mut out, mut last, mut time) = (Vec::new(), Vec::new(), 0);
    for item in items {
        pack::put_text(&mut out, &mut last, item.path.as_str().as_bytes());
        pack::put(&mut out, item.size);
        pack::put_step(&mut out, time, item.modified);
        time = item.modified;
    }
    out
}

/// The files of a block; `None` if it is none.
pub fn read_block(mut rest: &[u8]) -> Option<Vec<Item>> {
    let (mut items, mut last, mut time) = (Vec::new(), Vec::new(), 0);
    // A few bytes can stand for a long path, so what has too many is left at once.
    while !rest.is_empty() && items.len() < PER_BLOCK {
        pack::take_text(&mut rest, &mut last)?;
        let size = pack::take(&mut rest)?;
        time = pack::take_step(&mut rest, time)?;
        items.push(Item {
            path: VPath::from_stored(std::str::from_utf8(&last).ok()?)?,
            size,
            modified: time,
        });
    }
    rest.is_empty().then_some(items)
}

/// The table of blocks that have these lengths.
pub fn table(items: &[&Item], lengths: &[u64]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), Vec::new());
    for (items, length) in items.chunks(PER_BLOCK).zip(lengths) {
        pack::put(&mut out, *length);
        let first = items.first().map_or("", |item| item.path.as_str());
        pack::put_text(&mut out, &mut last, first.as_bytes());
    }
    out
}

impl Table {
    /// The table of `files` files, whose blocks together have this length, and whose kinds begin at
    /// `starts`; `None` if it is none.
    pub fn read(mut rest: &[u8], files: usize, length: u64, starts: &[usize]) -> Option<Table> {
        let (mut blocks, mut last, mut at) = (Vec::new(), Vec::new(), 0u64);
        let count = files.div_ceil(PER_BLOCK);
        while !rest.is_empty() && blocks.len() < count {
            let end = at.checked_add(pack::take(&mut rest)?)?;
            pack::take_text(&mut rest, &mut last)?;
            let (from, to) = (blocks.len() * PER_BLOCK, (blocks.len() + 1) * PER_BLOCK);
            blocks.push(Block {
                range: at..end,
                first: last.clone(),
                is_sorted: !starts.iter().any(|start| from < *start && *start <= to),
            });
            at = end;
        }
        let is_whole = rest.is_empty() && blocks.len() == count && at == length;
        is_whole.then_some(Table { blocks })
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Where a block is.
    pub fn block(&self, block: usize) -> Option<Range<u64>> {
        self.blocks.get(block).map(|block| block.range.clone())
    }

    /// Whether a block may have files whose paths are at or below `root`.
    pub fn may_have(&self, block: usize, root: &VPath) -> bool {
        let Some(own) = self.blocks.get(block).filter(|block| block.is_sorted) else {
            return true;
        };
        let (from, root) = (own.first.as_slice(), root.as_str().as_bytes());
        let to = self.blocks.get(block + 1).map(|next| next.first.as_slice());
        // All paths at and below the root begin with it.
        to.is_none_or(|to| to >= root) && (from <= root || from.starts_with(root))
    }

    /// The directory directly in `root` that has all files of a block, if that is known from the table.
    pub fn inside(&self, block: usize, root: &VPath) -> Option<VPath> {
        let own = self.blocks.get(block).filter(|block| block.is_sorted)?;
        let next = self.blocks.get(block + 1)?;
        let above = root.dir_prefix();
        let rest = own.first.strip_prefix(above.as_bytes())?;
        let length = above.len() + rest.iter().position(|byte| *byte == b'/')?;
        // What is between two paths that begin with it does so, too.
        let prefix = own.first.get(..=length)?;
        if !next.first.starts_with(prefix) {
            return None;
        }
        VPath::from_stored(std::str::from_utf8(own.first.get(..length)?).ok()?)
    }

    /// Whether the first file of a block is directly in `root`.
    pub fn begins_in(&self, block: usize, root: &VPath) -> bool {
        let above = root.dir_prefix();
        let first = self.blocks.get(block).map(|block| block.first.as_slice());
        let rest = first.and_then(|first| first.strip_prefix(above.as_bytes()));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(&b'/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(number: usize) -> Item {
        Item {
            path: VPath::parse(&format!("/{number:04}")).expect("a path"),
            size: 1,
            modified: 7,
        }
    }

    #[test]
    fn more_files_than_a_block_has_are_none_and_more_blocks_than_there_are_too() {
        let items: Vec<Item> = (0..PER_BLOCK * 2).map(item).collect();
        let items: Vec<&Item> = items.iter().collect();
        let each: Vec<Vec<u8>> = items.chunks(PER_BLOCK).map(block).collect();
        let [one, two] = each.try_into().expect("two blocks");
        assert_eq!(read_block(&one).map(|items| items.len()), Some(PER_BLOCK));
        // Three bytes more are another file of the same path.
        let mut many = one.clone();
        for _ in 0..1_000_000 {
            many.extend_from_slice(&[5, 0, 1, 0]);
        }
        assert_eq!(read_block(&many), None);
        let lengths = [one.len() as u64, two.len() as u64];
        let body = table(&items, &lengths);
        let length = lengths.iter().sum();
        let read = |body: &[u8], files| Table::read(body, files, length, &[]);
        assert!(read(&body, items.len()).is_some());
        assert_eq!(read(&body, PER_BLOCK), None);
        let mut many = body.clone();
        for _ in 0..1_000_000 {
            many.extend_from_slice(&[0, 5, 0]);
        }
        assert_eq!(read(&many, items.len()), None);
    }
}
