//! Changing one object. Every put names the state that it replaces, so it is safe to send again, and
//! a request that arrives late changes nothing. If a response was lost, the object itself shows
//! whose change it contains, because every write has an id and stores the ids of the writes before
//! it. If even that does not show it, the error says that the outcome is not known.

use std::rc::Rc;

use bytes::Bytes;

use super::answer::Told;
use super::cache::Cached;
use super::errors::{About, Failure};
use super::note::{self, Note};
use super::objects::{Condition, NewObject, Source};
use super::probe::Conditions;
use super::state::{Base, Since};
use super::store::{S3, backoff};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mime;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, random, timer};
use crate::storage::{Meta, NewFile, PutMode, REPLAYS, Version};

/// The outcome of a change whose response was lost.
enum Fate {
    /// It happened; others may have written since.
    Made(Box<Told>),
    /// It has not happened yet: the object still has the state to be replaced.
    Waiting,
    /// It did not happen, and others have changed the state that it was based on.
    NotMade,
    /// The outcome cannot be determined.
    Unknown,
}

/// Why a change was not made, or may not have been.
pub(super) enum Stop {
    /// The object is in another state. The change was not made.
    Refused,
    /// Another error.
    Failed(Error),
}

/// A change in progress.
pub(super) struct Change<'a> {
    pub(super) path: &'a VPath,
    pub(super) key: &'a str,
    pub(super) mode: &'a PutMode,
    pub(super) what: What<'a>,
    /// The state to be replaced.
    pub(super) base: Base,
    /// The note of the new version.
    pub(super) note: Note,
}

/// What a change stores.
pub(super) enum What<'a> {
    /// New bytes.
    File(&'a NewFile),
    /// The bytes of another object, and the metadata of the copy.
    Copy(Source<'a>, &'a Meta),
}

/// An id for a write. It must be unique only among the writes of one file.
pub(super) fn name() -> String {
    let mut id = random::id();
    id.truncate(12);
    id
}

impl S3 {
    pub(super) async fn put_file(
        &self,
        path: &VPath,
        file: NewFile,
        mode: PutMode,
    ) -> Result<Meta> {
        let key = self.key(path)?;
        let known = self.conditions().await?;
        // Without conditional deletes, a delete of this instance must not meet its puts.
        let _turn = match known.create && known.update && known.delete {
            true => None,
            false => Some(self.queue.turn(path).await),
        };
        let mut base = match &mode {
            PutMode::Create => Base::Absent,
            PutMode::Update(Version::Tag(tag)) => Base::Present {
                tag: tag.to_string(),
                note: self.recall(&key, tag),
            },
            PutMode::Update(Version::Number(_)) => {
                return Err(Error::internal("S3 was given a version that is no ETag"));
            }
            PutMode::Overwrite => match self.recall_any(&key) {
                Some(base) => base,
                None => self.base(path, &key).await?,
            },
        };
        let id = name();
        let digest = note::digest_at(&Pace::new(clock::now, timer::pause), &file.body).await;
        let mut turn = 0;
        loop {
            let change = Change {
                path,
                key: &key,
                mode: &mode,
                what: What::File(&file),
                note: Note::of_body(&file, digest.clone(), &id, base.note()),
                base,
            };
            match self.put_over(&change, known).await {
                Ok(told) => return Ok(self.settle(change, told)),
                // An overwrite replaces whatever is there.
                Err(Stop::Refused) if mode == PutMode::Overwrite && turn < REPLAYS => {
                    timer::sleep(backoff(turn)).await;
                    base = self.base(path, &key).await?;
                    turn += 1;
                }
                Err(stop) => {
                    self.forget(&key);
                    return Err(match stop {
                        Stop::Refused => change.refusal(),
                        Stop::Failed(error) => error,
                    });
                }
            }
        }
    }

    pub(super) async fn base(&self, path: &VPath, key: &str) -> Result<Base> {
        let seen = self.head("write", path, key).await;
        let seen = seen.map_err(|failure| failure.error)?;
        Ok(Base::of(seen.as_ref()))
    }

    /// Records a change that was made.
    pub(super) fn settle(&self, change: Change<'_>, told: Told) -> Meta {
        self.remember(change.key, Some(&told));
        let meta = told.meta.clone();
        match change.what {
            What::File(file)
                if told.note.as_ref().map(|note| &note.write) == Some(&change.note.write) =>
            {
                let (told, body) = (Rc::new(told), file.body.clone());
                self.cache.put(change.key, Cached { told, body });
            }
            // Others wrote afterwards, or the bytes never came here.
            _ => self.cache.forget(change.key),
        }
        meta
    }

    /// Puts a file over the state `change.base`. A server that ignores conditions is asked for the
    /// state before each attempt, while calls of this instance on the path wait for each other.
    pub(super) async fn put_over(
        &self,
        change: &Change<'_>,
        known: Conditions,
    ) -> Result<Told, Stop> {
        let about = self.client.about("write", Some(change.path));
        let failed = |lost, failure: Failure| match lost {
            true => Stop::Failed(maybe(about, failure.error)),
            false => Stop::Failed(failure.error),
        };
        let blind = has(Bug::BlindRepeat) && *change.mode == PutMode::Overwrite;
        let condition = match &change.base {
            _ if blind => Condition::Always,
            Base::Absent if known.create => Condition::Absent,
            Base::Present { tag, .. } if known.update => Condition::Matches(tag, known.form),
            _ => Condition::Always,
        };
        let object = change.object();
        let copies = object.source.is_some();
        if copies {
            let waiting = self.late.before_copy(change.path);
            waiting.await.map_err(Stop::Failed)?;
        } else if let Some(waiting) = self.late.before_put(change.path, &object.body) {
            waiting.await.map_err(Stop::Failed)?;
        }
        let mut lost = false;
        let mut attempt = 0u32;
        loop {
            if condition == Condition::Always && !blind {
                let seen = self.head("write", change.path, change.key).await;
                let seen = seen.map_err(|failure| failed(lost, failure))?;
                match change.fate(seen) {
                    Fate::Made(told) => return Ok(*told),
                    Fate::Waiting => {}
                    Fate::Unknown if lost => return Err(Stop::Failed(change.unknown())),
                    Fate::Unknown | Fate::NotMade => return Err(Stop::Refused),
                }
            }
            let sent = self.objects.put(change.key, &object, condition);
            let sent = self.late.conditional(change.path, condition, sent);
            let mut failure = match self.client.attempt(about, sent).await {
                Ok(tag) => {
                    let stored = self.stored(change, tag).await;
                    return stored.map_err(Stop::Failed);
                }
                Err(failure) => failure,
            };
            let refused = match condition {
                Condition::Always => false,
                Condition::Absent => failure.is_condition() || (copies && failure.is_missing()),
                Condition::Matches(..) => failure.is_condition() || failure.is_missing(),
            };
            // Two creates collided; S3 requires the loser to retry, and the retry shows the winner.
            failure.transient |= refused && failure.is_race() && condition == Condition::Absent;
            if refused && !lost && !failure.transient {
                return Err(Stop::Refused);
            }
            lost |= failure.uncertain;
            if lost && condition != Condition::Always {
                // An immediate check leaves other writers less time to change the object.
                let last = attempt.saturating_add(1) >= self.client.retry.attempts;
                let seen = match refused || last {
                    true => self.head("write", change.path, change.key).await,
                    false => self.glance("write", change.path, change.key).await,
                };
                match seen.map(|seen| change.fate(seen)) {
                    Ok(Fate::Made(told)) => return Ok(*told),
                    Ok(Fate::NotMade) => return Err(Stop::Refused),
                    Ok(Fate::Unknown) => return Err(Stop::Failed(change.unknown())),
                    // The condition of a repeated request decides.
                    Ok(Fate::Waiting) | Err(_) => {}
                }
            }
            if let Err(failure) = self.client.wait(attempt, failure).await {
                return Err(failed(lost, failure));
            }
            attempt += 1;
        }
    }

    /// The metadata of a file that was just stored.
    async fn stored(&self, change: &Change<'_>, tag: Option<String>) -> Result<Told> {
        let Some(tag) = tag else {
            // In a page whose bucket does not expose ETags, the error of this request says what is
            // missing.
            let seen = self.head("write", change.path, change.key).await;
            return match seen.map_err(|failure| failure.error)? {
                Some(told) => Ok(told),
                None => Err(Error::conflict(change.path)),
            };
        };
        Ok(Told {
            meta: change.meta(Some(Version::Tag(tag.as_str().into()))),
            note: Some(change.note.clone()),
            plain: true,
            tag,
        })
    }
}

/// The error of a change that may have been made, or may be made later.
pub(super) fn maybe(about: About<'_>, error: Error) -> Error {
    let text = format!(" and may be carried out all the same ({error})");
    let kind = error.kind();
    let better = match error.cause() {
        Some(cause) => about.error(kind, text).caused_by(cause.clone()),
        None => about.error(kind, text),
    };
    match error.wait() {
        Some(wait) => better.retry_after(wait),
        None => better,
    }
}

impl Change<'_> {
    fn object(&self) -> NewObject<'_> {
        let (body, source, mime) = match &self.what {
            What::File(file) => (file.body.clone(), None, Some(&file.mime)),
            What::Copy(source, meta) => (Bytes::new(), Some(*source), meta.mime.as_ref()),
        };
        NewObject {
            body,
            source,
            mime: mime.map(Mime::as_str).unwrap_or_default(),
            meta: self.note.write(),
        }
    }

    fn meta(&self, version: Option<Version>) -> Meta {
        match &self.what {
            What::File(file) => file.meta(version),
            What::Copy(_, meta) => Meta {
                version,
                ..(*meta).clone()
            },
        }
    }

    fn refusal(&self) -> Error {
        match self.mode {
            PutMode::Create => Error::already_exists(self.path),
            _ => Error::conflict(self.path),
        }
    }

    fn unknown(&self) -> Error {
        unknown(self.path, "written")
    }

    fn fate(&self, seen: Option<Told>) -> Fate {
        let since = self.base.since(seen.as_ref());
        let note = seen.as_ref().and_then(|seen| seen.note.as_ref());
        if note.is_some_and(|note| note.has(&self.note.write))
            && let Some(seen) = seen
        {
            return Fate::Made(Box::new(seen));
        }
        match since {
            Since::Same => Fate::Waiting,
            Since::Written => Fate::NotMade,
            // The file exists, so the answer to a create is the same in any case.
            Since::Other if *self.mode == PutMode::Create => Fate::NotMade,
            Since::Other => Fate::Unknown,
        }
    }
}

/// The error of a change whose outcome cannot be determined; `done` is `written` or `deleted`.
pub(super) fn unknown(path: &VPath, done: &str) -> Error {
    Error::at(
        Kind::Unavailable,
        "It is not known whether '",
        path,
        format!(
            "' was {done}: the answer was lost, and others have written or deleted it since. Read \
             it again before you repeat the change."
        ),
    )
}
