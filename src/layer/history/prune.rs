//! Drops old notes, and contents that no note names any more.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::History;
use super::note::{Note, millis};
use super::store::Record;
use super::walk::walk;
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, bounded};
use crate::core::order;
use crate::env::clock;
use crate::pins::{Digest, Digests, Leaf};
use crate::protocol::{EntryInfo, FileInfo};

/// How many bytes of contents are deleted before new notes are looked for.
const AT_ONCE: u64 = 16 * 1024 * 1024;

/// How many nodes are deleted before new pins are looked for, and how many at once.
const NODES_AT_ONCE: usize = 128;
const DELETES_AT_ONCE: usize = 16;

/// After so many microseconds without a sign somebody who prunes is taken for a process that ended.
const LOCKED: i64 = 600 * 1_000_000;

/// After so many microseconds a pin that is being made is taken for that of a process that ended.
const ABANDONED: i64 = 24 * 3600 * 1_000_000;

/// Clocks of other machines are ahead by less, in microseconds.
const AHEAD: i64 = 60 * 1_000_000;

/// What was dropped, and what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Notes that were dropped.
    pub dropped: usize,
    /// Notes that are left.
    pub entries: usize,
    /// Bytes of contents that are left.
    pub bytes: u64,
}

/// Marks a content as named. Returns its size if it was not.
fn name(sizes: &[(&str, u64)], named: &mut [bool], digest: &str) -> u64 {
    let at = sizes.binary_search_by(|(known, _)| (*known).cmp(digest));
    let at = at.unwrap_or(sizes.len());
    let (Some((_, size)), Some(is_named)) = (sizes.get(at), named.get_mut(at)) else {
        return 0;
    };
    match std::mem::replace(is_named, true) {
        true => 0,
        false => *size,
    }
}

/// The contents that are named, or those that are not.
fn with<'a>(
    sizes: &'a [(&'a str, u64)],
    named: &'a [bool],
    wanted: bool,
) -> impl Iterator<Item = (&'a str, u64)> {
    let all = sizes.iter().zip(named);
    all.filter_map(move |(one, is_named)| (*is_named == wanted).then_some(*one))
}

impl History {
    /// Drops what is more than the options keep. Only one does at a time, since what one puts back another
    /// might delete; the others get a `conflict`.
    pub fn prune(&self) -> Pending<'_, Pruned> {
        Box::pin(async move {
            let now = clock::now().micros();
            if !self.store.lock(now, now.saturating_sub(LOCKED)).await? {
                return Err(Error::new(
                    Kind::Conflict,
                    "Somebody else prunes this history at the moment; try again in a few minutes",
                ));
            }
            let pruned = self.prune_alone().await;
            // One that stays is taken for that of a process that ended.
            let _ = self.store.unlock().await;
            pruned
        })
    }

    async fn prune_alone(&self) -> Result<Pruned> {
        let ids = self.store.ids().await?;
        let (notes, others) = self.store.all_notes(&ids).await?;
        let pins = match has(Bug::PruneDropsPinned) {
            true => Vec::new(),
            false => self.store.all_pins().await?,
        };
        let bodies = self.store.bodies().await?;
        let mut sizes = Vec::with_capacity(bodies.len());
        sizes.extend(bodies.iter().map(|info| (info.path.name(), size_of(info))));
        order::sort_by(&mut sizes, |a, b| a.0.cmp(b.0));
        let first = self.first_kept(&notes, &sizes);
        let (gone, kept) = notes.split_at_checked(first).unwrap_or((&[], &notes));
        if let Some(newest) = gone.last() {
            self.store.put_dropped(&newest.id).await?;
        }
        for note in gone {
            self.store.drop_note(&note.id).await?;
        }
        let pinned = self.pinned(&pins).await?;
        let elsewhere = self.pinned_elsewhere(&pins).await?;
        let is_pinned = |name: &str| {
            let digest = Digest::from_hex(name);
            digest.is_some_and(|digest| pinned.bodies.has(&digest) || elsewhere.bodies.has(&digest))
        };
        let mut named: Vec<bool> = sizes.iter().map(|(name, _)| is_pinned(name)).collect();
        let others = self.counted(&others).await?;
        for digest in kept.iter().chain(others).flat_map(Note::digests) {
            name(&sizes, &mut named, digest);
        }
        let pruned = Pruned {
            dropped: gone.len(),
            entries: kept.len(),
            bytes: with(&sizes, &named, true).map(|(_, size)| size).sum(),
        };
        if self.is_pinning(&pins).await? {
            // It takes contents that are there. The next pruning deletes what is left.
            return Ok(pruned);
        }
        let unnamed: Vec<(&str, u64)> = with(&sizes, &named, false).collect();
        let is_clear = self.drop_bodies(&unnamed, &ids, &pins).await?;
        if is_clear {
            let is_kept = |digest: &Digest| pinned.nodes.has(digest) || elsewhere.nodes.has(digest);
            self.drop_nodes(&is_kept, &pins).await?;
        }
        // The next pruning reads only the pins that are new by then.
        self.reached.replace(pinned);
        Ok(pruned)
    }

    /// What pins name. If a part of the list of files is gone, nobody knows which contents it named.
    async fn pinned(&self, pins: &[Record]) -> Result<Reached> {
        let mut reached = self.reached.take();
        let mut roots = Digests::default();
        let ours = pins.iter().filter(|record| record.is_ours);
        roots.add(ours.filter_map(|record| record.root));
        if !roots.has_all(&reached.roots) {
            reached = Reached::default();
        }
        for root in roots.list() {
            if reached.roots.has(root) {
                continue;
            }
            let mut bodies: Vec<Digest> = Vec::new();
            let mut visit = |leaf: &Leaf| bodies.push(leaf.digest);
            let objects = self.store.objects();
            let lost = walk(&objects, *root, &mut reached.nodes, &mut visit).await?;
            reached.bodies.add(bodies);
            if !lost.is_empty() {
                let message = format!(
                    "The pin '{}' lost a part of its list of files, so nothing can be deleted that it may \
                     name; unpin() it, or put back the missing files",
                    root.hex()
                );
                return Err(Error::new(Kind::Unavailable, message));
            }
        }
        reached.roots = roots;
        Ok(reached)
    }

    /// What pins of other keys name, as far as it is there: a planted one may name anything.
    async fn pinned_elsewhere(&self, pins: &[Record]) -> Result<Reached> {
        let mut reached = Reached::default();
        let objects = self.store.objects();
        for record in pins.iter().filter(|record| !record.is_ours) {
            let Some(root) = record.root else { continue };
            let mut bodies: Vec<Digest> = Vec::new();
            let mut visit = |leaf: &Leaf| bodies.push(leaf.digest);
            walk(&objects, root, &mut reached.nodes, &mut visit).await?;
            reached.bodies.add(bodies);
        }
        Ok(reached)
    }

    /// The notes of other keys that keep what they name: for as long as those of this key do from that
    /// time. One of the future would keep it for good.
    async fn counted<'a>(&self, others: &'a [Note]) -> Result<impl Iterator<Item = &'a Note>> {
        let dropped = match others.is_empty() {
            true => None,
            false => self.store.dropped().await?.and_then(|id| millis(&id)),
        };
        let latest = clock::now().micros().saturating_add(AHEAD) / 1000;
        let counts = move |note: &&Note| {
            let at = millis(&note.id).unwrap_or(i64::MAX);
            at <= latest && dropped.is_none_or(|dropped| at > dropped)
        };
        Ok(others.iter().filter(counts))
    }

    /// Whether a pin is being made. One that a process began and did not finish counts for a day.
    async fn is_pinning(&self, pins: &[Record]) -> Result<bool> {
        let now = clock::now().micros();
        let oldest = now.saturating_sub(ABANDONED);
        let mut any = false;
        for record in pins.iter().filter(|record| record.root.is_none()) {
            match record.micros < oldest {
                true if record.is_ours => self.store.drop_pin(&record.name).await?,
                true => {}
                false => any |= record.is_ours || record.micros <= now.saturating_add(AHEAD),
            }
        }
        Ok(any)
    }

    /// Whether a pin was begun since these were listed.
    async fn is_pinned_anew(&self, known: &[Record]) -> Result<bool> {
        self.store.keep_lock(clock::now().micros()).await?;
        if has(Bug::PruneDropsPinned) {
            return Ok(false);
        }
        let now = self.store.all_pins().await?;
        Ok(now.iter().any(|record| !known.contains(record)))
    }

    /// Deletes the nodes that no pin needs. They are put back if a pin is made meanwhile.
    async fn drop_nodes(&self, is_kept: &dyn Fn(&Digest) -> bool, pins: &[Record]) -> Result<()> {
        let objects = self.store.objects();
        let infos = self.store.node_names().await?;
        let names = infos.iter().map(|info| info.path.name());
        let mut unnamed: Vec<Digest> = names.filter_map(Digest::from_hex).collect();
        unnamed.retain(|digest| !is_kept(digest));
        for batch in unnamed.chunks(NODES_AT_ONCE) {
            let held = objects.nodes(batch).await?;
            let drops = batch
                .iter()
                .map(|digest| -> LocalBoxFuture<'_, Result<()>> {
                    Box::pin(self.store.drop_node(digest))
                });
            let dropped = bounded(DELETES_AT_ONCE, drops).await;
            let anew = self.is_pinned_anew(pins).await;
            if !matches!(anew, Ok(false)) {
                for (digest, found) in batch.iter().zip(held) {
                    if let Some(node) = found.whole() {
                        self.store.hold_node(digest, &node).await?;
                    }
                }
                return anew.map(drop);
            }
            dropped.into_iter().collect::<Result<()>>()?;
        }
        Ok(())
    }

    /// The index of the oldest note that is kept.
    fn first_kept(&self, notes: &[Note], sizes: &[(&str, u64)]) -> usize {
        let keep = self.options.keep;
        let mut first = match keep.count {
            Some(count) => notes.len().saturating_sub(count),
            None => 0,
        };
        if let Some(age) = keep.age {
            let oldest = clock::now().micros().div_euclid(1000).saturating_sub(age);
            let is_old = |note: &Note| millis(&note.id).is_some_and(|millis| millis < oldest);
            first = first.max(notes.partition_point(is_old));
        }
        let Some(most) = keep.bytes else {
            return first;
        };
        let mut named = vec![false; sizes.len()];
        let mut bytes = 0u64;
        for (at, note) in notes.iter().enumerate().rev() {
            if at < first {
                break;
            }
            for digest in note.digests() {
                bytes = bytes.saturating_add(name(sizes, &mut named, digest));
            }
            if bytes > most {
                return at + 1;
            }
        }
        first
    }

    /// Deletes contents. One that a new note names by then is put back; all of them, if a pin is made
    /// meanwhile, which ends it: false.
    async fn drop_bodies(
        &self,
        bodies: &[(&str, u64)],
        known: &[Rc<str>],
        pins: &[Record],
    ) -> Result<bool> {
        let mut rest = bodies;
        while !rest.is_empty() {
            let mut size = 0u64;
            let mut count = 0;
            for (_, bytes) in rest {
                if count > 0 && size.saturating_add(*bytes) > AT_ONCE {
                    break;
                }
                size = size.saturating_add(*bytes);
                count += 1;
            }
            let (batch, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let mut held: Vec<(&str, Bytes)> = Vec::new();
            for (digest, _) in batch {
                if let Some(body) = self.store.find(digest).await? {
                    held.push((digest, body));
                }
                self.store.drop_body(digest).await?;
            }
            let mut fresh = self.store.ids().await?;
            fresh.retain(|id| known.binary_search(id).is_err());
            let notes = self.store.all_notes(&fresh).await;
            let anew = self.is_pinned_anew(pins).await;
            if notes.is_err() || !matches!(anew, Ok(false)) {
                for (digest, body) in &held {
                    self.store.hold(digest, body).await?;
                }
                return notes.and(anew).map(|_| false);
            }
            let (ours, theirs) = notes?;
            for note in ours.iter().chain(&theirs) {
                for digest in note.digests() {
                    if let Some((_, body)) = held.iter().find(|(held, _)| *held == &**digest) {
                        self.store.hold(digest, body).await?;
                    }
                }
            }
            rest = later;
        }
        Ok(true)
    }
}

/// What pins name.
#[derive(Default)]
pub(super) struct Reached {
    /// The pins.
    roots: Digests,
    nodes: Digests,
    bodies: Digests,
}

fn size_of(info: &FileInfo) -> u64 {
    match info.entry {
        EntryInfo::File { size, .. } => size.unwrap_or(0),
        EntryInfo::Directory => 0,
    }
}
