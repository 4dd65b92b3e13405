//! The manifest: the one file of an index that changes. It lists the segments, and is replaced only
//! under compare-and-swap.

use bytes::Bytes;

use super::hash::Key;
use super::segment::{KINDS, Shape};
use crate::core::bugs::{Bug, has};
use crate::core::path::VPath;
use crate::side::{Found, Room};

/// What the manifest is among records, and its name.
pub const KIND: &str = "index";
pub const NAME: &str = "manifest.bin";

/// The manifest of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Random, so that nobody can prepare files with equal names.
    pub salt: Key,
    /// The key of its hashes: the salt, or what the key of the room makes of it. Then nobody else can
    /// make a part of a segment that is believed.
    pub key: Key,
    /// Its segments.
    pub segments: Vec<Shape>,
    /// Paths between which there are about as many files as one page of a listing has.
    pub splits: Vec<VPath>,
}

impl Manifest {
    /// The manifest of an index without segments.
    pub fn new(salt: Key, room: &Room) -> Manifest {
        Manifest {
            salt,
            key: match room.key() {
                Some(key) if !has(Bug::IndexUnsealed) => key.derived(salt),
                _ => salt,
            },
            ..Manifest::default()
        }
    }

    /// What its record says.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = Vec::new();
        let mut number = |number: u64| data.extend_from_slice(&number.to_le_bytes());
        for half in self.salt {
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
        data
    }

    /// The manifest in a file, if the file proves where it comes from.
    pub async fn decode(file: &Bytes, room: &Room) -> Option<Manifest> {
        let body = match room.opened(KIND, NAME, file).await {
            Found::Proven(body) => body,
            Found::Unproven(body) | Found::OtherKey(body) if has(Bug::IndexUnsealed) => body,
            Found::Unproven(_) | Found::OtherKey(_) | Found::Foreign | Found::Removed => {
                return None;
            }
        };
        let mut rest: &[u8] = &body;
        let salt = [number(&mut rest)?, number(&mut rest)?];
        let mut manifest = Manifest::new(salt, room);
        for _ in 0..number(&mut rest)? {
            let id = number(&mut rest)?;
            let mut counts = [0; KINDS];
            for count in &mut counts {
                *count = number(&mut rest)? as u32;
            }
            let shape = Shape { id, counts };
            if !shape.is_possible() {
                return None;
            }
            manifest.segments.push(shape);
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
