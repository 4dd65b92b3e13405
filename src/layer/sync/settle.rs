//! Two edits of one file: merged by lines where they do not touch, else both stay, or a choice decides.
//!
//! If both stay, the file of the second side keeps its name: it is the tree that several may share. The other
//! one gets a name beside it, on both sides, before anything is replaced.

use std::rc::Rc;

use bytes::Bytes;

use super::change::Made;
use super::done::Done;
use super::labels;
use super::look::{Found, changed};
use super::names;
use super::plan::{Now, Pair, Planned, Side};
use super::{Changed, Choice, Conflict, Sync};
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::file::Mode;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, timer};
use crate::layer::kit::{Held, body};
use crate::pins::Digest;
use crate::protocol::{BackendExt, Cargo};
use crate::search::merge::{is_text, merge};

/// How many names of a conflict copy are tried.
pub(super) const NAMES: usize = 100;

impl Sync {
    /// Settles it; `found` is all that the run found. `written` is when the first side wrote its file, and `base` the text of both before.
    pub(super) async fn settle(
        &self,
        planned: &Planned,
        found: &Found,
        written: Option<Time>,
        base: Option<Bytes>,
    ) -> Done {
        let path = &planned.path;
        let mut done = Done::default();
        let mut both: Vec<Held> = Vec::new();
        let cargo = Pair {
            a: labels::empty(),
            b: labels::empty(),
        };
        for side in Side::BOTH {
            let held = self.held(side, path);
            match self.carrying(side, cargo.of(side), held).await {
                // The name of a copy says when this content was written, so it must be the one that was listed.
                Ok(Some((body, _))) if *planned.now.of(side) != Now::Holds(Digest::of(&body)) => {
                    return done.refused(path, side, changed(path));
                }
                Ok(Some(held)) => both.push(held),
                Ok(None) => return done.refused(path, side, changed(path)),
                Err(error) => return done.refused(path, side, error),
            }
        }
        let (Some((b, _)), Some((a, mode))) = (both.pop(), both.pop()) else {
            return done;
        };
        if a == b {
            return match self.level_one(path).await {
                Some(refusal) => done.refused(path, refusal.side, refusal.error),
                None => done.agreed(path, a, &[]),
            };
        }
        let held = Pair { a: &a, b: &b };
        let came = cargo.as_ref();
        let merged = match &base {
            Some(base) => merged(base, &a, &b).await,
            None => None,
        };
        if let Some(merged) = merged {
            let all = self.of_both(came);
            let with = Pair { a: &all, b: &all };
            if let Err(refusal) = self.admit_both(path, with).await {
                return done.refused(path, refusal.side, refusal.error);
            }
            return self
                .write_both(path, held, (merged, with), Changed::Merged, done)
                .await;
        }
        let choice = match self.choice(path).await {
            Ok(choice) => choice,
            Err(error) => return done.refused(path, Side::A, error),
        };
        let mut conflict = Conflict {
            path: path.clone(),
            choice,
            copy: None,
        };
        let of_a = self.freights(Side::A, came);
        let of_b = self.freights(Side::B, came);
        let (of_a, of_b) = (of_a.as_ref(), of_b.as_ref());
        let wanted = match choice {
            Choice::Leave => {
                done.conflict(conflict);
                return done;
            }
            Choice::Take(Side::A) => of_a,
            Choice::Take(Side::B) => of_b,
            Choice::Both => Pair {
                a: of_b.a,
                b: of_a.b,
            },
        };
        if let Err(refusal) = self.admit_both(path, wanted).await {
            return done.refused(path, refusal.side, refusal.error);
        }
        let (digest, size) = (Digest::of(&a), a.len() as u64);
        let mut kept = None;
        let winner = match choice {
            Choice::Leave => return done,
            Choice::Take(Side::A) => (a.clone(), of_a),
            Choice::Take(Side::B) => (b.clone(), of_b),
            Choice::Both => {
                kept = match has(Bug::SyncResumedTwice) {
                    true => None,
                    false => self.kept_copy(found, path, digest, size).await,
                };
                let copy = match &kept {
                    Some((_, copy)) => match self.tell_both(copy, of_a).await {
                        Ok(()) => copy.clone(),
                        Err(refusal) => return done.refused(path, refusal.side, refusal.error),
                    },
                    None => {
                        let new = (&a, mode, of_a);
                        let copied = self.copy_beside(path, written, new, done).await;
                        done = copied.0;
                        let Some(copy) = copied.1 else { return done };
                        copy
                    }
                };
                conflict.copy = Some(copy);
                (b.clone(), of_b)
            }
        };
        let refused = done.refused.len();
        let mut done = self
            .write_both(path, held, winner, Changed::Replaced, done)
            .await;
        if done.refused.len() > refused {
            return done;
        }
        // Who took that one away meanwhile may have meant to keep the content at the path.
        if let Some((side, copy)) = kept
            && self.lacks(side, &copy, size, digest).await
        {
            let copied = self
                .copy_beside(path, written, (&a, mode, of_a), done)
                .await;
            (done, conflict.copy) = copied;
        }
        done.conflict(conflict);
        done
    }

    /// What is done about a conflict.
    pub(super) async fn choice(&self, path: &VPath) -> Result<Choice> {
        match &self.options.choose {
            None => Ok(Choice::Both),
            Some(choose) => choose(path.clone()).await,
        }
    }

    /// Gives both sides a content with its labels, if they still hold what was read.
    async fn write_both(
        &self,
        path: &VPath,
        held: Pair<&Bytes>,
        (new, with): (Bytes, Pair<&Rc<Cargo>>),
        what: Changed,
        mut done: Done,
    ) -> Done {
        let mut written = Vec::new();
        for side in Side::BOTH {
            let old = *held.of(side);
            if *old == new {
                continue;
            }
            let replacing = self.replace(side, path, old, &new);
            match self.writing(side, with.of(side), replacing).await {
                Ok(true) => {
                    done.changed(path, side, what.clone());
                    done.sent += new.len() as u64;
                    written.push(side);
                }
                Ok(false) => return done.refused(path, side, changed(path)),
                Err(error) => return done.refused(path, side, error),
            }
        }
        done.agreed(path, new, &written)
    }

    /// Keeps the content of the first side beside the file, under a name that is free on both sides or has
    /// this content already. Without a copy on the first side nothing may be replaced.
    async fn copy_beside(
        &self,
        path: &VPath,
        written: Option<Time>,
        (new, mode, with): (&Bytes, Option<Mode>, Pair<&Rc<Cargo>>),
        mut done: Done,
    ) -> (Done, Option<VPath>) {
        let digest = Digest::of(new).hex();
        let written = match has(Bug::SyncResumedTwice) {
            true => Some(clock::now()),
            false => written,
        };
        let mark = names::mark(written, &digest);
        let copy = match self.free_name(path, &mark, new).await {
            Ok(copy) => copy,
            Err(error) => return (done.refused(path, Side::A, error), None),
        };
        let mut made = Vec::new();
        for side in Side::BOTH {
            let cargo = with.of(side);
            let created = match has(Bug::SyncCopyOver) {
                true => self
                    .at(side)
                    .store(&copy, new.clone())
                    .await
                    .map(|()| Made::New),
                false => {
                    let creating = self.create(side, &copy, new, mode);
                    self.writing(side, cargo, creating).await
                }
            };
            let created = match created {
                Ok(Made::Same) => self.tell(side, &copy, cargo).await.map(|()| Made::Same),
                created => created,
            };
            match created {
                Ok(Made::New) => {
                    done.changed(&copy, side, Changed::Created);
                    done.sent += new.len() as u64;
                    made.push(side);
                }
                Ok(Made::Same) => {}
                Ok(Made::Other) if side == Side::A => {
                    return (done.refused(path, side, changed(path)), None);
                }
                Err(error) if side == Side::A => return (done.refused(path, side, error), None),
                // The first side has it: the next run tries again to send it.
                Ok(Made::Other) => return (done, Some(copy)),
                Err(error) => return (done.refused(&copy, side, error), Some(copy)),
            }
        }
        (done.agreed(&copy, new.clone(), &made), Some(copy))
    }

    async fn free_name(&self, path: &VPath, mark: &str, new: &Bytes) -> Result<VPath> {
        for number in 1..NAMES {
            let copy = names::copy(path, self.name(Side::A), mark, number)?;
            if has(Bug::SyncCopyOver) {
                return Ok(copy);
            }
            let mut is_free = true;
            for side in Side::BOTH {
                let there = body(&**self.at(side), &copy).await?;
                is_free &= there.is_none_or(|there| there == *new);
            }
            if is_free {
                return Ok(copy);
            }
        }
        names::copy(path, self.name(Side::A), &Digest::of(new).hex(), 1)
    }
}

/// Both edits in one, if both are texts and do not touch.
async fn merged(base: &Bytes, a: &Bytes, b: &Bytes) -> Option<Bytes> {
    let pace = Pace::new(clock::now, timer::pause);
    for body in [base, a, b] {
        if !is_text(body, &pace).await {
            return None;
        }
    }
    merge(base, a, b, &pace).await.map(Bytes::from)
}
