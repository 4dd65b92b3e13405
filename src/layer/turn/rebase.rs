//! Brings a turn up to date with what is below now: changes of others are merged with the turn's by
//! lines. What cannot be merged stays as it is and is listed.

use std::rc::Rc;

use bytes::Bytes;

use super::keeper::judged;
use super::{Covered, Turn, lines};
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::protocol::GlobQuery;
use crate::search::glob::Pattern;

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
enum Next {
    /// The turn's content stays, over what is below now.
    Ours,
    /// It is as below now, so nothing is left to change.
    Theirs,
    Merged(Bytes),
    Unmerged,
}

fn next(before: Option<&Bytes>, now: Option<&Bytes>, ours: Option<&Bytes>) -> Next {
    if ours == now {
        return Next::Theirs;
    }
    if has(Bug::RebaseDropsDeletion) && now.is_none() {
        return Next::Ours;
    }
    let (Some(before), Some(now), Some(ours)) = (before, now, ours) else {
        return Next::Unmerged;
    };
    if ours == before {
        return Next::Theirs;
    }
    if ![before, now, ours].iter().all(|body| lines::is_text(body)) {
        return Next::Unmerged;
    }
    match lines::merge(before, ours, now) {
        Some(merged) => Next::Merged(Bytes::from(merged)),
        None => Next::Unmerged,
    }
}

impl Turn {
    /// Merges what others have changed below. For files that match one of the patterns `keep` the
    /// turn's content wins where that is not possible. What was read counts as read now.
    pub async fn rebase(&self, keep: &[Rc<str>]) -> Result<Rebased> {
        let _changing = self.enter().await?;
        let rebased = self.rebased(keep).await;
        judged(rebased, self.leave(true).await)
    }

    async fn rebased(&self, keep: &[Rc<str>]) -> Result<Rebased> {
        let mut kept = Vec::with_capacity(keep.len());
        for pattern in keep {
            let query = GlobQuery {
                pattern: pattern.clone(),
                path: VPath::root(),
            };
            kept.push(Pattern::parse(&query)?);
        }
        let mut rebased = Rebased::default();
        let covered: Vec<(VPath, Covered)> = {
            let covered = self.covered.borrow();
            let all = covered.iter();
            all.map(|(path, one)| (path.clone(), (**one).clone()))
                .collect()
        };
        for (path, one) in covered {
            let before = one.before.as_ref().map(|before| &before.body);
            let below = self.below(&path).await?;
            let now = below.as_ref().map(|below| below.body.clone());
            if before == now.as_ref() {
                continue;
            }
            let ours = match one.exists {
                true => Some(self.over_body(&path).await?),
                false => None,
            };
            match next(before, now.as_ref(), ours.as_ref()) {
                Next::Theirs => self.uncover(&path, one.exists).await?,
                Next::Ours => self.moved_on(&path, below),
                Next::Merged(body) => {
                    self.put(&path, body).await?;
                    self.moved_on(&path, below);
                    rebased.merged.push(path);
                }
                Next::Unmerged if kept.iter().any(|pattern| pattern.accepts(&path)) => {
                    self.moved_on(&path, below);
                }
                Next::Unmerged => rebased.conflicts.push(super::Unmerged {
                    path,
                    before: before.cloned(),
                    now,
                    ours,
                }),
            }
        }
        let noted = self.notes.borrow().all();
        for (question, digest) in noted {
            let now = self.digests().ask(&*self.base, &question).await?;
            if now != digest {
                self.notes.borrow_mut().renew(&question, now);
                if let Some(kept) = self.kept.get() {
                    kept.noted(question.clone(), now, true);
                }
                let path = question.path();
                if !rebased.read.contains(path) {
                    rebased.read.push(path.clone());
                }
            }
        }
        Ok(rebased)
    }

    /// From now on, the turn's content of a file is a change of this one.
    fn moved_on(&self, path: &VPath, below: Option<super::Before>) {
        self.mark(path);
        if let Some(one) = self.covered.borrow_mut().get_mut(path) {
            one.before = below;
        }
    }
}
