//! Brings a turn up to date with what is below now: changes of others are merged with the turn's by
//! lines. What cannot be merged stays as it is and is listed.

use std::rc::Rc;

use bytes::Bytes;

use super::diff::whole_tree;
use super::{Before, Change, Overlay, lines, pace};
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::protocol::Replacement;

/// A file that the turn and somebody else changed at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmerged {
    /// The file.
    pub path: VPath,
    /// Its content when the turn first changed it, if there was a file.
    pub before: Option<Bytes>,
    /// Its content below now, if there is a file.
    pub now: Option<Bytes>,
    /// Its content in the turn, if it is not deleted.
    pub ours: Option<Bytes>,
}

/// What a rebase did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebased {
    /// Files whose changes were merged.
    pub merged: Vec<VPath>,
    /// Files that could not be merged.
    pub conflicts: Vec<Unmerged>,
    /// Files and directories that the turn read, and that are different now.
    pub read: Vec<VPath>,
}

/// How a file goes on after others changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The turn's content stays, over what is below now.
    Ours,
    /// It is as below now, so nothing is left to change.
    Theirs,
    /// It gets this.
    Merged(Bytes),
    /// Both sides changed the same place.
    Unmerged,
}

/// How a file goes on that two sides may have changed.
pub async fn three_way(before: Option<&Bytes>, now: Option<&Bytes>, ours: Option<&Bytes>) -> Next {
    match before == now && ours != now {
        true => Next::Ours,
        false => next(before, now, ours, &pace()).await,
    }
}

async fn next(
    before: Option<&Bytes>,
    now: Option<&Bytes>,
    ours: Option<&Bytes>,
    pace: &Pace,
) -> Next {
    // With its content as before, there is nothing of the turn's own to keep.
    if ours == now || ours == before {
        return Next::Theirs;
    }
    if has(Bug::RebaseDropsDeletion) && now.is_none() {
        return Next::Ours;
    }
    let (Some(before), Some(now), Some(ours)) = (before, now, ours) else {
        return Next::Unmerged;
    };
    for body in [before, now, ours] {
        if !lines::is_text(body, pace).await {
            return Next::Unmerged;
        }
    }
    match lines::merge(before, ours, now, pace).await {
        Some(merged) => Next::Merged(Bytes::from(merged)),
        None => Next::Unmerged,
    }
}

impl Overlay {
    /// Merges what others have changed in the base. For files that match one of the patterns `keep` the
    /// overlay's content wins where that is not possible. What was read counts as read now.
    pub(in crate::layer::turn) async fn rebase(&self, keep: &[Rc<str>]) -> Result<Rebased> {
        let keep = whole_tree(keep)?;
        let pace = pace();
        let mut rebased = Rebased::default();
        for (path, one) in self.changed_files() {
            let before = one.before.as_ref().map(|before| &before.body);
            let below = self.base_file(&path).await?;
            let now = below.as_ref().map(|below| below.body.clone());
            pace.called().await;
            if before == now.as_ref() {
                continue;
            }
            let ours = self.upper_body(&path, one.exists).await?;
            match next(before, now.as_ref(), ours.as_ref(), &pace).await {
                Next::Theirs => self.drop_change(&path, one.exists).await?,
                Next::Ours => self.moved_on(&path, below),
                Next::Merged(body) => {
                    self.put(&path, body).await?;
                    self.moved_on(&path, below);
                    rebased.merged.push(path);
                }
                Next::Unmerged if keep.iter().any(|pattern| pattern.accepts(&path)) => {
                    self.moved_on(&path, below);
                }
                Next::Unmerged => rebased.conflicts.push(Unmerged {
                    path,
                    before: before.cloned(),
                    now,
                    ours,
                }),
            }
        }
        let reads = self.reads.borrow().all();
        for (read, digest) in reads {
            let now = self.digests().of_read(&*self.below(), &read).await?;
            if now != digest {
                self.reads.borrow_mut().renew(&read, now);
                let path = read.path().clone();
                if let Some(listener) = self.listener.get() {
                    listener.has_read(read, now, true);
                }
                if !rebased.read.contains(&path) {
                    rebased.read.push(path);
                }
            }
        }
        Ok(rebased)
    }

    /// Counts contents that somebody has taken from the overlay as what was there before, and returns these
    /// files. Others stay: those that it changes no more, and those that a rebase has changed since.
    pub(in crate::layer::turn) fn settle(&self, files: Vec<Replacement>) -> Vec<VPath> {
        let mut settled = Vec::new();
        for file in files {
            let is_same =
                |one: &Change| one.before.as_ref().map(|one| &one.body) == file.before.as_ref();
            if self
                .changes
                .borrow()
                .get(&file.path)
                .is_some_and(|one| is_same(one))
            {
                let before = file.after.map(|body| Before::of_body((body, file.mode)));
                self.moved_on(&file.path, before);
                settled.push(file.path);
            }
        }
        settled
    }

    /// From now on, the overlay's content of a file is a change of this one.
    fn moved_on(&self, path: &VPath, base: Option<Before>) {
        self.touch(path);
        if let Some(one) = self.changes.borrow_mut().get_mut(path) {
            one.before = base;
        }
    }
}
