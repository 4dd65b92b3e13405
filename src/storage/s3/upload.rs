//! A large file in parts: an upload of several requests, which becomes the object when it is completed, and
//! is nothing before. A part may be sent twice; an upload is completed once, because it is gone then. So a
//! completion that arrives late replaces no newer object, if the upload was given up meanwhile.

use bytes::{Bytes, BytesMut};
use futures_util::future::{LocalBoxFuture, join};

use super::errors::Failure;
use super::note::Note;
use super::objects::Step;
use super::store::S3;
use super::write::{maybe, name};
use crate::core::error::{Error, Result};
use crate::core::file;
use crate::core::future::Pending;
use crate::core::parts::Parts;
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
        let mut cut = Cut {
            parts,
            size: usize::try_from(size).unwrap_or(usize::MAX),
            rest: Bytes::new(),
        };
        let first = cut.next().await?;
        let known = self.conditions().await?;
        let base = match self.recall_any(&key) {
            Some(base) => base,
            None => self.base(path, &key).await?,
        };
        // Only all of it would tell whether it is text.
        let (mime, _) = file::classify(path, &first, None);
        let write = name();
        let meta = Note::of_parts(clock::now(), &write, base.note()).write();
        let mut upload = Upload {
            s3: self,
            path,
            key: &key,
            id: String::new(),
            write,
        };
        let begun = upload.step(Step::Begin(mime.as_str(), &meta)).await;
        upload.id = begun.map_err(|failure| failure.error)?;
        let sent = upload.sent(first, cut).await;
        let tags = match sent {
            Ok(tags) => tags,
            Err(error) => {
                // What is left behind then, the bucket's own rules remove.
                let _ = upload.abandoned().await;
                return Err(error);
            }
        };
        // A delete of this instance must not meet its puts, where it cannot name a state.
        let _turn = match known.create && known.update && known.delete {
            true => None,
            false => Some(self.queue.turn(path).await),
        };
        self.late.before_copy(path).await?;
        let completed = upload.completed(&tags).await;
        self.forget(&key);
        completed
    }
}

impl Upload<'_> {
    /// Sends all parts, each while the next one is read, and returns their ETags.
    async fn sent(&self, first: Bytes, mut cut: Cut<'_>) -> Result<Vec<String>> {
        let mut tags = Vec::new();
        let mut part = first;
        while !part.is_empty() {
            let number = tags.len().saturating_add(1);
            let sent = self.step(Step::Part(&self.id, number, &part));
            let (tag, next) = join(sent, cut.next()).await;
            tags.push(tag.map_err(|failure| failure.error)?);
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
        // Whether an earlier attempt may have been carried out.
        let mut lost = false;
        let mut attempt = 0u32;
        loop {
            let sent = objects.upload(self.key, Step::Complete(&self.id, tags));
            let failure = match client.attempt(about, sent).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            lost |= failure.uncertain;
            // The upload is gone if it was completed.
            if lost && self.is_made().await.unwrap_or_default() {
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

    async fn abandoned(&self) -> Result<(), Failure> {
        match self.step(Step::Abandon(&self.id)).await {
            Err(failure) if !failure.is_missing() => Err(failure),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// A request that may be repeated.
    fn step<'a>(&'a self, step: Step<'a>) -> LocalBoxFuture<'a, Result<String, Failure>> {
        Box::pin(async move {
            let about = self.s3.client.about("write", Some(self.path));
            let mut ask = || self.s3.objects.upload(self.key, step);
            self.s3.client.send(about, &mut ask, Ok).await
        })
    }
}
