//! Changing one object. A conditional change is safe to send again. If a response was lost and the
//! condition then fails, the object itself shows whose change it contains, because every write has
//! an id and stores the ids of the writes before it.

use std::rc::Rc;

use super::answer::{Note, Told, tag_of};
use super::cache::Cached;
use super::errors::{About, Failure};
use super::request::{Ask, Condition};
use super::store::S3;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::http::Response;
use crate::env::random;
use crate::storage::{Meta, NewFile, PutMode, Version};

/// The outcome of a change whose response was lost.
enum Fate {
    /// It happened and is the current version.
    Newest(Told),
    /// It happened, and other writes followed.
    Followed(Told),
    /// It has not happened yet: the object still has the version to be replaced.
    Waiting,
    /// It did not happen, and others have replaced the version that it was based on.
    NotMade,
    /// The outcome cannot be determined.
    Unknown,
}

/// A change in progress.
struct Change<'a> {
    path: &'a VPath,
    key: &'a str,
    mode: &'a PutMode,
    /// The note of the new version.
    note: Note,
    /// The id of the write that produced the version to be replaced.
    over: Option<String>,
}

/// An id for a write. It must be unique only among the writes of one file.
fn name() -> String {
    let mut id = random::id();
    id.truncate(12);
    id
}

fn tag_in(mode: &PutMode) -> Result<Option<&str>> {
    match mode {
        PutMode::Update(Version::Tag(tag)) => Ok(Some(tag)),
        PutMode::Update(Version::Number(_)) => {
            Err(Error::internal("S3 was given a version that is no ETag"))
        }
        PutMode::Create | PutMode::Overwrite => Ok(None),
    }
}

impl S3 {
    pub(super) async fn put_file(
        &self,
        path: &VPath,
        file: NewFile,
        mode: PutMode,
    ) -> Result<Meta> {
        let key = self.key(path)?;
        let tag = tag_in(&mode)?;
        let before = tag.and_then(|tag| self.recall(&key, tag));
        let change = Change {
            path,
            key: &key,
            mode: &mode,
            note: Note::of(&file, &name(), before.as_ref()),
            over: before.map(|note| note.write),
        };
        let known = match mode {
            PutMode::Overwrite => None,
            _ => Some(self.conditions().await?),
        };
        let honoured = match (&mode, known) {
            (PutMode::Create, Some(known)) => known.create,
            (PutMode::Update(_), Some(known)) => known.update,
            _ => true,
        };
        let answer = if honoured {
            let condition = match (tag, known) {
                (Some(tag), Some(known)) => Condition::Matches(tag, known.form),
                _ if mode == PutMode::Create => Condition::Absent,
                _ => Condition::Always,
            };
            self.put_under(&change, &file, &condition).await
        } else {
            let _turn = self.queue.turn(path).await;
            self.put_after_a_look(&change, &file).await
        };
        match answer {
            Ok(told) => {
                self.remember(&key, &told);
                let meta = told.meta.clone();
                let ours = told.note.as_ref().map(|note| &note.write) == Some(&change.note.write);
                if ours {
                    let told = Rc::new(told);
                    let body = file.body;
                    self.cache.put(&key, Cached { told, body });
                } else {
                    // Others wrote afterwards; their content is unknown.
                    self.cache.forget(&key);
                }
                Ok(meta)
            }
            Err(error) => {
                self.cache.forget(&key);
                Err(error)
            }
        }
    }

    /// A write whose condition the server checks.
    async fn put_under(
        &self,
        change: &Change<'_>,
        file: &NewFile,
        condition: &Condition<'_>,
    ) -> Result<Told> {
        let about = self.client.about("write", Some(change.path));
        let ask = change.ask(file, condition);
        let mut lost = false;
        let mut attempt = 0;
        loop {
            let failure = match self.client.attempt(about, &ask).await {
                Ok(response) => return self.stored(change, file, &response).await,
                Err(failure) => failure,
            };
            let refused = !matches!(condition, Condition::Always)
                && (failure.is_condition()
                    || (matches!(condition, Condition::Matches(..)) && failure.is_missing()));
            if refused {
                if lost {
                    return self.found_out(change, change.refusal()).await;
                }
                // Two creates collided; S3 requires the loser to retry, and the retry shows the
                // winner.
                if failure.is_race() && *change.mode == PutMode::Create {
                    let failure = Failure {
                        transient: true,
                        ..failure
                    };
                    self.client
                        .wait(attempt, failure)
                        .await
                        .map_err(|failure| failure.error)?;
                    attempt += 1;
                    continue;
                }
                return Err(change.refusal());
            }
            lost |= failure.uncertain;
            if failure.uncertain && matches!(change.mode, PutMode::Update(_)) {
                // An immediate check leaves other writers less time to replace the object.
                if let Some(answer) = self.look(change).await {
                    return answer;
                }
            }
            if let Err(failure) = self.client.wait(attempt, failure).await {
                return match lost {
                    true => self.found_out(change, maybe(about, failure.error)).await,
                    false => Err(failure.error),
                };
            }
            attempt += 1;
        }
    }

    /// A write on a server that does not check conditions: the object is checked first, while calls
    /// of this instance on the path wait for each other.
    async fn put_after_a_look(&self, change: &Change<'_>, file: &NewFile) -> Result<Told> {
        let about = self.client.about("write", Some(change.path));
        let ask = change.ask(file, &Condition::Always);
        let mut attempt = 0;
        loop {
            let seen = self
                .head("write", change.path, change.key)
                .await
                .map_err(|failure| failure.error)?;
            if let Some(seen) = &seen
                && seen
                    .note
                    .as_ref()
                    .is_some_and(|note| note.write == change.note.write)
            {
                return Ok(seen.clone());
            }
            let fits = match (change.mode, &seen) {
                (PutMode::Create, seen) => seen.is_none(),
                (PutMode::Update(Version::Tag(tag)), Some(seen)) => seen.tag == **tag,
                (PutMode::Update(_), _) => false,
                (PutMode::Overwrite, _) => true,
            };
            if !fits {
                return Err(change.refusal());
            }
            match self.client.attempt(about, &ask).await {
                Ok(response) => return self.stored(change, file, &response).await,
                Err(failure) => {
                    let lost = failure.uncertain;
                    if let Err(failure) = self.client.wait(attempt, failure).await {
                        return match lost {
                            true => self.found_out(change, maybe(about, failure.error)).await,
                            false => Err(failure.error),
                        };
                    }
                }
            }
            attempt += 1;
        }
    }

    /// The metadata of a file that was just stored.
    async fn stored(
        &self,
        change: &Change<'_>,
        file: &NewFile,
        response: &Response,
    ) -> Result<Told> {
        let Some(tag) = tag_of(response) else {
            // In a page whose bucket does not expose ETags, the error of this request says what is
            // missing.
            let seen = self.head("write", change.path, change.key).await;
            return match seen.map_err(|failure| failure.error)? {
                Some(told) => Ok(told),
                None => Err(Error::conflict(change.path)),
            };
        };
        Ok(Told {
            meta: Meta {
                size: file.body.len() as u64,
                created: Some(file.created),
                modified: file.modified,
                mime: Some(file.mime.clone()),
                format: file.format,
                texture: Some(file.texture),
                version: Some(Version::Tag(tag.as_str().into())),
            },
            note: Some(change.note.clone()),
            tag,
        })
    }

    /// The outcome of a change whose response was just lost; `None` if it may still happen.
    async fn look(&self, change: &Change<'_>) -> Option<Result<Told>> {
        let seen = self.head("write", change.path, change.key).await.ok()?;
        match change.fate(seen) {
            Fate::Newest(told) | Fate::Followed(told) => Some(Ok(told)),
            Fate::Waiting => None,
            Fate::NotMade => Some(Err(change.refusal())),
            Fate::Unknown => Some(Err(change.unknown())),
        }
    }

    /// Completes a change whose response was lost: as successful, or with the error `otherwise`.
    async fn found_out(&self, change: &Change<'_>, otherwise: Error) -> Result<Told> {
        let seen = self.head("write", change.path, change.key).await;
        let Ok(seen) = seen else {
            return Err(otherwise);
        };
        match change.fate(seen) {
            Fate::Newest(told) | Fate::Followed(told) => Ok(told),
            Fate::Waiting | Fate::NotMade => Err(otherwise),
            Fate::Unknown => Err(change.unknown()),
        }
    }
}

fn maybe(about: About<'_>, error: Error) -> Error {
    let text = format!(" and may be carried out all the same ({error})");
    let kind = error.kind();
    let better = about.error(kind, text);
    match error.wait() {
        Some(wait) => better.retry_after(wait),
        None => better,
    }
}

impl Change<'_> {
    fn ask(&self, file: &NewFile, condition: &Condition<'_>) -> Ask {
        Ask::put(
            self.key,
            file.body.clone(),
            file.mime.as_str(),
            &self.note.write(),
            condition,
        )
    }

    fn refusal(&self) -> Error {
        match self.mode {
            PutMode::Create => Error::already_exists(self.path),
            _ => Error::conflict(self.path),
        }
    }

    fn unknown(&self) -> Error {
        Error::at(
            Kind::Unavailable,
            "It is not known whether '",
            self.path,
            "' was written: the answer was lost, and others have written it since. Read it again \
             before you repeat the change.",
        )
    }

    fn fate(&self, seen: Option<Told>) -> Fate {
        let Some(seen) = seen else {
            return Fate::NotMade;
        };
        let Some(note) = &seen.note else {
            return match self.mode {
                PutMode::Create => Fate::NotMade,
                _ => Fate::Unknown,
            };
        };
        let has = |name: &String| note.write == *name || note.trail.contains(name);
        if note.write == self.note.write {
            return Fate::Newest(seen);
        }
        if has(&self.note.write) {
            return Fate::Followed(seen);
        }
        match self.mode {
            PutMode::Create | PutMode::Overwrite => Fate::NotMade,
            PutMode::Update(Version::Tag(tag)) if seen.tag == **tag => Fate::Waiting,
            // The write history is complete and lacks our write.
            PutMode::Update(_) if self.over.as_ref().is_some_and(has) => Fate::NotMade,
            PutMode::Update(_) => Fate::Unknown,
        }
    }
}
