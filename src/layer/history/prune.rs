//! Drops old notes, and contents that no note names any more.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bytes::Bytes;

use super::History;
use super::note::{Note, millis};
use crate::core::error::Result;
use crate::env::clock;
use crate::protocol::{EntryInfo, FileInfo};

/// How many bytes of contents are deleted before new notes are looked for.
const AT_ONCE: u64 = 16 * 1024 * 1024;

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

impl History {
    /// Drops what is more than the options keep.
    pub async fn prune(&self) -> Result<Pruned> {
        let ids = self.store.ids().await?;
        let notes = self.store.notes(&ids).await?;
        let bodies = self.store.bodies().await?;
        let sizes: BTreeMap<&str, u64> = bodies
            .iter()
            .map(|info| (info.path.name(), size_of(info)))
            .collect();
        let first = self.first_kept(&notes, &sizes);
        let (gone, kept) = notes.split_at_checked(first).unwrap_or((&[], &notes));
        for note in gone {
            self.store.drop_note(&note.id).await?;
        }
        let named: BTreeSet<&str> = kept
            .iter()
            .flat_map(Note::digests)
            .map(|it| &**it)
            .collect();
        let unnamed = sizes.iter().filter(|(digest, _)| !named.contains(*digest));
        let unnamed: Vec<(&str, u64)> = unnamed.map(|(digest, size)| (*digest, *size)).collect();
        self.drop_bodies(&unnamed, &ids).await?;
        Ok(Pruned {
            dropped: gone.len(),
            entries: kept.len(),
            bytes: named.iter().filter_map(|digest| sizes.get(digest)).sum(),
        })
    }

    /// The index of the oldest note that is kept.
    fn first_kept(&self, notes: &[Note], sizes: &BTreeMap<&str, u64>) -> usize {
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
        let mut named: BTreeSet<&str> = BTreeSet::new();
        let mut bytes = 0u64;
        for (at, note) in notes.iter().enumerate().rev() {
            if at < first {
                break;
            }
            for digest in note.digests() {
                if named.insert(digest) {
                    bytes = bytes.saturating_add(sizes.get(&**digest).copied().unwrap_or(0));
                }
            }
            if bytes > most {
                return at + 1;
            }
        }
        first
    }

    /// Deletes contents. One that a new note names by then is put back.
    async fn drop_bodies(&self, bodies: &[(&str, u64)], known: &[Rc<str>]) -> Result<()> {
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
            for note in self.store.notes(&fresh).await? {
                for digest in note.digests() {
                    if let Some((_, body)) = held.iter().find(|(held, _)| *held == &**digest) {
                        self.store.hold(digest, body).await?;
                    }
                }
            }
            rest = later;
        }
        Ok(())
    }
}

fn size_of(info: &FileInfo) -> u64 {
    match info.entry {
        EntryInfo::File { size, .. } => size.unwrap_or(0),
        EntryInfo::Directory => 0,
    }
}
