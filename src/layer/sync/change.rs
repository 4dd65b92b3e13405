//! One conditional change of a side, and the steps that need no more than that.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::done::{Done, End};
use super::labels;
use super::look::changed;
use super::plan::{Now, Planned, Side};
use super::{Changed, Sync};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Kind, Result};
use crate::core::file::Mode;
use crate::core::path::VPath;
use crate::layer::kit::{self, Held, body, held_at, is_conflict};
use crate::pins::Digest;
use crate::protocol::{Backend, BackendExt, Content, Replacement, Transfer, exists};
use crate::side;

/// What became of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was created.
    New,
    /// The same file was there.
    Same,
    /// Another file is there.
    Other,
}

/// Deletes a directory in which there is no file, where directories are real: what is left of files that were
/// deleted keeps none of that name away.
fn emptied<'a>(at: &'a dyn Backend, path: &'a VPath) -> LocalBoxFuture<'a, bool> {
    Box::pin(async move {
        let Ok(listing) = at.ls(path).await else {
            return false;
        };
        for entry in listing {
            if !entry.is_dir() || !emptied(at, &entry.path).await {
                return false;
            }
        }
        at.delete(path, Some(&Bytes::new())).await.is_ok()
    })
}

impl Sync {
    /// A file of a side with its permission bits.
    pub(super) async fn held(&self, side: Side, path: &VPath) -> Result<Option<Held>> {
        held_at(&**self.at(side), path).await
    }

    /// Creates a file, never over another one.
    pub(super) async fn create(
        &self,
        side: Side,
        path: &VPath,
        new: &Bytes,
        mode: Option<Mode>,
    ) -> Result<Made> {
        let at = &**self.at(side);
        let creating = || at.write(path, Content::New(new.clone(), mode));
        let mut answer = creating().await;
        if let Err(error) = &answer
            && error.kind() == Kind::IsDirectory
            && emptied(at, path).await
        {
            answer = creating().await;
        }
        let is_unable = match answer {
            Ok(_) => return Ok(Made::New),
            Err(error) if error.kind() == Kind::AlreadyExists => false,
            Err(error) if error.kind() == Kind::Unsupported => true,
            Err(error) => return Err(error),
        };
        match body(at, path).await? {
            Some(there) if there == *new => Ok(Made::Same),
            None if is_unable => at.store(path, new.clone()).await.map(|()| Made::New),
            _ => Ok(Made::Other),
        }
    }

    /// Replaces a content; `false` if the file holds another one by now.
    pub(super) async fn replace(
        &self,
        side: Side,
        path: &VPath,
        old: &Bytes,
        new: &Bytes,
    ) -> Result<bool> {
        let at = &**self.at(side);
        if has(Bug::SyncBlind) {
            return at.store(path, new.clone()).await.map(|()| true);
        }
        let replacement = Replacement {
            path: path.clone(),
            before: Some(old.clone()),
            after: Some(new.clone()),
            mode: None,
        };
        match kit::replace(at, &replacement).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) || error.kind() == Kind::NoMatch => Ok(false),
            Err(error) if error.kind() == Kind::Unsupported => match body(at, path).await? {
                Some(there) if there == *old => at.store(path, new.clone()).await.map(|()| true),
                _ => Ok(false),
            },
            Err(error) => Err(error),
        }
    }

    /// Deletes a content; `false` if the file holds another one by now.
    async fn remove(&self, side: Side, path: &VPath, old: &Bytes) -> Result<bool> {
        let at = &**self.at(side);
        match at.delete(path, Some(old)).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_no_file() => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) if error.kind() == Kind::Unsupported => match body(at, path).await? {
                Some(there) if there == *old => {
                    side::none_is_fine(at.delete(path, None).await).map(|()| true)
                }
                Some(_) => Ok(false),
                None => Ok(true),
            },
            Err(error) => Err(error),
        }
    }

    /// Sends the file of a side to the other one; `kept` is what that one still holds, if it need not be read.
    pub(super) async fn send(&self, planned: &Planned, from: Side, kept: Option<Bytes>) -> Done {
        let (path, to) = (&planned.path, from.other());
        let mut done = Done::default();
        let mut cargo = labels::empty();
        let (new, mode) = match self.carrying(from, &cargo, self.held(from, path)).await {
            Ok(Some(held)) => held,
            Ok(None) => return done.refused(path, from, changed(path)),
            Err(error) => return done.refused(path, from, error),
        };
        if !cargo.has_passed() && *planned.now.of(to) != Now::Nothing {
            match self.labels_of(to, path).await {
                // An edit of a content of which only the other side knew the labels.
                Ok(labels) => cargo = labels,
                Err(error) => return done.refused(path, to, error),
            }
        }
        if let Err(error) = self.admit(to, path, &cargo).await {
            return done.refused(path, to, error);
        }
        let sending = async {
            match planned.now.of(to) {
                Now::Nothing => match self.create(to, path, &new, mode).await {
                    Ok(Made::New) => Ok(Some(Changed::Created)),
                    Ok(Made::Same) => Ok(None),
                    Ok(Made::Other) => Err(changed(path)),
                    Err(error) => Err(error),
                },
                Now::Agreed | Now::Holds(_) | Now::Unread => {
                    self.send_over(planned, to, kept, &new).await
                }
            }
        };
        match self.writing(to, &cargo, sending).await {
            Ok(None) => match self.tell(to, path, &cargo).await {
                Ok(()) => done.agreed(path, new, &[]),
                Err(error) => done.refused(path, to, error),
            },
            Ok(Some(what)) => {
                done.changed(path, to, what);
                done.sent += new.len() as u64;
                done.agreed(path, new, &[to])
            }
            Err(error) => done.refused(path, to, error),
        }
    }

    /// Replaces what was agreed on; `None` if it is the same.
    async fn send_over(
        &self,
        planned: &Planned,
        to: Side,
        kept: Option<Bytes>,
        new: &Bytes,
    ) -> Result<Option<Changed>> {
        let path = &planned.path;
        let old = match kept {
            Some(text) => text,
            None => self.old(planned, to).await?.ok_or_else(|| changed(path))?,
        };
        if old == *new {
            return Ok(None);
        }
        match self.replace(to, path, &old, new).await? {
            true => Ok(Some(Changed::Replaced)),
            false => Err(changed(path)),
        }
    }

    /// The agreed content that a side still has; `None` if it has another one by now.
    async fn old(&self, planned: &Planned, side: Side) -> Result<Option<Bytes>> {
        let there = body(&**self.at(side), &planned.path).await?;
        Ok(there.filter(|there| Some(Digest::of(there)) == planned.agreed))
    }

    /// Deletes the file of a side, as the other side did.
    pub(super) async fn delete(&self, planned: &Planned, side: Side) -> Done {
        let path = &planned.path;
        let done = Done::default();
        // A listing may leave out a file that is there, and what may not be read is not gone.
        match exists(&**self.at(side.other()), path).await {
            Ok(false) => {}
            Ok(true) if has(Bug::SyncDeleteFirst) => {}
            Ok(true) => return done.refused(path, side.other(), changed(path)),
            Err(error) => return done.refused(path, side.other(), error),
        }
        let there = match body(&**self.at(side), path).await {
            Ok(there) => there,
            Err(error) => return done.refused(path, side, error),
        };
        let Some(old) = there else {
            return done.gone(path);
        };
        let is_agreed = Some(Digest::of(&old)) == planned.agreed;
        if !is_agreed && !has(Bug::SyncDeleteFirst) {
            return done.refused(path, side, changed(path));
        }
        match self.remove(side, path, &old).await {
            Ok(true) => {
                let mut done = done.gone(path);
                done.changed(path, side, Changed::Deleted);
                done
            }
            Ok(false) => done.refused(path, side, changed(path)),
            Err(error) => done.refused(path, side, error),
        }
    }

    /// Moves the file of a side, as the other side did. What somebody wrote to it meanwhile goes with it, and
    /// is an edit of the next run.
    pub(super) async fn shift(
        &self,
        planned: &Planned,
        old: &Planned,
        size: u64,
        side: Side,
    ) -> Done {
        let (from, to) = (&old.path, &planned.path);
        let mut done = Done::default();
        let other = &**self.at(side.other());
        match (exists(other, from).await, exists(other, to).await) {
            (Ok(false), Ok(true)) => {}
            (Err(error), _) | (_, Err(error)) => return done.refused(to, side.other(), error),
            _ => return done.refused(to, side.other(), changed(to)),
        }
        let cargo = match self.labels_of(side.other(), to).await {
            Ok(cargo) => cargo,
            Err(error) => return done.refused(to, side.other(), error),
        };
        if let Err(error) = self.admit(side, to, &cargo).await {
            return done.refused(to, side, error);
        }
        let moved = Transfer {
            from: from.clone(),
            to: to.clone(),
            keeps: false,
            overwrite: false,
        };
        let moving = async { self.at(side).transfer(&moved).await };
        match self.writing(side, &cargo, moving).await {
            Ok(_) => {
                let end = End::Agreed {
                    digest: old.agreed.unwrap_or_else(|| Digest::of(b"")),
                    size,
                    body: None,
                    written: vec![side],
                };
                done.ends.push((to.clone(), end));
                done.changed(to, side, Changed::Moved(from.clone()));
                done.gone(from)
            }
            Err(error) if error.kind() == Kind::Unsupported => {
                let sent = self.send(planned, side.other(), None).await;
                match sent.refused.is_empty() {
                    true => sent.and(self.delete(old, side).await),
                    false => sent,
                }
            }
            Err(error) => {
                let error = match is_conflict(&error) {
                    true => changed(to),
                    false => error,
                };
                if error.is_no_answer() {
                    done.ends.push((from.clone(), End::Open));
                }
                done.refused(to, side, error)
            }
        }
    }
}
