//! What an index hashes with its key: names of file states, and checksums.

pub use crate::core::hash::{Key, hash};

/// A checksum of part `part` of the file `id`.
pub fn checksum(key: Key, id: u64, part: u64, data: &[u8]) -> [u8; 8] {
    (hash(key, [id, part], data) as u64).to_le_bytes()
}
