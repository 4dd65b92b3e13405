//! Writing the index. New segments are created, never changed; then the manifest is replaced if no
//! other writer has replaced it meanwhile. A writer that loses adds its segments to the other's
//! manifest. Whatever is interrupted leaves files that no manifest names, which a later update
//! deletes.

use std::collections::HashSet;
use std::rc::Rc;

use bytes::Bytes;

use super::Indexed;
use super::hash::Key;
use super::load::Known;
use super::manifest::{Manifest, Retired};
use super::segment::{Entry, Name, Shape, encode};
use super::sift::{Collect, Collected};
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::env::{clock, random};
use crate::protocol::{Backend, Content, Edit, EntryInfo, GrepQuery, Sieve};

/// A segment is not merged beyond this many bytes.
const SEGMENT: u64 = 16 << 20;
/// How long a segment that was merged is kept for readers, in microseconds.
const GRACE: i64 = 10 * 60 * 1_000_000;
/// A segment that no manifest names is deleted after this time: its writer is gone.
const ORPHAN: i64 = 60 * 60 * 1_000_000;
/// How often a manifest is replaced again after another writer has done so.
const REPLAYS: usize = 16;

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Files that were added.
    pub added: u64,
    /// Files in the index now.
    pub files: u64,
    /// Its segments.
    pub segments: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Segments that one update replaces.
#[derive(Default)]
struct Merge {
    entries: Vec<Entry>,
    gone: HashSet<u64>,
    splits: Vec<VPath>,
}

fn random_number() -> u64 {
    let half = || (random::unit() * 4_294_967_296.0) as u64;
    half() << 32 | half()
}

impl Indexed {
    /// Adds the files that the index does not know, and removes what no longer exists.
    pub async fn update(&self) -> Result<Updated> {
        if !self.capability().indexed {
            return Err(Error::new(Kind::Unsupported, super::NO_VERSIONS));
        }
        let (mut added, mut lost) = (0u64, 0usize);
        while lost < REPLAYS {
            let (stored, known) = self.fresh().await;
            let key = match &known {
                Some(known) => known.manifest.key,
                None => [random_number(), random_number()],
            };
            let known = known.map(|known| self.without_broken(known));
            let found = self.collect(key, known.clone()).await?;
            let (count, is_full) = (found.entries.len() as u64, found.is_full);
            let merge = self.merge(known.as_deref(), found).await;
            match self.publish(key, stored, merge).await? {
                Some(manifest) => {
                    added += count;
                    if is_full && count > 0 {
                        continue;
                    }
                    self.sweep(&manifest).await;
                    self.reread();
                    let files = manifest.segments.iter().map(|one| one.files() as u64).sum();
                    return Ok(Updated {
                        added,
                        files,
                        segments: manifest.segments.len() as u64,
                        bytes: manifest.segments.iter().map(Shape::bytes).sum(),
                    });
                }
                // Another writer began an index with another key.
                None => lost += 1,
            }
        }
        Err(Error::new(
            Kind::Conflict,
            "Other writers changed the search index all the time; update it again later",
        ))
    }

    /// What is known without the segments that could not be read: their files are indexed again.
    fn without_broken(&self, known: Rc<Known>) -> Rc<Known> {
        let broken = self.broken.borrow();
        let mut segments = known.segments.clone();
        segments.retain(|segment| !broken.contains(&segment.shape.id));
        match segments.len() == known.segments.len() {
            true => known,
            false => Rc::new(Known::new(
                known.stored.clone(),
                known.manifest.clone(),
                segments,
            )),
        }
    }

    /// Reads the files that are not known. The search itself finds nothing, because no line has a
    /// newline.
    async fn collect(&self, key: Key, known: Option<Rc<Known>>) -> Result<Collected> {
        let hidden = self.inside.then(|| self.dir.clone());
        let limit = usize::try_from(self.limit()).unwrap_or(usize::MAX);
        let collect = Rc::new(Collect::new(hidden, key, known, limit));
        let query = GrepQuery {
            sieve: Some(Sieve(collect.clone())),
            ..GrepQuery::literal("\n")
        };
        self.inner.grep(&query).await?;
        Ok(collect.take())
    }

    /// The largest segment.
    fn limit(&self) -> u64 {
        let most = self.keep.capability().max_file_bytes;
        // An entry more than the limit, and the checksums, still fit.
        most.map_or(SEGMENT, |most| SEGMENT.min(most / 4 * 3))
    }

    /// Selects segments to merge with the new entries: those that are not much larger, so that
    /// there are few of them, and those that are mostly out of date.
    async fn merge(&self, known: Option<&Known>, found: Collected) -> Merge {
        let mut merge = Merge {
            entries: found.entries,
            gone: HashSet::new(),
            splits: found.splits,
        };
        let Some(known) = known else {
            return merge;
        };
        let readable: HashSet<u64> = known.segments.iter().map(|one| one.shape.id).collect();
        let listed = known.manifest.segments.iter().map(|shape| shape.id);
        merge
            .gone
            .extend(listed.filter(|id| !readable.contains(id)));
        let mut bytes: u64 = merge.entries.iter().map(|entry| entry.bytes() as u64).sum();
        let mut segments = known.segments.clone();
        order::sort_by_key(&mut segments, |segment| segment.shape.entry_bytes());
        let mut kept: HashSet<Name> = merge.entries.iter().map(|entry| entry.name).collect();
        for segment in segments {
            let shape = &segment.shape;
            let live = segment
                .names
                .iter()
                .filter(|name| found.live.contains(name));
            // A listing that was cut short does not tell what no longer exists.
            let is_dead = !found.is_full && live.count() * 2 <= shape.files();
            let own = shape.entry_bytes();
            let total = bytes.saturating_add(own);
            let fits = own <= bytes.saturating_mul(2) && total <= self.limit();
            if !is_dead && !fits {
                continue;
            }
            merge.gone.insert(shape.id);
            let entries = self
                .whole(known.manifest.key, shape)
                .await
                .unwrap_or_default();
            let is_live = |entry: &Entry| found.is_full || found.live.contains(&entry.name);
            let mut entries: Vec<Entry> = entries.into_iter().filter(is_live).collect();
            entries.retain(|entry| kept.insert(entry.name));
            bytes += entries
                .iter()
                .map(|entry| entry.bytes() as u64)
                .sum::<u64>();
            merge.entries.append(&mut entries);
        }
        merge
    }

    async fn whole(&self, key: Key, shape: &Shape) -> Option<Vec<Entry>> {
        let data = self
            .keep
            .part(&self.segment(shape.id)?, 0..shape.bytes())
            .await;
        shape.decode(key, &data.ok()?)
    }

    /// Stores the new segment and the manifest that names it; `None` if the index now has another
    /// key.
    async fn publish(
        &self,
        key: Key,
        mut stored: Option<Bytes>,
        mut merge: Merge,
    ) -> Result<Option<Manifest>> {
        let mut new = None;
        let nameless = || Error::new(Kind::InvalidPath, "keepIn is too long");
        if !merge.entries.is_empty() {
            let (shape, data) = encode(key, random_number(), std::mem::take(&mut merge.entries));
            let path = self.segment(shape.id).ok_or_else(nameless)?;
            self.keep.write(&path, Content::New(data.into())).await?;
            new = Some((shape, path));
        }
        let path = self.file("manifest.bin").ok_or_else(nameless)?;
        for _ in 0..REPLAYS {
            let before = stored.as_ref().and_then(|stored| Manifest::decode(stored));
            if before.as_ref().is_some_and(|before| before.key != key) {
                if let Some((_, path)) = &new {
                    let _ = self.keep.delete(path, None).await;
                }
                return Ok(None);
            }
            let manifest = revised(key, before.clone(), new.as_ref().map(|new| &new.0), &merge);
            if before.as_ref() == Some(&manifest) {
                return Ok(Some(manifest));
            }
            let bytes: Bytes = manifest.encode().into();
            let answer = match stored {
                None => self.keep.write(&path, Content::New(bytes)).await.map(drop),
                Some(old) => {
                    let edit = Edit {
                        old,
                        new: bytes,
                        replace_all: false,
                        whole: true,
                    };
                    self.keep.edit(&path, &edit).await.map(drop)
                }
            };
            match answer {
                Ok(()) => return Ok(Some(manifest)),
                Err(error) => match error.kind() {
                    Kind::AlreadyExists | Kind::Conflict | Kind::NoMatch | Kind::NotFound => {
                        stored = self.manifest().await;
                    }
                    _ => return Err(error),
                },
            }
        }
        Err(Error::conflict(&path))
    }

    /// Deletes segments that are no longer used. Failures are left to a later update.
    async fn sweep(&self, manifest: &Manifest) {
        let now = clock::now().micros();
        let used: HashSet<VPath> = manifest
            .segments
            .iter()
            .map(|shape| shape.id)
            .chain(manifest.retired.iter().map(|retired| retired.id))
            .filter_map(|id| self.segment(id))
            .chain(self.file("manifest.bin"))
            .collect();
        for info in self.keep.ls(&self.dir).await.unwrap_or_default() {
            let EntryInfo::File { modified, .. } = info.entry else {
                continue;
            };
            let is_old = modified.is_some_and(|time| now.saturating_sub(time.micros()) > ORPHAN);
            let is_ours = is_segment(info.path.name());
            if is_old && is_ours && !used.contains(&info.path) {
                let _ = self.keep.delete(&info.path, None).await;
            }
        }
    }
}

/// Whether a file name is that of a segment.
fn is_segment(name: &str) -> bool {
    name.strip_suffix(".bin")
        .is_some_and(|id| id.len() == 16 && u64::from_str_radix(id, 16).is_ok())
}

/// The next manifest: without what was merged, with what is new. Segments that were retired long
/// ago are forgotten, and then deleted like any file that no manifest names.
fn revised(key: Key, before: Option<Manifest>, new: Option<&Shape>, merge: &Merge) -> Manifest {
    let now = clock::now().micros();
    let mut manifest = before.unwrap_or(Manifest {
        key,
        segments: Vec::new(),
        retired: Vec::new(),
        splits: Vec::new(),
    });
    manifest.splits.clone_from(&merge.splits);
    let mut retired: Vec<Retired> = manifest
        .segments
        .extract_if(.., |shape| merge.gone.contains(&shape.id))
        .map(|shape| Retired {
            id: shape.id,
            since: now,
        })
        .collect();
    manifest.retired.append(&mut retired);
    manifest
        .retired
        .retain(|one| now.saturating_sub(one.since) < GRACE);
    manifest.segments.extend(new.cloned());
    manifest
}
