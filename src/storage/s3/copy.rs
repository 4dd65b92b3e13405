//! Moving and copying by the server, without the bytes. A copy names the state of both objects, so
//! that a file which others changed or made meanwhile is never replaced, and its lost answer is
//! cleared up like that of a put. Many servers copy objects but ignore these conditions; a probe finds
//! that out, and then files are read and put.

use super::answer::Told;
use super::note::Note;
use super::objects::Source;
use super::probe::{self, Conditions};
use super::state::Base;
use super::store::{S3, backoff};
use super::write::{Change, Stop, What, name};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Texture};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::env::timer;
use crate::protocol::{COPIED, Transfer, gone, one_by_one, stands};
use crate::storage::{Meta, PutMode, Version, Within};

/// How often a copy is repeated because one of its objects was changed meanwhile.
const TURNS: u32 = 16;
/// How often the probe is repeated after failures.
const PROBES: u32 = 2;

impl S3 {
    /// Whether the server copies objects under conditions.
    async fn copies(&self, known: Conditions) -> bool {
        if !(known.create && known.update) {
            return false;
        }
        if let Some(copies) = self.copying.get() {
            return copies;
        }
        let _turn = self.probing.lock().await;
        if let Some(copies) = self.copying.get() {
            return copies;
        }
        let found = probe::copies(&self.client, &*self.objects, known.form).await;
        let copies = found.as_ref().is_ok_and(|copies| *copies);
        self.unanswered
            .set(self.unanswered.get() + u32::from(found.is_err()));
        if found.is_ok() || self.unanswered.get() >= PROBES {
            self.copying.set(Some(copies));
        }
        copies
    }

    async fn told(&self, path: &VPath, key: &str) -> Result<Option<Told>> {
        let seen = self.head("read", path, key).await;
        let seen = seen.map_err(|failure| failure.error)?;
        self.remember(key, seen.as_ref());
        Ok(seen)
    }

    /// Copies an object and returns the ETag that its source had.
    async fn copy(&self, from: &VPath, to: &VPath, overwrite: bool) -> Result<String> {
        let (source_key, key) = (self.key(from)?, self.key(to)?);
        let known = self.conditions().await?;
        if !self.copies(known).await {
            return Err(one_by_one());
        }
        let mode = match overwrite {
            true => PutMode::Overwrite,
            false => PutMode::Create,
        };
        for turn in 0..TURNS {
            let Some(told) = self.told(from, &source_key).await? else {
                return Err(Error::not_found(from));
            };
            let meta = renamed(&told, from, to).ok_or_else(one_by_one)?;
            let base = match overwrite {
                true => self.base(to, &key).await?,
                false => Base::Absent,
            };
            let source = Source {
                key: &source_key,
                tag: &told.tag,
                form: known.form,
            };
            let change = Change {
                path: to,
                key: &key,
                mode: &mode,
                what: What::Copy(source, &meta),
                note: Note::of_copy(told.note.as_ref(), &meta, &name(), base.note()),
                base,
            };
            let stop = match self.put_over(&change, known).await {
                Ok(copied) => {
                    self.settle(change, copied);
                    return Ok(told.tag);
                }
                Err(stop) => stop,
            };
            self.forget(&key);
            match stop {
                // A copy needs more permissions than reading and writing.
                Stop::Failed(error) if error.kind() == Kind::PermissionDenied => break,
                Stop::Failed(error) => return Err(error),
                Stop::Refused if !overwrite && self.told(to, &key).await?.is_some() => {
                    return Err(Error::already_exists(to));
                }
                Stop::Refused => timer::sleep(backoff(turn)).await,
            }
        }
        Err(one_by_one())
    }
}

/// The metadata of a file at its new path; `None` if only its bytes can tell.
fn renamed(told: &Told, from: &VPath, to: &VPath) -> Option<Meta> {
    if !told.plain {
        return None;
    }
    let mut meta = told.meta.clone();
    let named = file::mime_of_name(to);
    if named != file::mime_of_name(from) || meta.mime.is_none() {
        let mime = named?;
        meta.texture = match meta.texture {
            _ if !mime.is_text() => Some(Texture::Binary),
            Some(Texture::Binary) => None,
            known => known,
        };
        meta.mime = Some(mime);
    }
    Some(meta)
}

impl Within for S3 {
    fn retypes(&self) -> bool {
        true
    }

    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let tag = self.copy(from, to, asked.overwrite).await?;
            if asked.keeps {
                return Ok(());
            }
            let version = Version::Tag(tag.as_str().into());
            match self.delete_file(from, Some(version)).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(gone(from)),
                Err(error) => Err(stands(from, COPIED, Some(error))),
            }
        })
    }
}
