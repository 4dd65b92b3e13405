//! The manifest: the one file of an index that changes. It lists the segments, and is replaced only
//! under compare-and-swap.

use super::hash::{Key, checksum};
use super::segment::{KINDS, Shape};
use crate::core::path::VPath;

/// The first bytes: the format and its version.
const MAGIC: &[u8; 8] = b"kitbagX1";

/// A segment that is no longer used; readers with an older manifest may still read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retired {
    /// Its number.
    pub id: u64,
    /// Since when, in microseconds.
    pub since: i64,
}

/// The manifest of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The key of its hashes.
    pub key: Key,
    /// Its segments.
    pub segments: Vec<Shape>,
    /// Segments to delete later.
    pub retired: Vec<Retired>,
    /// Paths between which there are about as many files as one page of a listing has.
    pub splits: Vec<VPath>,
}

impl Manifest {
    /// As it is stored.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        for half in self.key {
            data.extend_from_slice(&half.to_le_bytes());
        }
        for count in [self.segments.len(), self.retired.len(), self.splits.len()] {
            data.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for Shape { id, counts } in &self.segments {
            data.extend_from_slice(&id.to_le_bytes());
            for count in counts {
                data.extend_from_slice(&count.to_le_bytes());
            }
        }
        for Retired { id, since } in &self.retired {
            data.extend_from_slice(&id.to_le_bytes());
            data.extend_from_slice(&since.to_le_bytes());
        }
        for path in &self.splits {
            data.extend_from_slice(&(path.as_str().len() as u32).to_le_bytes());
            data.extend_from_slice(path.as_str().as_bytes());
        }
        let sum = checksum(self.key, 0, 0, &data);
        data.extend_from_slice(&sum);
        data
    }

    /// The manifest, if all of it is intact.
    pub fn decode(data: &[u8]) -> Option<Manifest> {
        let (body, sum) = data.split_last_chunk::<8>()?;
        let mut rest = body.strip_prefix(MAGIC)?;
        let key = [u64_of(&mut rest)?, u64_of(&mut rest)?];
        if *sum != checksum(key, 0, 0, body) {
            return None;
        }
        let (segments, retired) = (u32_of(&mut rest)?, u32_of(&mut rest)?);
        let splits = u32_of(&mut rest)?;
        let mut manifest = Manifest {
            key,
            segments: Vec::new(),
            retired: Vec::new(),
            splits: Vec::new(),
        };
        for _ in 0..segments {
            let id = u64_of(&mut rest)?;
            let mut counts = [0; KINDS];
            for count in &mut counts {
                *count = u32_of(&mut rest)?;
            }
            manifest.segments.push(Shape { id, counts });
        }
        for _ in 0..retired {
            let (id, since) = (u64_of(&mut rest)?, u64_of(&mut rest)?.cast_signed());
            manifest.retired.push(Retired { id, since });
        }
        for _ in 0..splits {
            let length = u32_of(&mut rest)? as usize;
            let (text, tail) = rest.split_at_checked(length)?;
            rest = tail;
            let path = VPath::parse(std::str::from_utf8(text).ok()?).ok()?;
            manifest.splits.push(path);
        }
        Some(manifest)
    }
}

fn u64_of(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}

fn u32_of(rest: &mut &[u8]) -> Option<u32> {
    let (head, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(u32::from_le_bytes(*head))
}
