//! Reading one object: its metadata, all of its bytes, or a part. A cached object is requested with
//! its ETag and transferred again only if it has changed.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use super::answer::{self, Told};
use super::cache::Cached;
use super::errors::Failure;
use super::request::Ask;
use super::store::S3;
use super::xml::Broken;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::http::Response;
use crate::storage::{File, Meta, Part, Version};

/// The result of a GET.
enum Got {
    /// The whole object; the requested part can be cut from it.
    Whole(Cached),
    /// The requested part.
    Part(Cached),
    /// A part without `Content-Range`, so its position is unknown. Ranges cannot be used in this
    /// environment.
    Unnamed,
    /// A part of a compressed representation, which the host has decompressed.
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
        let answer = self.client.send(about, &Ask::head(key), described).await;
        present(answer)
    }

    /// The same by a single attempt.
    pub(super) async fn glance(
        &self,
        operation: &'static str,
        path: &VPath,
        key: &str,
    ) -> Result<Option<Told>, Failure> {
        let about = self.client.about(operation, Some(path));
        let answer = self.client.attempt(about, &Ask::head(key)).await;
        present(
            answer.and_then(|response| {
                described(response).map_err(|broken| about.nonsense(broken.0))
            }),
        )
    }

    async fn fetch(
        &self,
        path: &VPath,
        key: &str,
        range: Option<&Range<u64>>,
    ) -> Result<Option<Got>> {
        let known = self.cache.get(key);
        let tag = known.as_ref().map(|known| known.told.tag.as_str());
        let ask = match range {
            Some(range) => Ask::get_range(key, range.start, range.end, tag),
            None => Ask::get(key, tag),
        };
        let mut odd: Option<String> = None;
        let about = self.client.about("read", Some(path));
        let answer = self
            .client
            .send(about, &ask, |response| {
                if response.status == 304 {
                    let known = known.clone().map(Got::Whole);
                    return known.ok_or(Broken("nothing was asked to be compared"));
                }
                if let (206, Some(range)) = (response.status, range) {
                    let Some(size) = answer::whole_size(&response) else {
                        return Ok(Got::Unnamed);
                    };
                    let wanted = range.end.min(size).saturating_sub(range.start);
                    let length = response.body.len() as u64;
                    // Pages may not see that header, but the length shows the same.
                    if response.header("content-encoding").is_some() || length > wanted {
                        return Ok(Got::Packed);
                    }
                    if length < wanted {
                        return Err(Broken("it is not the part that was asked for"));
                    }
                    if wanted < size {
                        return Ok(Got::Part(Cached {
                            told: Rc::new(answer::told(&response, size)?),
                            body: response.body,
                        }));
                    }
                }
                whole(response, &mut odd).map(Got::Whole)
            })
            .await;
        match answer {
            Ok(got) => {
                match &got {
                    Got::Whole(found) => {
                        self.remember(key, Some(&found.told));
                        self.cache.put(key, found.clone());
                    }
                    Got::Part(found) => self.remember(key, Some(&found.told)),
                    Got::Unnamed | Got::Packed | Got::PastEnd => {}
                }
                Ok(Some(got))
            }
            Err(failure) if failure.is_missing() => {
                self.forget(key);
                Ok(None)
            }
            Err(failure) if failure.status == 416 && range.is_some() => Ok(Some(Got::PastEnd)),
            Err(failure) => Err(failure.error),
        }
    }

    /// The whole object; from the cache if the server confirms that it is unchanged.
    pub(super) async fn file(&self, path: &VPath) -> Result<Option<File>> {
        let key = self.key(path)?;
        match self.fetch(path, &key, None).await? {
            Some(Got::Whole(found)) => Ok(Some(as_file(found))),
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
            Some(Got::Unnamed) => {
                self.parts.set(false);
                true
            }
            Some(Got::Packed) => true,
            // No range of an empty object is valid.
            Some(Got::PastEnd) => start == 0,
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
            Some(Got::Whole(found)) => Some(whole(found)),
            Some(Got::Part(found)) => Some(part(&found.told, found.body, start)),
            Some(Got::PastEnd | Got::Packed | Got::Unnamed) => self
                .head("read", path, &key)
                .await
                .map_err(|failure| failure.error)?
                .map(|told| part(&told, Bytes::new(), start)),
            None => None,
        })
    }

    /// Exactly a range of an object, shorter at its end.
    pub(super) async fn range(&self, path: &VPath, range: Range<u64>) -> Result<Option<File>> {
        let part = self.part(path, range.clone()).await?;
        Ok(part.map(|part| {
            let len = part.file.body.len();
            let at = |place: u64| {
                let inside = place.saturating_sub(part.start);
                usize::try_from(inside).unwrap_or(len).min(len)
            };
            let (start, end) = (at(range.start), at(range.end));
            File {
                meta: part.file.meta,
                body: part.file.body.slice(start..end.max(start)),
            }
        }))
    }
}

/// Parses the response to a HEAD.
fn described(response: Response) -> Result<Told, Broken> {
    let size = response
        .header("content-length")
        .and_then(|size| size.trim().parse().ok())
        .unwrap_or(0);
    answer::told(&response, size)
}

/// `None` for an object that does not exist.
fn present(answer: Result<Told, Failure>) -> Result<Option<Told>, Failure> {
    match answer {
        Ok(told) => Ok(Some(told)),
        Err(failure) if failure.is_missing() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Parses a response that contains the whole object. `odd` holds the last digest that did not match
/// the note.
fn whole(response: Response, odd: &mut Option<String>) -> Result<Cached, Broken> {
    let mut told = answer::told(&response, response.body.len() as u64)?;
    if let Some(note) = &mut told.note {
        let digest = answer::digest(&response.body);
        if !note.digest.is_empty() && note.digest != digest {
            // Another tool may have changed the object but kept the note. If the ETag is the MD5 of
            // the body, this is proven. If the ETag cannot be an MD5, a second attempt decides:
            // corruption in transit would not produce the same bytes twice.
            let proven = answer::is_md5(&told.tag, &response.body);
            let seen = odd.replace(digest.clone()) == Some(digest);
            if !proven.unwrap_or(seen) {
                return Err(Broken("its bytes are not those that were written"));
            }
            told.meta.texture = None;
        }
    }
    Ok(Cached {
        told: Rc::new(told),
        body: response.body,
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
