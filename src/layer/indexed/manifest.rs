//! The manifest: the one file of an index that changes. It lists the segments, and is replaced only
//! under compare-and-swap.

use super::hash::{Key, checksum};
use super::segment::{KINDS, Shape};
use crate::core::path::VPath;

/// The first bytes: the format and its version.
const MAGIC: &[u8; 8] = b"kitbagX1";

/// The manifest of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The key of its hashes.
    pub key: Key,
    /// Its segments.
    pub segments: Vec<Shape>,
    /// Paths between which there are about as many files as one page of a listing has.
    pub splits: Vec<VPath>,
}

impl Manifest {
    /// As it is stored.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        let mut number = |number: u64| data.extend_from_slice(&number.to_le_bytes());
        for half in self.key {
            number(half);
        }
        number(self.segments.len() as u64);
        for Shape { id, counts } in &self.segments {
            number(*id);
            for count in counts {
                number(u64::from(*count));
            }
        }
        // The paths are separated by a byte that no path has.
        for path in &self.splits {
            data.extend_from_slice(path.as_str().as_bytes());
            data.push(b'\n');
        }
        let sum = checksum(self.key, 0, 0, &data);
        data.extend_from_slice(&sum);
        data
    }

    /// The manifest, if all of it is intact.
    pub fn decode(data: &[u8]) -> Option<Manifest> {
        let (body, sum) = data.split_last_chunk::<8>()?;
        let mut rest = body.strip_prefix(MAGIC)?;
        let mut manifest = Manifest {
            key: [number(&mut rest)?, number(&mut rest)?],
            ..Manifest::default()
        };
        if *sum != checksum(manifest.key, 0, 0, body) {
            return None;
        }
        for _ in 0..number(&mut rest)? {
            let id = number(&mut rest)?;
            let mut counts = [0; KINDS];
            for count in &mut counts {
                *count = number(&mut rest)? as u32;
            }
            manifest.segments.push(Shape { id, counts });
        }
        let paths = std::str::from_utf8(rest).ok()?.split_terminator('\n');
        manifest.splits = paths.filter_map(|path| VPath::parse(path).ok()).collect();
        Some(manifest)
    }
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}
