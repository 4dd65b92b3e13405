//! Entries of segments that are out of date: their files were changed or deleted. Segments do not change,
//! so these entries are named in a small file beside them.

use super::hash::{Key, checksum};
use super::manifest::Dead;
use super::pack;
use crate::core::sorted::Sorted;

/// The number of the one part of such a file, for its checksum.
const PART: u64 = 3 << 32;
const SUM: usize = 8;

/// The entries of each segment, by its number, in order.
pub type Entries = Sorted<u64, Vec<usize>>;

/// What the file says, without its checksum.
pub fn encode(dead: &Entries) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, entries) in dead.iter() {
        pack::put(&mut out, *id);
        pack::put(&mut out, entries.len() as u64);
        let mut next = 0;
        for entry in entries {
            pack::put(&mut out, entry.saturating_sub(next) as u64);
            next = entry + 1;
        }
    }
    out
}

fn decode(mut rest: &[u8]) -> Option<Entries> {
    let mut dead = Entries::new();
    while !rest.is_empty() {
        let id = pack::take(&mut rest)?;
        let (mut entries, mut next) = (Vec::new(), 0usize);
        for _ in 0..pack::take(&mut rest)? {
            let entry = next.checked_add(usize::try_from(pack::take(&mut rest)?).ok()?)?;
            entries.push(entry);
            next = entry.checked_add(1)?;
        }
        dead.insert(id, entries);
    }
    Some(dead)
}

/// A hash of what such a file says, whatever its number.
pub fn sum(key: Key, body: &[u8]) -> u64 {
    u64::from_le_bytes(checksum(key, 0, PART, body))
}

/// The file with this number, and what the manifest tells of it.
pub fn sealed(key: Key, id: u64, mut body: Vec<u8>) -> (Dead, Vec<u8>) {
    let sum = sum(key, &body);
    body.extend_from_slice(&checksum(key, id, PART, &body));
    let bytes = body.len() as u64;
    (Dead { id, bytes, sum }, body)
}

/// What a file says, if it is that of the manifest.
pub fn opened(key: Key, dead: &Dead, file: &[u8]) -> Option<Entries> {
    let (body, sum) = file.split_last_chunk::<SUM>()?;
    let is_whole = *sum == checksum(key, dead.id, PART, body) && file.len() as u64 == dead.bytes;
    is_whole.then(|| decode(body)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_damaged_ones_do_not() {
        let dead = Entries::from_iter([(7, vec![0, 1, 5, 70_000]), (1 << 60, vec![3])]);
        let key = [1, 2];
        let (told, file) = sealed(key, 9, encode(&dead));
        assert_eq!(opened(key, &told, &file), Some(dead));
        let other = Dead { id: 8, ..told };
        assert_eq!(opened(key, &other, &file), None);
        assert_eq!(opened([1, 3], &told, &file), None);
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            assert_eq!(opened(key, &told, &damaged), None);
        }
    }
}
