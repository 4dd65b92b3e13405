//! Merging segments apart from updates, so that somebody can do it in the background. A merge reads no
//! file: it lists them, leaves out the entries of states that are no more, and writes the others into
//! few large segments. New segments are stored first; then one compare-and-swap of the manifest
//! exchanges all of them. A merge that is interrupted before it leaves files that no manifest names.
//!
//! Several merges and updates may run at once. If another writer has merged one of the segments
//! meanwhile, the whole merge is given up and begun again, so no entry is ever in the index twice
//! because of merges.

use std::collections::HashSet;

use super::Indexed;
use super::load::Known;
use super::manifest::Manifest;
use super::segment::{Entry, Name, Shape, encode};
use super::update::Gone;
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::env::random;
use crate::protocol::{Backend, Content};

/// How often a merge is begun again after another writer was faster.
const ATTEMPTS: usize = 4;
/// One out of so many entries must be out of date for a segment to be written again by itself.
const DEAD: usize = 4;

/// What a merge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merge {
    /// Segments that were merged into others.
    pub merged: u64,
    /// Entries that were dropped.
    pub dropped: u64,
    /// Segments now.
    pub segments: u64,
    /// Size of the index in bytes.
    pub bytes: u64,
}

/// A segment with its entries that are up to date.
struct Part<'a> {
    shape: &'a Shape,
    /// For each of its files, whether it still is in this state.
    live: &'a [bool],
    /// About how large these entries are.
    bytes: u64,
}

impl Part<'_> {
    fn is_mostly_live(&self) -> bool {
        let dead = self.live.iter().filter(|live| !**live).count();
        dead.saturating_mul(DEAD) < self.live.len()
    }
}

impl Indexed {
    /// Merges small segments and those with many entries that are out of date.
    pub async fn merge(&self) -> Result<Merge> {
        if !self.capability().indexed {
            return Err(Error::new(Kind::Unsupported, super::NO_VERSIONS));
        }
        for _ in 0..ATTEMPTS {
            let known = self.open(&Vec::new(), true).await.known;
            if known.manifest.segments.is_empty() {
                return Ok(Merge::default());
            }
            let found = self.collect(known.clone(), 0).await?;
            let mut merge = Merge::default();
            let groups = groups(&known, &found.live, self.limit());
            if groups.is_empty() {
                return Ok(merge.of(&known.manifest));
            }
            let mut next = Manifest {
                key: known.manifest.key,
                segments: Vec::new(),
                splits: found.splits,
            };
            let mut gone = Vec::new();
            let mut seen = HashSet::new();
            for group in &groups {
                let entries = self.entries(&known, group, &mut seen, &mut merge).await;
                gone.extend(group.iter().map(|part| part.shape.id));
                if entries.is_empty() {
                    continue;
                }
                let (shape, data) = encode(known.manifest.key, random::bits(), entries);
                let path = self.segment(shape.id)?;
                self.keep.write(&path, Content::New(data.into())).await?;
                next.segments.push(shape);
            }
            merge.merged = gone.len() as u64;
            let own = next.segments.clone();
            let gone = Gone::All(gone);
            if self.publish(known.stored.clone(), &mut next, &gone).await? {
                self.state.stale.set(true);
                self.sweep(&next).await;
                return Ok(merge.of(&next));
            }
            for shape in own {
                // The manifest was read: it does not name them.
                let _ = self.keep.delete(&self.segment(shape.id)?, None).await;
            }
        }
        let now = self.open(&Vec::new(), true).await.known;
        Ok(Merge::default().of(&now.manifest))
    }

    /// The entries of a group that are up to date, each once.
    async fn entries(
        &self,
        known: &Known,
        group: &[Part<'_>],
        seen: &mut HashSet<Name>,
        merge: &mut Merge,
    ) -> Vec<Entry> {
        let mut entries = Vec::new();
        for Part { shape, live, .. } in group {
            let data = self.read_part(shape.id, 0..shape.bytes()).await;
            let data = data.unwrap_or_default();
            // The files of a segment that cannot be read are indexed by the next update.
            let old = shape.decode(known.manifest.key, &data).unwrap_or_default();
            for (entry, live) in old.into_iter().zip(live.iter()) {
                match *live && seen.insert(entry.name) {
                    true => entries.push(entry),
                    false => merge.dropped += 1,
                }
            }
        }
        entries
    }
}

impl Merge {
    fn of(mut self, manifest: &Manifest) -> Merge {
        for shape in &manifest.segments {
            self.segments += 1;
            self.bytes += shape.bytes();
        }
        self
    }
}

/// The segments to merge, smallest first: each group gives one segment of at most `limit` bytes.
fn groups<'a>(known: &'a Known, live: &'a [bool], limit: u64) -> Vec<Vec<Part<'a>>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let mut first = 0usize;
    for (shape, names) in known.manifest.segments.iter().zip(&known.names) {
        let live = live.get(first..first + names.len()).unwrap_or_default();
        first += names.len();
        let count = live.iter().filter(|live| **live).count() as u64;
        let all = shape.files().max(1) as u64;
        // Multiplied first: both are far below the square root of the largest number.
        let bytes = shape.entry_bytes().saturating_mul(count) / all;
        parts.push(Part { shape, live, bytes });
    }
    order::sort_by_key(&mut parts, |part| part.bytes);
    let mut groups: Vec<Vec<Part<'a>>> = Vec::new();
    let mut bytes = 0u64;
    for part in parts {
        bytes = bytes.saturating_add(part.bytes);
        match groups.last_mut() {
            Some(group) if bytes <= limit => group.push(part),
            _ => {
                bytes = part.bytes;
                groups.push(vec![part]);
            }
        }
    }
    // One segment alone is written again only to drop entries.
    groups.retain(|group| group.len() > 1 || !group.iter().all(Part::is_mostly_live));
    groups
}
