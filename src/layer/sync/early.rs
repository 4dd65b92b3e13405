//! Edits that are sent while a side is still listed. A network takes longest to list a tree, and what was
//! agreed on says already which edits of the other side go there: each is sent on the condition that its file
//! still holds what was agreed on. So the listing may be older than the edit, or newer, or, where files are
//! listed one by one, lack the file that was just replaced.

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::agreed::Doing;
use super::done::{Done, End};
use super::entry::{Entry, Stamp, at};
use super::parts::Base;
use super::plan::{Now, Pair, Planned, Side, Step};
use super::running::Running;
use super::scope::Range;
use super::{Change, Sync};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Result};
use crate::core::future::{PARALLEL, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::protocol::{FileInfo, Reach};

/// The listings of both sides, once they are there.
pub type Listings = Pair<OnceCell<Result<Vec<FileInfo>>>>;

/// The most edits that are sent early: what more of them need is not the time of one answer.
const EDITS: usize = PARALLEL;
/// The most parts of what was agreed on that are read for it.
const PARTS: usize = PARALLEL;

/// An edit that both sides hold now.
pub struct Sent {
    pub change: Change,
    /// What the side that was written to listed while it held what was agreed on before.
    pub was: Stamp,
    /// What was agreed on now.
    pub entry: Entry,
    pub body: Option<Bytes>,
}

/// What was sent early.
#[derive(Default)]
pub struct Early {
    /// What both sides hold now, in order of paths.
    pub sent: Vec<Sent>,
    /// The bytes that were written.
    pub bytes: u64,
    /// What was begun, by this run or an earlier one.
    pub doing: Doing,
    /// What of it nobody knows.
    pub unknown: Doing,
    /// What was refused, in order of paths.
    refused: Vec<(VPath, Side, Error)>,
}

/// An edit that may be sent early.
struct Edit {
    path: VPath,
    from: Side,
    listed: Stamp,
    was: Stamp,
    agreed: Digest,
}

/// Waits until one side is listed and the other one is not; which. It waits together with the listings, so it
/// is asked again with each answer.
async fn first(listings: &Listings) -> Option<Side> {
    let is_there = |side| listings.of(side).get().is_some();
    poll_fn(|_| match Side::BOTH.map(is_there) {
        [true, false] => Poll::Ready(Some(Side::A)),
        [false, true] => Poll::Ready(Some(Side::B)),
        [true, true] => Poll::Ready(None),
        [false, false] => Poll::Pending,
    })
    .await
}

impl Sync {
    /// Sends edits of the side that is listed first.
    pub(super) async fn send_early(
        &self,
        listings: &Listings,
        base: &mut Base,
        doing: &Doing,
        began: i64,
        running: &Running,
    ) -> Result<Early> {
        let nothing = Early::default();
        let Some(from) = first(listings).await else {
            return Ok(nothing);
        };
        let Some(Ok(files)) = listings.of(from).get() else {
            return Ok(nothing);
        };
        let is_safe = self.at(from.other()).capability().update == Reach::Storage;
        // Which files are ignored is known after both listings.
        if !is_safe || self.options.by_content || !self.options.ignore.is_empty() {
            return Ok(nothing);
        }
        let range = self.range_of_paths()?;
        let edits = self.edits(from, files, base, doing, &range).await?;
        if edits.is_empty() || listings.of(from.other()).get().is_some() {
            return Ok(nothing);
        }
        let mut early = Early {
            doing: doing.clone(),
            ..nothing
        };
        for edit in &edits {
            let mut listed = Pair::default();
            *listed.of_mut(from) = Some(edit.listed);
            *listed.of_mut(from.other()) = Some(edit.was);
            early.doing.push((edit.path.clone(), listed));
        }
        order::sort_by(&mut early.doing, |a, b| a.0.cmp(&b.0));
        self.book.put_doing(base.run, &early.doing).await?;
        let is_over = Cell::new(false);
        let calls = edits
            .iter()
            .map(|edit| -> LocalBoxFuture<'_, Result<Option<Done>>> {
                Box::pin(async {
                    if is_over.get() {
                        return Ok(None);
                    }
                    let done = self.send_edit(edit, base, running).await;
                    is_over.set(is_over.get() || done.is_err());
                    done.map(Some)
                })
            });
        let all = bounded(EDITS, calls).await;
        for (edit, done) in edits.into_iter().zip(all) {
            if let Some(done) = done? {
                early.add(edit, done, began);
            }
        }
        if has(Bug::SyncSentForgotten) {
            early.sent.clear();
        }
        base.apply(
            early
                .sent
                .iter()
                .map(|sent| (sent.change.path.clone(), Some(sent.entry.clone())))
                .collect(),
        );
        Ok(early)
    }

    /// The edits of a side of which the other one is likely to hold what was agreed on; none if there are many.
    async fn edits(
        &self,
        from: Side,
        files: &[FileInfo],
        base: &mut Base,
        doing: &Doing,
        range: &Range<'_>,
    ) -> Result<Vec<Edit>> {
        let mut changed: Vec<(usize, &[FileInfo])> = Vec::new();
        let mut rest = files;
        for place in 0..base.parts.len() {
            let these = base.take(place, &mut rest);
            if !base.is_same(place, from, these) {
                changed.push((place, these));
            }
        }
        if changed.len() > PARTS {
            return Ok(Vec::new());
        }
        let places: Vec<usize> = changed.iter().map(|(place, _)| *place).collect();
        self.book.load(base, &places).await?;
        let edit = |info: &FileInfo| -> Option<Edit> {
            let path = &info.path;
            let entry = base.entry(path).filter(|entry| entry.text.is_some())?;
            let listed = Stamp::of(&info.entry)?;
            let is_edit = Some(listed) != *entry.stamps.of(from)
                && !self.is_large(Some(listed))
                && at(doing, path).is_none()
                && range.has(path);
            is_edit.then_some(())?;
            Some(Edit {
                path: path.clone(),
                from,
                listed,
                was: (*entry.stamps.of(from.other()))?,
                agreed: entry.digest,
            })
        };
        let files = changed.iter().flat_map(|(_, files)| files.iter());
        let edits: Vec<Edit> = files.filter_map(edit).take(EDITS + 1).collect();
        Ok(match edits.len() <= EDITS {
            true => edits,
            false => Vec::new(),
        })
    }

    async fn send_edit(&self, edit: &Edit, base: &Base, running: &Running) -> Result<Done> {
        // Without the text the other side would have to be read first.
        let Some(kept) = self.kept_text(base, &edit.path).await else {
            return Ok(Done::default());
        };
        running.goes_on().await?;
        let mut now = Pair {
            a: Now::Unread,
            b: Now::Unread,
        };
        *now.of_mut(edit.from.other()) = Now::Agreed;
        let planned = Planned {
            path: edit.path.clone(),
            agreed: Some(edit.agreed),
            now,
            step: Step::Send(edit.from),
        };
        Ok(self.send(&planned, edit.from, Some(kept)).await)
    }
}

impl Early {
    /// Adds what an edit came to.
    fn add(&mut self, edit: Edit, done: Done, began: i64) {
        let Edit { path, from, .. } = edit;
        let (Some((_, end)), changed) = (
            done.ends.into_iter().next(),
            done.changed.into_iter().next(),
        ) else {
            let refusal = done.refused.into_iter().next();
            self.refused
                .extend(refusal.map(|one| (path, one.side, one.error)));
            return;
        };
        match (end, changed) {
            (
                End::Agreed {
                    digest, size, body, ..
                },
                Some(change),
            ) => {
                let mut stamps = Pair::default();
                *stamps.of_mut(from) = Some(edit.listed).filter(|stamp| stamp.is_old(began));
                self.bytes += done.sent;
                self.sent.push(Sent {
                    change,
                    was: edit.was,
                    entry: Entry {
                        digest,
                        size,
                        stamps,
                        text: None,
                    },
                    body,
                });
            }
            (End::Open, _) => {
                let known = at(&self.doing, &path).copied().unwrap_or_default();
                self.unknown.push((path, known));
            }
            // It was no edit: the file was only written again.
            (End::Agreed { .. } | End::Gone, _) => {}
        }
    }

    /// What was sent to a path.
    pub fn of(&self, path: &VPath) -> Option<&Sent> {
        let place = self
            .sent
            .binary_search_by(|one| one.change.path.cmp(path))
            .ok()?;
        self.sent.get(place)
    }

    /// What a step comes to that was refused early: nobody is asked twice.
    pub fn refused(&self, planned: &Planned) -> Option<Done> {
        let Step::Send(from) = planned.step else {
            return None;
        };
        let place = self
            .refused
            .binary_search_by(|one| one.0.cmp(&planned.path))
            .ok()?;
        let (path, side, error) = self.refused.get(place)?;
        let is_it = *planned.now.of(from.other()) == Now::Agreed;
        is_it.then(|| Done::default().refused(path, *side, error.clone()))
    }
}
