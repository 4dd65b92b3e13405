//! Writing the index. New segments are created, never changed; then the manifest is replaced if no
//! other writer has replaced it meanwhile. A writer that loses adds its segment to the other's
//! manifest, or begins again if the other has merged a segment that it has merged, too: so no entry
//! is in the index twice because of merges. Whatever is interrupted, and what was merged, leaves
//! files that no manifest names; a later update deletes them.
//!
//! There is no other way to merge: each update keeps the segments few, and what it writes is at most
//! one segment, so that an update after a small change stays cheap.

use std::rc::Rc;

use bytes::Bytes;

use super::Indexed;
use super::hash::Key;
use super::load::Known;
use super::manifest::{KIND, Manifest, NAME};
use super::segment::{Entry, Shape, encode};
use super::sift::{Collect, Found};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::{clock, random};
use crate::protocol::{Backend, BackendExt, Content, EntryInfo, FileInfo, GrepQuery, Sieve};

/// A segment is not merged beyond this many bytes.
const SEGMENT: u64 = 16 << 20;
/// A file that no manifest names is deleted after this time, in microseconds: its writer is gone,
/// and so are readers with an older manifest.
const ORPHAN: i64 = 60 * 60 * 1_000_000;
/// An update leaves at most this many segments that could be merged.
const FEW: usize = 4;
/// A segment is written again by itself if one out of so many of its entries is out of date.
const DEAD: usize = 4;
/// How often a manifest is replaced again after another writer has done so.
const REPLAYS: usize = 16;

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Files that were added.
    pub added: u64,
    /// Segments that were merged into others.
    pub merged: u64,
    /// Files in the index now.
    pub files: u64,
    /// Its segments.
    pub segments: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What a merge stored.
struct Merged {
    /// The new segment, if there is anything in it.
    new: Option<Shape>,
    /// The segments that it replaces.
    gone: Vec<u64>,
    /// The paths for listing.
    splits: Vec<VPath>,
}

/// About how large the entries of a segment are that are up to date.
fn live_bytes(shape: &Shape, live: Option<&[bool]>) -> u64 {
    let Some(live) = live else {
        return shape.entry_bytes();
    };
    let count = live.iter().filter(|live| **live).count() as u64;
    // Both are far below the square root of the largest number.
    shape.entry_bytes().saturating_mul(count) / (shape.files().max(1) as u64)
}

impl Indexed {
    /// Adds the files that the index does not know, and removes what no longer exists.
    pub async fn update(&self) -> Result<Updated> {
        if !self.capability().indexed {
            return Err(Error::new(Kind::Unsupported, super::NO_VERSIONS));
        }
        self.room.check().await?;
        let mut updated = Updated::default();
        let mut attempts = 0;
        while attempts < REPLAYS {
            let mut known = self.open(&Vec::new(), true).await.known;
            if known.stored.is_empty() {
                if let Some((found, file)) = self.room.look(KIND, NAME).await? {
                    self.room.keep_other(NAME, &found, &file).await?;
                }
                let salt = [random::bits(), random::bits()];
                let mut new = Known::default();
                new.manifest = Manifest::new(salt, &self.room);
                known = Rc::new(new);
            }
            let found = self.collect(known.clone()).await?;
            let (count, is_full) = (found.entries.len() as u64, found.is_full);
            let Merged { new, gone, splits } = self.merged(&known, found).await?;
            let mut next = Manifest {
                salt: known.manifest.salt,
                key: known.manifest.key,
                segments: new.iter().cloned().collect(),
                splits,
            };
            if !self.publish(known.stored.clone(), &mut next, &gone).await? {
                attempts += 1;
                if let Some(new) = new {
                    // The manifest was read: it does not name this segment.
                    let _ = self.room.at().delete(&self.segment(new.id)?, None).await;
                }
                continue;
            }
            updated.added += count;
            updated.merged += gone.len() as u64;
            if is_full && count > 0 {
                continue;
            }
            self.state.stale.set(true);
            self.sweep(&next).await;
            for shape in &next.segments {
                updated.files += shape.files() as u64;
                updated.segments += 1;
                updated.bytes += shape.bytes();
            }
            return Ok(updated);
        }
        Err(Error::new(
            Kind::Conflict,
            "Other writers changed the search index all the time; update it again later",
        ))
    }

    /// Reads the files that are not known. The search itself finds nothing, because no line has a
    /// newline.
    async fn collect(&self, known: Rc<Known>) -> Result<Found> {
        let key = known.manifest.key;
        let collect = Rc::new(Collect::new(key, known, self.limit()));
        let query = GrepQuery {
            sieve: Some(Sieve(collect.clone())),
            ..GrepQuery::literal("\n")
        };
        self.inner.grep(&query).await?;
        Ok(collect.take())
    }

    /// The largest segment.
    fn limit(&self) -> u64 {
        let most = self.room.at().capability().max_file_bytes;
        // An entry more than the limit, and the checksums, still fit.
        most.map_or(SEGMENT, |most| SEGMENT.min(most / 4 * 3))
    }

    /// Stores the new entries in one segment, together with those of segments that are not much
    /// larger, of all small ones if there are too many, and of those with many entries that are out
    /// of date. Returns the segment and the numbers of those that it replaces.
    async fn merged(&self, known: &Known, found: Found) -> Result<Merged> {
        let Found {
            mut entries,
            live,
            is_full,
            splits,
            ..
        } = found;
        let key = known.manifest.key;
        let mut bytes: u64 = entries.iter().map(Entry::bytes).sum();
        let mut first = 0usize;
        let mut segments: Vec<(&Shape, &[bool])> = Vec::new();
        let mut gone = Vec::new();
        let broken = self.state.broken.take();
        for (shape, names) in known.manifest.segments.iter().zip(&known.names) {
            let live = live.get(first..first + names.len()).unwrap_or_default();
            first += names.len();
            // What cannot be read is indexed again by the next update.
            if names.is_empty() || broken == Some(shape.id) {
                gone.push(shape.id);
            } else {
                segments.push((shape, live));
            }
        }
        order::sort_by_key(&mut segments, |(shape, _)| shape.entry_bytes());
        // A listing that was cut short does not tell what no longer exists.
        let left = |shape: &Shape, live| live_bytes(shape, (!is_full).then_some(live));
        let is_small = |shape: &Shape, live| left(shape, live) <= self.limit() / 2;
        let small = segments
            .iter()
            .filter(|(shape, live)| is_small(shape, live));
        let small = small.count() + usize::from(!entries.is_empty());
        for (shape, live) in segments {
            let dead = live.iter().filter(|live| !**live).count();
            let is_dead = !is_full && dead.saturating_mul(DEAD) >= live.len();
            let is_one_of_many = !is_full && small > FEW && is_small(shape, live);
            let is_like_new = shape.entry_bytes() <= bytes.saturating_mul(2);
            let more = left(shape, live);
            let fits = more == 0 || bytes.saturating_add(more) <= self.limit();
            if !fits || !(is_dead || is_one_of_many || is_like_new) {
                continue;
            }
            let read = self.entries_of(key, shape, (!is_full).then_some(live));
            if let Ok(mut old) = read.await {
                gone.push(shape.id);
                bytes += more;
                entries.append(&mut old);
            }
        }
        if entries.is_empty() {
            return Ok(Merged {
                new: None,
                gone,
                splits,
            });
        }
        let new = Some(self.store(key, entries).await?);
        Ok(Merged { new, gone, splits })
    }

    /// The entries of a segment: those that are up to date, if that is known. None if it is lost or
    /// damaged: an update indexes its files again.
    fn entries_of<'a>(
        &'a self,
        key: Key,
        shape: &'a Shape,
        live: Option<&'a [bool]>,
    ) -> Pending<'a, Vec<Entry>> {
        Box::pin(async move {
            let data = match self.read_part(shape.id, 0..shape.bytes()).await {
                // What failed for another reason may be there at the next try.
                Err(error) if error.kind() != Kind::NotFound => return Err(error),
                read => read.unwrap_or_default(),
            };
            let mut entries = shape.decode(key, &data).unwrap_or_default();
            if let Some(live) = live {
                let mut live = live.iter();
                entries.retain(|_| live.next() == Some(&true));
            }
            Ok(entries)
        })
    }

    /// Stores a segment with these entries, for a manifest that is not stored yet.
    fn store(&self, key: Key, entries: Vec<Entry>) -> Pending<'_, Shape> {
        Box::pin(async move {
            let (shape, data) = encode(key, random::bits(), entries);
            let path = self.segment(shape.id)?;
            self.room
                .at()
                .write(&path, Content::New(data.into(), None))
                .await?;
            Ok(shape)
        })
    }

    /// Stores the manifest: the one that is there, without the segments that are `gone` and with
    /// those of `next`. `false` if the index now has another key, or another writer has merged a
    /// segment that is `gone`.
    async fn publish(&self, mut stored: Bytes, next: &mut Manifest, gone: &[u64]) -> Result<bool> {
        let new = next.segments.clone();
        // A manifest that was cut to nothing is there as well.
        let mut exists = !stored.is_empty();
        for _ in 0..REPLAYS {
            let before = Manifest::decode(&stored, &self.room).await;
            if let Some(before) = &before {
                if before.key != next.key {
                    return Ok(false);
                }
                let has = |id: &u64| before.segments.iter().any(|shape| shape.id == *id);
                // The answer to an earlier attempt may have been lost.
                let is_done = !new.is_empty() && new.iter().all(|shape| has(&shape.id));
                if is_done {
                    next.segments.clone_from(&before.segments);
                    return Ok(true);
                }
                if !gone.iter().all(has) {
                    return Ok(false);
                }
                next.segments.clone_from(&before.segments);
                next.segments.retain(|shape| !gone.contains(&shape.id));
                next.segments.extend_from_slice(&new);
                if before == next {
                    return Ok(true);
                }
            } else if !gone.is_empty() {
                return Ok(false);
            } else {
                let found = self.room.opened(KIND, NAME, &stored).await;
                self.room.keep_other(NAME, &found, &stored).await?;
            }
            let body = next.encode();
            let is_stored = match exists {
                true => self.room.replace(KIND, NAME, &stored, &body).await?,
                false => self.room.create(KIND, NAME, &body).await?,
            };
            if is_stored {
                return Ok(true);
            }
            let now = self.manifest().await?;
            exists = now.is_some();
            stored = now.unwrap_or_default();
            next.segments.clone_from(&new);
        }
        Err(Error::conflict(&self.file(NAME)?))
    }

    /// Deletes files that are no longer used. Failures are left to a later update.
    async fn sweep(&self, manifest: &Manifest) {
        let now = clock::now().micros();
        let is_kept = |info: &FileInfo| {
            let EntryInfo::File {
                modified: Some(time),
                ..
            } = info.entry
            else {
                return true;
            };
            let id = info.path.name().strip_suffix(".bin");
            let id = id.filter(|id| id.len() == 16);
            let Some(id) = id.and_then(|id| u64::from_str_radix(id, 16).ok()) else {
                return true;
            };
            let is_used = manifest.segments.iter().any(|shape| shape.id == id);
            is_used || now.saturating_sub(time.micros()) <= ORPHAN
        };
        self.room.sweep("", &is_kept).await;
    }
}
