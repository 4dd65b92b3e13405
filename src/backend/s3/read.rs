//! Reading one object: what is known of it, all its bytes, or a part of them. What is in the
//! cache is asked for by its ETag, and only moved again if it is another by now.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use super::answer::{self, Told};
use super::cache::Cached;
use super::errors::Failure;
use super::request::Ask;
use super::store::S3;
use super::xml::Broken;
use crate::env::http::Response;
use crate::error::Result;
use crate::path::VPath;
use crate::storage::{File, Meta, Part, Version};

/// What a GET brought.
enum Got {
    /// All of it, of which the part asked for can be cut.
    Whole(Cached),
    /// What was asked for.
    Part(Cached),
    /// A part, but not which: no answer here will tell.
    Unnamed,
    /// A part of a packed form of it, which the host has unpacked.
    Packed,
    /// It is there, and ends before the part begins.
    PastEnd,
}

impl S3 {
    /// What is known of an object.
    pub(super) async fn head(
        &self,
        operation: &'static str,
        path: &VPath,
        key: &str,
    ) -> Result<Option<Told>, Failure> {
        let about = self.client.about(operation, Some(path));
        let answer = self
            .client
            .send(about, &Ask::head(key), |response| {
                let size = response
                    .header("content-length")
                    .and_then(|size| size.trim().parse().ok())
                    .unwrap_or(0);
                answer::told(&response, size)
            })
            .await;
        match answer {
            Ok(told) => Ok(Some(told)),
            Err(failure) if failure.is_missing() => Ok(None),
            Err(failure) => Err(failure),
        }
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
                    // Pages are not shown that header, but the length shows it too.
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
                        self.remember(key, &found.told);
                        self.cache.put(key, found.clone());
                    }
                    Got::Part(found) => self.remember(key, &found.told),
                    Got::Unnamed | Got::Packed | Got::PastEnd => {}
                }
                Ok(Some(got))
            }
            Err(failure) if failure.is_missing() => {
                self.cache.forget(key);
                Ok(None)
            }
            Err(failure) if failure.status == 416 && range.is_some() => Ok(Some(Got::PastEnd)),
            Err(failure) => Err(failure.error),
        }
    }

    /// An object whole, from the cache if the server says that it is the same still.
    pub(super) async fn file(&self, path: &VPath) -> Result<Option<File>> {
        let key = self.key(path)?;
        match self.fetch(path, &key, None).await? {
            Some(Got::Whole(found)) => Ok(Some(as_file(found))),
            _ => Ok(None),
        }
    }

    /// A file of a listing made just now: no request if the very state it names is here.
    pub(super) async fn listed_file(&self, path: &VPath, meta: &Meta) -> Result<Option<File>> {
        let key = self.key(path)?;
        if let Some(Version::Tag(tag)) = &meta.version
            && let Some(found) = self.cache.state(&key, tag)
        {
            return Ok(Some(as_file(found)));
        }
        self.file(path).await
    }

    /// Part of an object, or the whole where that came instead.
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
            // Of an empty object no part can be asked for.
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

    /// Exactly a part of an object, cut at its end.
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

/// An object from an answer that has all of it. `odd` is a digest that was not the note's the
/// last time.
fn whole(response: Response, odd: &mut Option<String>) -> Result<Cached, Broken> {
    let mut told = answer::told(&response, response.body.len() as u64)?;
    if let Some(note) = &mut told.note {
        let digest = answer::digest(&response.body);
        if !note.digest.is_empty() && note.digest != digest {
            // Another tool may have changed the object and kept what we wrote beside it. An ETag
            // that is the body's digest proves that; one that can be no digest leaves it to a
            // second look, which no accident passes.
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

/// A whole object as a file. Its size is that of its body: what was told may be an answer to HEAD
/// that lost its length on the way.
fn as_file(found: Cached) -> File {
    File {
        meta: Meta {
            size: found.body.len() as u64,
            ..found.told.meta.clone()
        },
        body: found.body,
    }
}
