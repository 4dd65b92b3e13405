//! The manifest: the one file of an index that changes. It lists the segments, and is replaced only
//! under compare-and-swap.

use bytes::Bytes;

use super::hash::Key;
use super::segment::{KINDS, Shape};
use crate::core::bugs::{Bug, has};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::side::{Found, Room};

/// What the manifest is among records, and its name. An index whose manifest has another kind is of
/// another format: it is built again.
pub const KIND: &str = "index2";
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
    /// Whether the segments have every file that was there when the notes were absorbed, in its state of
    /// then or a later one.
    pub is_complete: bool,
    /// Whether they have nothing else but what `dead` names.
    pub is_exact: bool,
    /// The file that names entries which are out of date, if there are any.
    pub dead: Option<Dead>,
    /// Paths that may be in another state than the segments tell: they changed while they were read.
    pub unsure: Vec<VPath>,
    /// How many changes of each note the segments show: the first so many.
    pub absorbed: Sorted<u64, u64>,
}

/// What the manifest tells of the file that names entries which are out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dead {
    /// Its number, of which its file name is made.
    pub id: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// A hash of what it says.
    pub sum: u64,
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

    /// Adds what another one has absorbed, but for notes that are gone. Each of the two has listed all files
    /// after the changes that it has absorbed had ended, and takes an entry out only if it has listed a
    /// later state of its file: so together their entries show what both have absorbed.
    pub fn absorb(&mut self, other: &Manifest, over: &Sorted<u64, u64>) {
        for (note, count) in other.absorbed.iter() {
            if over.get(note).is_none() {
                let own = self.absorbed.get(note).copied().unwrap_or_default();
                self.absorbed.insert(*note, own.max(*count));
            }
        }
    }

    /// Adds what another update has found meanwhile. Then a path may have entries of both, and only a search
    /// can use them.
    pub fn join(&mut self, other: &Manifest) {
        self.is_complete &= other.is_complete;
        self.is_exact = false;
        for path in &other.unsure {
            if !self.unsure.contains(path) {
                self.unsure.push(path.clone());
            }
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
        for Shape {
            id,
            counts,
            catalogue,
        } in &self.segments
        {
            number(*id);
            for count in counts.iter().chain(catalogue) {
                number(u64::from(*count));
            }
        }
        number(u64::from(self.is_complete) | u64::from(self.is_exact) << 1);
        let dead = self.dead.unwrap_or(Dead::NONE);
        for part in [dead.id, dead.bytes, dead.sum, self.absorbed.len() as u64] {
            number(part);
        }
        for (note, count) in self.absorbed.iter() {
            number(*note);
            number(*count);
        }
        data.extend_from_slice(&(self.unsure.len() as u64).to_le_bytes());
        // The paths are separated by a byte that no path has.
        for path in self.unsure.iter().chain(&self.splits) {
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
            let mut catalogue = [0; 2];
            for size in &mut catalogue {
                *size = number(&mut rest)? as u32;
            }
            let shape = Shape {
                id,
                counts,
                catalogue,
            };
            if !shape.is_possible() {
                return None;
            }
            manifest.segments.push(shape);
        }
        let flags = number(&mut rest)?;
        manifest.is_complete = flags & 1 > 0;
        manifest.is_exact = flags & 2 > 0;
        let dead = Dead {
            id: number(&mut rest)?,
            bytes: number(&mut rest)?,
            sum: number(&mut rest)?,
        };
        manifest.dead = (dead != Dead::NONE).then_some(dead);
        let mut last = None;
        for _ in 0..number(&mut rest)? {
            let note = number(&mut rest)?;
            // In another order each insertion could move all that is there.
            if last.replace(note).is_some_and(|last| last >= note) {
                return None;
            }
            manifest.absorbed.insert(note, number(&mut rest)?);
        }
        let unsure = usize::try_from(number(&mut rest)?).ok()?;
        let mut paths = std::str::from_utf8(rest).ok()?.split_terminator('\n');
        for path in paths.by_ref().take(unsure) {
            manifest.unsure.push(VPath::from_stored(path)?);
        }
        manifest.splits = paths.filter_map(|path| VPath::parse(path).ok()).collect();
        Some(manifest)
    }
}

impl Dead {
    /// What stands for no such file.
    const NONE: Dead = Dead {
        id: 0,
        bytes: 0,
        sum: 0,
    };
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}
