//! The sets of [blocks](super::blocks), side by side: one word has a bit of each of 16 sets, so a search reads
//! one word for each gram of its text and 16 sets.

use std::cell::Cell;

/// Bytes of a gram.
const GRAM: usize = 4;
/// Bits of a set.
const BITS: u64 = 6_300;
/// So many grams of a text are looked up.
const LOOKED_UP: usize = 256;

/// A bit of each set of a group.
type Row = u16;

/// Sets that are side by side.
struct Group {
    /// For each bit of a set, which sets have it.
    rows: Vec<Row>,
    /// The sets that are in use.
    taken: Row,
}

/// Where the set of a block is. That of a large file takes the places of several.
#[derive(Clone, Copy)]
pub(super) struct Place {
    group: u32,
    first: u8,
    count: u8,
}

impl Place {
    fn places(self) -> Row {
        (self.first..self.first + self.count).fold(0, |places, at| places | 1 << at)
    }
}

/// All sets.
#[derive(Default)]
pub(super) struct Sets {
    groups: Vec<Group>,
    /// A byte for each bit of a new set, so that marking it is one store.
    marks: Vec<u8>,
}

impl Sets {
    /// Adds the set of the grams in these bodies, with the bits of about so many sets. `None` if there is no
    /// memory for it.
    pub(super) fn add(&mut self, bodies: &[&[u8]], count: usize) -> Option<Place> {
        let count = count.clamp(1, Row::BITS as usize) as u8;
        let (at, first) = self.room(count)?;
        let place = Place {
            group: u32::try_from(at).ok()?,
            first,
            count,
        };
        let bits = BITS * u64::from(count);
        self.marks.clear();
        self.marks.try_reserve_exact(bits as usize).ok()?;
        self.marks.resize(bits as usize, 0);
        for body in bodies {
            mark(body, bits, &mut self.marks);
        }
        let group = self.groups.get_mut(at)?;
        group.taken |= place.places();
        let marks = self.marks.chunks(usize::from(count));
        for (row, marks) in group.rows.iter_mut().zip(marks) {
            let mut seen = 0;
            for (mark, at) in marks.iter().zip(first..) {
                seen |= Row::from(*mark) << at;
            }
            *row = *row & !place.places() | seen;
        }
        Some(place)
    }

    /// Room for a set with the bits of so many: its group, and the first place there.
    fn room(&mut self, count: u8) -> Option<(usize, u8)> {
        for (at, group) in self.groups.iter().enumerate() {
            let free = (0..count).fold(Row::MAX, |free, behind| free & !group.taken >> behind);
            if free != 0 {
                return Some((at, free.trailing_zeros() as u8));
            }
        }
        let mut rows = Vec::new();
        rows.try_reserve_exact(BITS as usize).ok()?;
        rows.resize(BITS as usize, 0);
        self.groups.try_reserve(1).ok()?;
        self.groups.push(Group { rows, taken: 0 });
        Some((self.groups.len() - 1, 0))
    }

    /// The set there is not needed any more.
    pub(super) fn free(&mut self, place: Place) {
        if let Some(group) = self.groups.get_mut(place.group as usize) {
            group.taken &= !place.places();
        }
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.groups.len() * Row::BITS as usize
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.groups.len() * size_of::<Row>() * BITS as usize
    }
}

/// What a search looks for: texts of which every file with a match has at least one, in any case of ASCII letters.
/// Without texts every file may match.
pub(super) struct Wanted<'a> {
    groups: &'a [Group],
    /// The hashes of the grams of each text.
    texts: Vec<Vec<u64>>,
    /// The places of each group whose sets have them, once that was asked.
    found: Vec<Cell<Option<Row>>>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(texts: &[&[u8]], sets: &'a Sets) -> Wanted<'a> {
        let hashes = |text: &&[u8]| {
            let grams = text.windows(GRAM).take(LOOKED_UP);
            grams.map(|bytes| hash(gram(bytes))).collect()
        };
        Wanted {
            groups: &sets.groups,
            texts: texts.iter().map(hashes).collect(),
            found: match texts.is_empty() {
                true => Vec::new(),
                false => vec![Cell::new(None); sets.groups.len()],
            },
        }
    }

    /// Whether the block with this set may have a file that matches.
    pub(super) fn may_be_at(&self, place: Place) -> bool {
        let at = place.group as usize;
        let (Some(found), Some(group)) = (self.found.get(at), self.groups.get(at)) else {
            return true;
        };
        let places = match found.get() {
            Some(places) if place.count == 1 => places,
            _ => self.places(group, place),
        };
        if place.count > 1 {
            return places != 0;
        }
        found.set(Some(places));
        places >> place.first & 1 != 0
    }

    /// Where all grams of a text are: in the sets of a group, or any bit in a set that takes several places.
    fn places(&self, group: &Group, place: Place) -> Row {
        let mut any = 0;
        for text in &self.texts {
            let mut all = Row::MAX;
            for hash in text {
                let mut row = group.row(*hash);
                let count = usize::from(place.count);
                if count > 1 {
                    let at = place_of(*hash, BITS * u64::from(place.count)) % count;
                    row = row >> (usize::from(place.first) + at) & 1;
                }
                all &= row;
                if all == 0 {
                    break;
                }
            }
            any |= all;
        }
        any
    }
}

impl Group {
    fn row(&self, hash: u64) -> Row {
        let row = self.rows.get(place_of(hash, BITS)).copied();
        row.unwrap_or(Row::MAX)
    }
}

/// Marks the grams of a text in a set of so many bits.
fn mark(text: &[u8], bits: u64, marks: &mut [u8]) {
    let mut mark = |gram: u64| {
        if let Some(mark) = marks.get_mut(place_of(hash(gram), bits)) {
            *mark = 1;
        }
    };
    let mut rest = text;
    while let Some((eight, _)) = rest.split_first_chunk::<8>() {
        let word = small(u64::from_le_bytes(*eight));
        for bits in [0, 8, 16, 24] {
            mark(word >> bits << (64 - 8 * GRAM));
        }
        rest = rest.get(4..).unwrap_or_default();
    }
    for last in rest.windows(GRAM) {
        mark(gram(last));
    }
}

/// Eight bytes with small letters: where the bit of 64 is set, that of 32 is set as well.
fn small(word: u64) -> u64 {
    word | (word & 0x4040_4040_4040_4040) >> 1
}

/// The bytes of a gram, the last one in the highest byte.
fn gram(bytes: &[u8]) -> u64 {
    let shifted = |word: u64, byte: &u8| word >> 8 | u64::from(*byte) << 56;
    small(bytes.iter().fold(0, shifted))
}

/// 32 bits of a gram.
fn hash(gram: u64) -> u64 {
    gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// The place of a hash in a set of so many bits: for several times as many bits, it is among those of its row.
fn place_of(hash: u64, bits: u64) -> usize {
    ((hash * bits) >> 32) as usize
}
