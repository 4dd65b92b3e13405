//! What an index hashes with its key: names of file states, and checksums.

pub use crate::core::hash::Key;

/// The hash of two numbers and the bytes after them.
#[inline(never)]
pub fn hash(key: Key, head: [u64; 2], data: &[u8]) -> u128 {
    crate::core::hash::hash(key, head, data)
}

/// A checksum of part `part` of the file `id`.
pub fn checksum(key: Key, id: u64, part: u64, data: &[u8]) -> [u8; 8] {
    (hash(key, [id, part], data) as u64).to_le_bytes()
}
