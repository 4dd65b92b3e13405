//! Merging segments apart from updates, so that somebody can do it in the background. A merge reads no
//! file: it lists them, leaves out the entries of states that are no more, and writes the others into
//! few large segments. New segments are stored first; then one compare-and-swap of the manifest
//! exchanges all of them. A merge that is interrupted before it leaves files that no manifest names.
//!
//! Several merges and updates may run at once. If another writer has merged one of the segments
//! meanwhile, the whole merge is given up and begun again, so no entry is ever in the index twice
//! because of merges.

use super::Indexed;
use super::load::Known;
use super::manifest::Manifest;
use super::segment::Shape;
use super::update::{Gone, live_bytes};
use crate::core::error::{Error, Kind, Result};
use crate::protocol::{Backend, BackendExt};

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

impl Indexed {
    /// Merges small segments and those with many entries that are out of date.
    pub async fn merge(&self) -> Result<Merge> {
        if !self.capability().indexed {
            return Err(Error::new(Kind::Unsupported, super::NO_VERSIONS));
        }
        self.room.check().await?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let known = self.open(&Vec::new(), true).await.known;
            let found = self.collect(known.clone(), 0).await?;
            let chosen = chosen(&known, &found.live, self.limit());
            if chosen.is_empty() || attempts > ATTEMPTS {
                return Ok(Merge::default().of(&known.manifest));
            }
            let mut next = Manifest {
                salt: known.manifest.salt,
                key: known.manifest.key,
                segments: Vec::new(),
                splits: found.splits,
            };
            let mut merge = Merge::default();
            let (mut gone, mut entries, mut bytes) = (Vec::new(), Vec::new(), 0u64);
            for (shape, live) in chosen {
                let more = live_bytes(shape, Some(live));
                if bytes.saturating_add(more) > self.limit() && !entries.is_empty() {
                    let full = std::mem::take(&mut entries);
                    next.segments.push(self.store(next.key, full).await?);
                    bytes = 0;
                }
                bytes += more;
                gone.push(shape.id);
                let mut old = self.entries_of(next.key, shape, Some(live)).await?;
                merge.dropped += shape.files().saturating_sub(old.len()) as u64;
                entries.append(&mut old);
            }
            if !entries.is_empty() {
                next.segments.push(self.store(next.key, entries).await?);
            }
            merge.merged = gone.len() as u64;
            let own: Vec<u64> = next.segments.iter().map(|shape| shape.id).collect();
            let gone = Gone::All(gone);
            if self.publish(known.stored.clone(), &mut next, &gone).await? {
                self.state.stale.set(true);
                self.sweep(&next).await;
                return Ok(merge.of(&next));
            }
            for id in own {
                // The manifest was read: it does not name them.
                let _ = self.room.at().delete(&self.segment(id)?, None).await;
            }
        }
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

/// The segments to merge, each with what tells which of its entries are up to date.
fn chosen<'a>(known: &'a Known, live: &'a [bool], limit: u64) -> Vec<(&'a Shape, &'a [bool])> {
    let mut chosen = Vec::new();
    let (mut first, mut drops) = (0usize, false);
    for (shape, names) in known.manifest.segments.iter().zip(&known.names) {
        let live = live.get(first..first + names.len()).unwrap_or_default();
        first += names.len();
        let dead = live.iter().filter(|live| !**live).count();
        let is_stale = live.is_empty() || dead.saturating_mul(DEAD) >= live.len();
        if is_stale || live_bytes(shape, Some(live)) <= limit / 2 {
            chosen.push((shape, live));
            drops |= is_stale;
        }
    }
    // One alone is written again only to drop entries.
    if chosen.len() < 2 && !drops {
        chosen.clear();
    }
    chosen
}
