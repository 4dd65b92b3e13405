//! Reading one object: its metadata, all of its bytes, or a part. A cached object is requested with
//! its ETag and transferred again only if it has changed.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use super::answer::Told;
use super::cache::Cached;
use super::errors::Failure;
use super::note;
use super::objects::Got;
use super::store::S3;
use super::xml::Broken;
use crate::core::error::Result;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::storage::{File, Meta, Part, Version};

/// The result of a GET.
enum Fetched {
    /// The whole object; the requested part can be cut from it.
    Whole(Cached),
    /// The requested part.
    Part(Cached),
    /// A part at an unknown position.
    Unnamed,
    /// A part of a compressed representation.
    Packed,
    /// The object exists, but ends before the requested part begins.
    PastEnd,
}

impl S3 {
    /// The metadata of an object.
    pub(super) async fn head(
        &self,
        operation: &'static str,
        path: &VPath,
        key: &str,
    ) -> Result<Option<Told>, Failure> {
        let about = self.client.about(operation, Some(path));
        let mut head = || self.objects.head(key);
        present(
            self.client
                .send(about, &mut head, async |told| Ok(told))
                .await,
        )
    }

    /// The same by a single attempt.
    pub(super) async fn glance(
        &self,
        operation: &'static str,
        path: &VPath,
        key: &str,
    ) -> Result<Option<Told>, Failure> {
        let about = self.client.about(operation, Some(path));
        present(self.client.attempt(about, self.objects.head(key)).await)
    }

    async fn fetch(
        &self,
        path: &VPath,
        key: &str,
        range: Option<&Range<u64>>,
    ) -> Result<Option<Fetched>> {
        let known = self.cache.get(key);
        let tag = known.as_ref().map(|known| known.told.tag.as_str());
        let mut get = || self.objects.get(key, range, tag);
        let mut odd: Option<String> = None;
        let about = self.client.about("read", Some(path));
        let answer = self
            .client
            .send(about, &mut get, async |got| {
                Ok(match got {
                    Got::Same => {
                        let known = known.clone().map(Fetched::Whole);
                        known.ok_or(Broken("nothing was asked to be compared"))?
                    }
                    Got::Whole(told, body) => Fetched::Whole(whole(told, body, &mut odd).await?),
                    Got::Part(told, body) => Fetched::Part(Cached {
                        told: Rc::new(told),
                        body,
                    }),
                    Got::Unnamed => Fetched::Unnamed,
                    Got::Packed => Fetched::Packed,
                })
            })
            .await;
        match answer {
            Ok(got) => {
                match &got {
                    Fetched::Whole(found) => {
                        self.remember(key, Some(&found.told));
                        self.cache.put(key, found.clone());
                    }
                    Fetched::Part(found) => self.remember(key, Some(&found.told)),
                    Fetched::Unnamed | Fetched::Packed | Fetched::PastEnd => {}
                }
                Ok(Some(got))
            }
            Err(failure) if failure.is_missing() => {
                self.forget(key);
                Ok(None)
            }
            Err(failure) if failure.status == 416 && range.is_some() => Ok(Some(Fetched::PastEnd)),
            Err(failure) => Err(failure.error),
        }
    }

    /// The whole object; from the cache if the server confirms that it is unchanged.
    pub(super) async fn file(&self, path: &VPath) -> Result<Option<File>> {
        let key = self.key(path)?;
        match self.fetch(path, &key, None).await? {
            Some(Fetched::Whole(found)) => Ok(Some(as_file(found))),
            _ => Ok(None),
        }
    }

    /// A file from a fresh listing; no request if the cache has the listed version.
    pub(super) async fn listed_file(&self, path: &VPath, meta: &Meta) -> Result<Option<File>> {
        let key = self.key(path)?;
        if let Some(Version::Tag(tag)) = &meta.version
            && let Some(found) = self.cache.state(&key, tag)
        {
            return Ok(Some(as_file(found)));
        }
        self.file(path).await
    }

    /// A part of an object, or the whole object if the server returned that.
    pub(super) async fn part(&self, path: &VPath, range: Range<u64>) -> Result<Option<Part>> {
        let key = self.key(path)?;
        let start = range.start;
        let asked = (self.parts.get() && !range.is_empty()).then_some(&range);
        let mut got = self.fetch(path, &key, asked).await?;
        let whole = match got {
            Some(Fetched::Unnamed) => {
                self.parts.set(false);
                true
            }
            Some(Fetched::Packed) => true,
            // No range of an empty object is valid.
            Some(Fetched::PastEnd) => start == 0,
            _ => false,
        };
        if whole {
            got = self.fetch(path, &key, None).await?;
        }
        let part = |told: &Told, body, start| Part {
            lines: told.lines(),
            file: File {
                meta: told.meta.clone(),
                body,
            },
            start,
        };
        let whole = |found: Cached| Part {
            lines: None,
            file: as_file(found),
            start: 0,
        };
        Ok(match got {
            Some(Fetched::Whole(found)) => Some(whole(found)),
            Some(Fetched::Part(found)) => Some(part(&found.told, found.body, start)),
            Some(Fetched::PastEnd | Fetched::Packed | Fetched::Unnamed) => self
                .head("read", path, &key)
                .await
                .map_err(|failure| failure.error)?
                .map(|told| part(&told, Bytes::new(), start)),
            None => None,
        })
    }
}

/// `None` for an object that does not exist.
fn present(answer: Result<Told, Failure>) -> Result<Option<Told>, Failure> {
    match answer {
        Ok(told) => Ok(Some(told)),
        Err(failure) if failure.is_missing() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Checks a whole object. `odd` holds the last digest that did not match
/// the note.
async fn whole(mut told: Told, body: Bytes, odd: &mut Option<String>) -> Result<Cached, Broken> {
    if let Some(note) = &mut told.note {
        let digest = note::digest_at(&Pace::new(clock::now, timer::pause), &body).await;
        if !note.digest.is_empty() && note.digest != digest {
            // Another tool may have changed the object but kept the note. If the ETag is the MD5 of
            // the body, this is proven. If the ETag cannot be an MD5, a second attempt decides:
            // corruption in transit would not produce the same bytes twice.
            let proven = note::is_md5(&told.tag, &body);
            let seen = odd.replace(digest.clone()) == Some(digest);
            if !proven.unwrap_or(seen) {
                return Err(Broken("its bytes are not those that were written"));
            }
            told.meta.texture = None;
        }
    }
    Ok(Cached {
        told: Rc::new(told),
        body,
    })
}

/// A whole object as a file. The size is taken from the body, since the metadata may come from a
/// HEAD response without `Content-Length`.
fn as_file(found: Cached) -> File {
    File {
        meta: Meta {
            size: found.body.len() as u64,
            ..found.told.meta.clone()
        },
        body: found.body,
    }
}
