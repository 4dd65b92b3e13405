//! Reading the index: the manifest, the names of each segment once, and for a query the blocks that
//! it needs. All of it is read in parallel. Nothing here fails: what cannot be read is not known.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use super::Indexed;
use super::manifest::{KIND, Manifest, NAME};
use super::segment::{Name, Shape};
use crate::core::error::{Kind, Result};
use crate::core::future::{Pending, together};
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::protocol::{clipped, read_part};
use crate::search::grams::Need;
use crate::side::Found;

/// A segment of at most this many bytes is read whole, in one request.
pub const WHOLE: u64 = 128 * 1024;

/// What is known of the index.
#[derive(Default)]
pub struct Known {
    /// The manifest as it was read.
    pub stored: Bytes,
    pub manifest: Manifest,
    /// The names in each segment; none if it could not be read.
    pub names: Vec<Rc<[Name]>>,
    /// For each hash the number of a name, from 1: the names of all segments are counted together.
    table: Vec<u32>,
}

/// The index, opened for a query.
#[derive(Default)]
pub struct Opened {
    pub known: Rc<Known>,
    /// For each name, whether the file may match.
    pub may: Vec<bool>,
    /// Requests made.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// What is read of a segment.
struct Plan {
    /// The names, if they are known.
    names: Option<Rc<[Name]>>,
    blocks: Vec<usize>,
    ranges: Vec<Range<u64>>,
}

impl Plan {
    fn new(shape: &Shape, names: Option<Rc<[Name]>>, need: &Need) -> Plan {
        let grams = need.iter().flatten().flatten();
        let mut blocks: Vec<usize> = Vec::new();
        for gram in grams {
            let block = shape.block_of(*gram);
            let place = blocks.partition_point(|one| *one < block);
            if blocks.get(place) != Some(&block) {
                blocks.insert(place, block);
            }
        }
        // Neighbours are read together.
        let mut ranges: Vec<Range<u64>> = Vec::new();
        if names.is_none() {
            ranges.push(shape.names());
        }
        for block in &blocks {
            let range = shape.block(*block);
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        if !ranges.is_empty() && shape.bytes() <= WHOLE {
            ranges.clear();
            ranges.push(0..shape.bytes());
        }
        Plan {
            names,
            blocks,
            ranges,
        }
    }

    /// What was read of a range.
    fn part(&self, read: &[Result<Bytes>], wanted: &Range<u64>) -> Option<Bytes> {
        for (range, bytes) in self.ranges.iter().zip(read) {
            if range.start <= wanted.start && wanted.end <= range.end {
                return Some(clipped(bytes.as_ref().ok()?, range.start, wanted.clone()));
            }
        }
        None
    }
}

impl Indexed {
    /// The path of a file of the index.
    pub(super) fn file(&self, name: &str) -> Result<VPath> {
        self.room.path(name)
    }

    /// The path of a segment.
    pub(super) fn segment(&self, id: u64) -> Result<VPath> {
        self.file(&format!("{id:016x}.bin"))
    }

    /// A part of a segment.
    pub(super) fn read_part(&self, id: u64, range: Range<u64>) -> Pending<'_, Bytes> {
        Box::pin(async move {
            let path = self.segment(id)?;
            let part = read_part(&**self.room.at(), &path, range).await?;
            Ok(part.body)
        })
    }

    /// The manifest as it is stored; `None` if it cannot be read.
    pub(super) fn manifest(&self) -> Pending<'_, Option<Bytes>> {
        Box::pin(async move {
            let found = self.room.look(KIND, NAME).await.ok().flatten();
            // What was in its place is gone now.
            Ok(found.and_then(|(found, file)| (found != Found::Removed).then_some(file)))
        })
    }

    /// Opens the index for a query, as it was last read or as it is `now`.
    pub(super) async fn open(&self, need: &Need, now: bool) -> Opened {
        let before = self.state.known.borrow().clone();
        let mut opened = Opened::default();
        let mut stored = before.stored.clone();
        if self.state.stale.replace(false) || now || stored.is_empty() {
            opened.requests = 1;
            match self.manifest().await {
                Ok(Some(read)) => {
                    opened.bytes = read.len() as u64;
                    stored = read;
                }
                // An old manifest is better than none.
                _ if now => return opened,
                _ => {}
            }
        }
        let Some(manifest) = Manifest::decode(&stored, &self.room).await else {
            return opened;
        };
        let mut plans = Vec::new();
        let mut reads: Vec<Pending<'_, Bytes>> = Vec::new();
        for shape in &manifest.segments {
            let plan = Plan::new(shape, before.names_of(shape), need);
            for range in &plan.ranges {
                let (id, range) = (shape.id, range.clone());
                reads.push(self.read_part(id, range));
            }
            plans.push(plan);
        }
        let read = together(reads).await;
        opened.requests += read.len() as u64;
        for bytes in read.iter().flatten() {
            opened.bytes += bytes.len() as u64;
        }
        let mut rest = read.as_slice();
        let mut names = Vec::new();
        let pace = Pace::new(clock::now, timer::pause);
        for (shape, plan) in manifest.segments.iter().zip(&plans) {
            let (own, others) = rest.split_at_checked(plan.ranges.len()).unwrap_or_default();
            rest = others;
            let bytes = own.iter().flatten().map(Bytes::len).sum();
            pace.read(bytes).await;
            names.push(self.absorb(&manifest, shape, plan, own, need, &mut opened.may));
        }
        opened.known = match before.stored == stored && before.names.iter().eq(&names) {
            true => before,
            false => {
                let known = Rc::new(Known::new(stored, manifest, names).await);
                self.state.known.replace(known.clone());
                known
            }
        };
        opened
    }

    /// The names of a segment; for each of its files it adds whether it may match.
    fn absorb(
        &self,
        manifest: &Manifest,
        shape: &Shape,
        plan: &Plan,
        read: &[Result<Bytes>],
        need: &Need,
        may: &mut Vec<bool>,
    ) -> Rc<[Name]> {
        let key = manifest.key;
        let names = plan.names.clone().or_else(|| {
            let data = plan.part(read, &shape.names())?;
            shape.read_names(key, &data)
        });
        let mut intact: Vec<(usize, Bytes)> = Vec::new();
        for block in &plan.blocks {
            let data = plan.part(read, &shape.block(*block));
            if let Some(body) = data.and_then(|data| shape.read_block(key, *block, &data)) {
                intact.push((*block, body));
            }
        }
        // What failed for another reason may be there at the next try.
        let lost = |answer: &Result<Bytes>| {
            answer
                .as_ref()
                .err()
                .is_none_or(|error| error.kind() == Kind::NotFound)
        };
        if (names.is_none() || intact.len() < plan.blocks.len()) && read.iter().all(lost) {
            self.state.broken.set(Some(shape.id));
        }
        let Some(names) = names else {
            return Rc::new([]);
        };
        may.extend(shape.candidates(need, &intact));
        names
    }
}

impl Known {
    pub async fn new(stored: Bytes, manifest: Manifest, names: Vec<Rc<[Name]>>) -> Known {
        let pace = Pace::new(clock::now, timer::pause);
        let count: usize = names.iter().map(|names| names.len()).sum();
        let mut known = Known {
            stored,
            manifest,
            names,
            table: vec![0; count.saturating_mul(2).max(1).next_power_of_two()],
        };
        let names = known.names.clone();
        for (number, name) in names.iter().flat_map(|names| names.iter()).enumerate() {
            let slot = known.slot(*name);
            if let Some(slot) = known.table.get_mut(slot)
                && *slot == 0
            {
                *slot = number as u32 + 1;
            }
            pace.worked(1).await;
        }
        known
    }

    /// The name with this number, counted from 0.
    fn name(&self, mut number: usize) -> Option<Name> {
        for names in &self.names {
            match number.checked_sub(names.len()) {
                Some(behind) => number = behind,
                None => return names.get(number).copied(),
            }
        }
        None
    }

    /// The slot of a name, or where it would be. Names are hashes, so their bits serve as such.
    fn slot(&self, name: Name) -> usize {
        let mask = self.table.len().saturating_sub(1);
        let mut slot = name as usize & mask;
        loop {
            match self.table.get(slot) {
                Some(number) if *number > 0 && self.name(*number as usize - 1) != Some(name) => {
                    slot = (slot + 1) & mask;
                }
                _ => return slot,
            }
        }
    }

    /// The number of a name.
    pub fn find(&self, name: Name) -> Option<usize> {
        let number = *self.table.get(self.slot(name))?;
        (number as usize).checked_sub(1)
    }

    fn names_of(&self, shape: &Shape) -> Option<Rc<[Name]>> {
        let place = self.manifest.segments.iter().position(|one| one == shape)?;
        let names = self.names.get(place)?;
        (names.len() == shape.files()).then(|| names.clone())
    }
}
