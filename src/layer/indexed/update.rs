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
use super::dead;
use super::hash::Key;
use super::load::Known;
use super::manifest::{Dead, KIND, Manifest, NAME};
use super::notes::Log;
use super::segment::{Entry, Shape, encode};
use super::sift::{Collect, Found};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::sorted::Sorted;
use crate::env::{clock, random, timer};
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
/// With more files that changed while they were read, the index counts as incomplete.
const MOST_UNSURE: usize = 1000;
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
    /// What the manifest tells besides.
    next: Manifest,
}

/// How a manifest is changed.
struct Change {
    /// A segment that is added.
    new: Option<Shape>,
    /// Segments that are taken out.
    gone: Vec<u64>,
    /// Notes that are gone.
    over: Sorted<u64, u64>,
    /// Segments that were known before.
    known: Vec<u64>,
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
            // What has ended by now is in the listing.
            self.notes.flush().await;
            let now = clock::now().micros();
            let notes = self.notes.all().await?;
            let found = self.collect(known.clone()).await?;
            let (count, is_full) = (found.entries.len() as u64, found.is_full);
            let Merged {
                new,
                gone,
                mut next,
            } = self.merged(&known, found).await?;
            if !is_full {
                let ended = notes.logs.iter().map(|(id, log)| (*id, log.ended(now)));
                next.absorbed = ended.filter(|(_, count)| *count > 0).collect();
            }
            // Notes that are gone need not be known any more.
            let mut over = known.manifest.absorbed.clone();
            over.retain(|id| notes.logs.get(id).is_none());
            let change = Change {
                new: new.clone(),
                gone: gone.clone(),
                over,
                known: known.manifest.segments.iter().map(|one| one.id).collect(),
            };
            if has(Bug::NoteDeletedEarly) {
                let is_over = |(_, log): &(u64, Rc<Log>)| log.is_over(log.ended(now), now);
                let logs = notes.logs.clone().into_iter().filter(is_over);
                self.notes.remove(&logs.collect::<Vec<_>>()).await;
            }
            if !self
                .publish(known.stored.clone(), &mut next, change)
                .await?
            {
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
            // A search lists notes first and reads the manifest then; so it knows a change from a note, or
            // from a manifest that was stored before the note was deleted.
            let absorbed = |id: &u64| known.manifest.absorbed.get(id).copied().unwrap_or_default();
            let is_over = |(id, log): &(u64, Rc<Log>)| log.is_over(absorbed(id), now);
            let over: Vec<(u64, Rc<Log>)> = notes.logs.into_iter().filter(is_over).collect();
            self.notes.remove(&over).await;
            self.notes.remove_damaged(&notes.damaged, now).await;
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
            has_unnamed,
            unread,
            ..
        } = found;
        let key = known.manifest.key;
        let mut next = Manifest {
            salt: known.manifest.salt,
            key,
            splits,
            is_complete: !has_unnamed && unread.len() <= MOST_UNSURE,
            is_exact: !is_full,
            unsure: unread,
            ..Manifest::default()
        };
        if is_full {
            next.is_complete = known.manifest.is_complete;
            next.unsure.clone_from(&known.manifest.unsure);
        }
        let mut dead = dead::Entries::new();
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
                next.is_complete &= !is_full;
                gone.push(shape.id);
                continue;
            }
            let over = live.iter().enumerate().filter(|(_, live)| !**live);
            let over: Vec<usize> = over.map(|(file, _)| file).collect();
            if !over.is_empty() {
                dead.insert(shape.id, over);
            }
            segments.push((shape, live));
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
            if let Ok(old) = read.await {
                gone.push(shape.id);
                bytes += more;
                next.is_complete &= old.is_some();
                entries.append(&mut old.unwrap_or_default());
            }
        }
        next.dead = match is_full {
            true => known.manifest.dead,
            false => {
                dead.retain(|id| !gone.contains(id));
                self.store_dead(&known.manifest, &dead).await?
            }
        };
        let new = match entries.is_empty() {
            true => None,
            false => Some(self.store(key, entries).await?),
        };
        next.segments.extend(new.clone());
        Ok(Merged { new, gone, next })
    }

    /// Stores the file that names entries which are out of date, if it is another one than before.
    async fn store_dead(&self, before: &Manifest, dead: &dead::Entries) -> Result<Option<Dead>> {
        if dead.is_empty() {
            return Ok(None);
        }
        let body = dead::encode(dead);
        let sum = dead::sum(before.key, &body);
        if let Some(known) = before.dead.filter(|known| known.sum == sum) {
            // It may be lost or damaged.
            let read = self.read_part(known.id, 0..known.bytes).await;
            let is_whole = |file: Bytes| dead::opened(before.key, &known, &file).is_some();
            if read.is_ok_and(is_whole) {
                return Ok(Some(known));
            }
        }
        let (told, file) = dead::sealed(before.key, random::bits(), body);
        let path = self.segment(told.id)?;
        let content = Content::New(file.into(), None);
        self.room.at().write(&path, content).await?;
        Ok(Some(told))
    }

    /// The entries of a segment: those that are up to date, if that is known. `None` if it is lost or
    /// damaged: an update indexes its files again.
    fn entries_of<'a>(
        &'a self,
        key: Key,
        shape: &'a Shape,
        live: Option<&'a [bool]>,
    ) -> Pending<'a, Option<Vec<Entry>>> {
        Box::pin(async move {
            let data = match self.read_part(shape.id, 0..shape.bytes()).await {
                // What failed for another reason may be there at the next try.
                Err(error) if error.kind() != Kind::NotFound => return Err(error),
                read => read.unwrap_or_default(),
            };
            let pace = Pace::new(clock::now, timer::pause);
            let mut entries = shape.decode(key, &data, &pace).await;
            if let (Some(live), Some(entries)) = (live, &mut entries) {
                let mut live = live.iter();
                entries.retain(|_| live.next() == Some(&true));
            }
            Ok(entries)
        })
    }

    /// Stores a segment with these entries, for a manifest that is not stored yet.
    fn store(&self, key: Key, entries: Vec<Entry>) -> Pending<'_, Shape> {
        Box::pin(async move {
            let pace = Pace::new(clock::now, timer::pause);
            let (shape, data) = encode(key, random::bits(), entries, &pace).await;
            let path = self.segment(shape.id)?;
            let written = data.len();
            self.room
                .at()
                .write(&path, Content::New(data.into(), None))
                .await?;
            // It was copied and checked on its way, perhaps at once.
            pace.read(written).await;
            Ok(shape)
        })
    }

    /// Stores the manifest: the one that is there, without the segments that are `gone` and with
    /// those of `next`. `false` if the index now has another key, or another writer has merged a
    /// segment that is `gone`.
    async fn publish(
        &self,
        mut stored: Bytes,
        next: &mut Manifest,
        change: Change,
    ) -> Result<bool> {
        let Change {
            new,
            gone,
            over,
            known,
        } = change;
        let own = next.clone();
        // A manifest that was cut to nothing is there as well.
        let mut exists = !stored.is_empty();
        for attempt in 0..REPLAYS {
            let before = Manifest::decode(&stored, &self.room).await;
            if let Some(before) = &before {
                if before.key != next.key {
                    return Ok(false);
                }
                let has = |id: &u64| before.segments.iter().any(|shape| shape.id == *id);
                // The answer to an earlier attempt may have been lost.
                if new.as_ref().is_some_and(|shape| has(&shape.id)) {
                    next.clone_from(before);
                    return Ok(true);
                }
                if !gone.iter().all(has) {
                    return Ok(false);
                }
                next.clone_from(&own);
                next.segments.clone_from(&before.segments);
                next.segments.retain(|shape| !gone.contains(&shape.id));
                next.segments.extend(new.clone());
                next.absorb(before, &over);
                if attempt > 0 {
                    next.join(before);
                    // An entry that is in two segments may have been taken out of one by each of the two.
                    next.is_complete &= gone.is_empty() || known.iter().all(has);
                }
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
            next.clone_from(&own);
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
            let is_dead = manifest.dead.is_some_and(|dead| dead.id == id);
            let is_used = is_dead || manifest.segments.iter().any(|shape| shape.id == id);
            is_used || now.saturating_sub(time.micros()) <= ORPHAN
        };
        self.room.sweep("", &is_kept).await;
    }
}
