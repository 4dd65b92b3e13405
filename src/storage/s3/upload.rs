//! A large file in parts: an upload of several requests, which becomes the object when it is completed, and
//! is nothing before. A part may be sent twice; an upload is completed once, because it is gone then. So a
//! completion that arrives late replaces no newer object, if the upload was given up meanwhile. One that is
//! broken off can be gone on with, if somebody keeps notes about it.

use bytes::{Bytes, BytesMut};
use futures_util::future::{LocalBoxFuture, join};

use super::errors::Failure;
use super::note::Note;
use super::objects::{Condition, Step};
use super::state::Base;
use super::store::S3;
use super::write::{maybe, name};
use crate::core::error::{Error, Result};
use crate::core::file;
use crate::core::future::Pending;
use crate::core::parts::{Begun, Expected, Notes, Parts, expected};
use crate::core::path::VPath;
use crate::env::clock;
use crate::storage::Streams;

/// The usual size of a part. Servers take none below 5 MiB, but for the last.
const PART: u64 = 8 << 20;
/// The most parts of an upload.
const MOST_PARTS: u64 = 10_000;

/// An upload in progress.
struct Upload<'a> {
    s3: &'a S3,
    path: &'a VPath,
    key: &'a str,
    id: String,
    /// The name of the write, by which its object is recognized.
    write: String,
    /// What must be there when it is completed.
    expected: Expected<'a>,
    /// Under which condition it is.
    condition: Condition<'a>,
    /// What is noted of it.
    notes: Option<&'a dyn Notes>,
}

/// The parts of a file, in the size that is sent.
struct Cut<'a> {
    parts: &'a dyn Parts,
    size: usize,
    /// What came behind the last one.
    rest: Bytes,
}

impl Cut<'_> {
    /// The next part; empty at the end.
    async fn next(&mut self) -> Result<Bytes> {
        let mut part = BytesMut::with_capacity(self.size);
        loop {
            let room = self.size.saturating_sub(part.len()).min(self.rest.len());
            part.extend_from_slice(&self.rest.split_to(room));
            if part.len() == self.size {
                return Ok(part.freeze());
            }
            match self.parts.next().await? {
                Some(more) => self.rest = more,
                None => return Ok(part.freeze()),
            }
        }
    }
}

impl Streams for S3 {
    fn put_parts<'a>(&'a self, path: &'a VPath, parts: &'a dyn Parts) -> Pending<'a, ()> {
        Box::pin(self.upload(path, parts))
    }
}

impl S3 {
    async fn upload(&self, path: &VPath, parts: &dyn Parts) -> Result<()> {
        let key = self.key(path)?;
        let size = PART.max(parts.size().div_ceil(MOST_PARTS));
        let cut = Cut {
            parts,
            size: usize::try_from(size).unwrap_or(usize::MAX),
            rest: Bytes::new(),
        };
        let known = self.conditions().await?;
        let expected = expected(parts);
        let mut upload = Upload {
            s3: self,
            path,
            key: &key,
            id: String::new(),
            write: name(),
            expected,
            condition: match expected {
                Expected::Nothing if known.create => Condition::Absent,
                Expected::Version(tag) if known.update => Condition::Matches(tag, known.form),
                Expected::Anything | Expected::Nothing | Expected::Version(_) => Condition::Always,
            },
            notes: parts.notes(),
        };
        upload.recall().await?;
        let tags = match upload.whole(cut).await {
            Ok(tags) => tags,
            Err(error) => return Err(upload.left(error).await),
        };
        // A delete of this instance must not meet its puts, where it cannot name a state.
        let _turn = match known.create && known.update && known.delete {
            true => None,
            false => Some(self.queue.turn(path).await),
        };
        self.late.before_copy(path).await?;
        let completed = upload.completed(&tags).await;
        self.forget(&key);
        if let Some(notes) = upload.notes.filter(|_| completed.is_ok()) {
            // Whoever finds it gives up an upload that is gone.
            let _ = notes.end().await;
        }
        completed
    }
}

impl Base {
    /// Whether it is what must be there.
    fn is(&self, expected: Expected<'_>) -> bool {
        match (expected, self) {
            (Expected::Anything, _) | (Expected::Nothing, Base::Absent) => true,
            (Expected::Version(version), Base::Present { tag, .. }) => tag == version,
            (Expected::Nothing | Expected::Version(_), _) => false,
        }
    }
}

/// The error if something else is there.
fn other(path: &VPath, expected: Expected<'_>) -> Error {
    match expected {
        Expected::Nothing => Error::already_exists(path),
        Expected::Anything | Expected::Version(_) => Error::conflict(path),
    }
}

impl Upload<'_> {
    /// Finds the upload that is noted; one that cannot be gone on with is given up.
    async fn recall(&mut self) -> Result<()> {
        let Some(notes) = self.notes else {
            return Ok(());
        };
        let Some(begun) = notes.begun().await? else {
            return Ok(());
        };
        self.id = begun.id;
        if begun.goes_on {
            self.write = begun.write;
            return Ok(());
        }
        self.abandoned().await.map_err(|failure| failure.error)?;
        self.id.clear();
        Ok(())
    }

    /// The error of an upload that is given up, unless another call may go on with it.
    async fn left(&self, error: Error) -> Error {
        if self.notes.is_none() || !error.is_no_answer() {
            // What is left behind then, the bucket's own rules remove.
            let _ = self.abandoned().await;
        }
        error
    }

    /// Begins it, if it was not begun, and sends all parts.
    async fn whole(&mut self, mut cut: Cut<'_>) -> Result<Vec<String>> {
        let first = cut.next().await?;
        if self.id.is_empty() {
            self.begun(&first).await?;
        }
        self.sent(first, cut).await
    }

    async fn begun(&mut self, first: &Bytes) -> Result<()> {
        let Upload {
            s3, path, expected, ..
        } = *self;
        let recalled = s3.recall_any(self.key);
        let base = match recalled.filter(|_| matches!(expected, Expected::Anything)) {
            Some(base) => base,
            None => s3.base(path, self.key).await?,
        };
        if !base.is(expected) {
            return Err(other(path, expected));
        }
        // Only all of it would tell whether it is text.
        let (mime, _) = file::classify(path, first, None);
        let meta = Note::of_parts(clock::now(), &self.write, base.note()).write();
        let begun = self.step(Step::Begin(mime.as_str(), &meta)).await;
        self.id = begun.map_err(|failure| failure.error)?;
        if let Some(notes) = self.notes {
            let begun = Begun {
                id: self.id.clone(),
                write: self.write.clone(),
                goes_on: true,
            };
            if let Err(error) = notes.begin(begun).await {
                // Nobody would find it.
                let _ = self.abandoned().await;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends all parts but those that were sent, each while the next one is read, and returns their ETags.
    async fn sent(&self, first: Bytes, mut cut: Cut<'_>) -> Result<Vec<String>> {
        let mut tags = Vec::new();
        let mut part = first;
        let mut end = 0;
        while !part.is_empty() {
            let number = tags.len().saturating_add(1);
            end += part.len() as u64;
            if let Some(tag) = self.notes.and_then(|notes| notes.tag(end)) {
                tags.push(tag);
                part = cut.next().await?;
                continue;
            }
            let sent = self.step(Step::Part(&self.id, number, &part));
            let (tag, next) = join(sent, cut.next()).await;
            let tag = tag.map_err(|failure| failure.error)?;
            if let Some(notes) = self.notes {
                notes.sent(end, &tag).await?;
            }
            tags.push(tag);
            part = next?;
        }
        Ok(tags)
    }

    /// Makes the object of the parts.
    async fn completed(&self, tags: &[String]) -> Result<()> {
        let S3 {
            client, objects, ..
        } = self.s3;
        let about = client.about("write", Some(self.path));
        let is_bound = !matches!(self.expected, Expected::Anything);
        // Whether an earlier attempt may have been carried out.
        let mut lost = false;
        let mut attempt = 0u32;
        loop {
            // Not every server that honours conditions does so here.
            if is_bound && !lost {
                let base = match self.s3.base(self.path, self.key).await {
                    Ok(base) => base,
                    Err(error) => return Err(self.left(error).await),
                };
                if !base.is(self.expected) {
                    return self.taken().await;
                }
            }
            let step = Step::Complete(&self.id, tags, self.condition);
            let sent = objects.upload(self.key, step);
            let failure = match client.attempt(about, sent).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            if is_bound && failure.is_condition() && !lost && !failure.is_race() {
                return self.taken().await;
            }
            lost |= failure.uncertain;
            // The upload is gone if it was completed, also by an earlier call.
            if (lost || failure.is_missing()) && self.is_made().await.unwrap_or_default() {
                return Ok(());
            }
            if let Err(failure) = client.wait(attempt, failure).await {
                return Err(self.given_up(lost, failure).await);
            }
            attempt += 1;
        }
    }

    /// The error of an upload that is given up, so that nothing of it is carried out later.
    async fn given_up(&self, lost: bool, failure: Failure) -> Error {
        let is_over = self.abandoned().await.is_ok();
        match (lost, is_over) {
            (false, _) => failure.error,
            (true, true) if matches!(self.is_made().await, Ok(false)) => failure.error,
            (true, _) => {
                let about = self.s3.client.about("write", Some(self.path));
                maybe(about, failure.error)
            }
        }
    }

    /// Whether the object, or one that was written after it, is this one.
    async fn is_made(&self) -> Result<bool> {
        let seen = self.s3.head("write", self.path, self.key).await;
        let seen = seen.map_err(|failure| failure.error)?;
        let note = seen.as_ref().and_then(|seen| seen.note.as_ref());
        Ok(note.is_some_and(|note| note.has(&self.write)))
    }

    /// Something else is there.
    async fn taken(&self) -> Result<()> {
        let _ = self.abandoned().await;
        Err(other(self.path, self.expected))
    }

    /// Gives it up, if it was begun.
    async fn abandoned(&self) -> Result<(), Failure> {
        if self.id.is_empty() {
            return Ok(());
        }
        match self.step(Step::Abandon(&self.id)).await {
            Err(failure) if !failure.is_missing() => return Err(failure),
            Ok(_) | Err(_) => {}
        }
        if let Some(notes) = self.notes {
            let _ = notes.end().await;
        }
        Ok(())
    }

    /// A request that may be repeated.
    fn step<'a>(&'a self, step: Step<'a>) -> LocalBoxFuture<'a, Result<String, Failure>> {
        Box::pin(async move {
            let about = self.s3.client.about("write", Some(self.path));
            let mut ask = || self.s3.objects.upload(self.key, step);
            self.s3
                .client
                .send(about, &mut ask, async |answer| Ok(answer))
                .await
        })
    }
}
