//! What is stored as a new version of a file: its type, its times, its form, and whether it is too large.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Format, Mime, Texture};
use crate::core::path::VPath;
use crate::core::scan;
use crate::core::time::Time;
use crate::env::clock;
use crate::files::Operations;
use crate::protocol::Capability;
use crate::storage::{Meta, NewFile};

impl Operations {
    /// Refuses a file of that size where it may not be stored.
    pub(super) fn may_store(&self, path: &VPath, size: u64) -> Result<()> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.sized(path, size, &self.writable()?)
    }

    /// The same, where it is known what the storage can do.
    pub(super) fn sized(&self, path: &VPath, size: usize, capability: &Capability) -> Result<()> {
        let limits = [self.options.max_file_bytes, capability.max_file_bytes];
        match limits.into_iter().flatten().min() {
            Some(limit) if size as u64 > limit => Err(Error::at(
                Kind::TooLarge,
                "'",
                path,
                format!("' would be {size} bytes, over the limit of {limit}"),
            )),
            _ => Ok(()),
        }
    }

    /// Prepares a body for storing. `created` is now, unless the previous file had a creation time.
    pub(super) fn new_file(&self, path: &VPath, body: Bytes, previous: Option<&Meta>) -> NewFile {
        let named = file::mime_of_name(path);
        self.named_file(path, named, body, previous, clock::now())
    }

    /// The same, where the type that the name has and the time are known.
    pub(super) fn named_file(
        &self,
        path: &VPath,
        named: Option<Mime>,
        body: Bytes,
        previous: Option<&Meta>,
        now: Time,
    ) -> NewFile {
        // Re-detect a type that was sniffed from the old bytes.
        let given = previous
            .and_then(|meta| meta.mime.as_ref())
            .filter(|_| named.is_some());
        let (mime, texture) = file::classify(path, &body, given.or(named.as_ref()));
        let format = match previous {
            Some(meta) => meta.format,
            None => self.options.format,
        };
        NewFile {
            body,
            created: previous.and_then(|meta| meta.created).unwrap_or(now),
            modified: now,
            mime,
            format: if texture.is_text() {
                format
            } else {
                Format::V2
            },
            texture,
            mode: None,
        }
    }

    /// Prepares a body after an edit. If the old text and the inserted text are ASCII, the result
    /// is ASCII too, so its bytes are not classified again.
    pub(super) fn edited_file(
        &self,
        path: &VPath,
        body: Bytes,
        previous: &Meta,
        put_in: &[u8],
    ) -> NewFile {
        let plain = scan::is_ascii(put_in) && memchr::memchr(0, put_in).is_none();
        match (&previous.mime, previous.texture) {
            (Some(mime), Some(Texture::Ascii)) if plain => {
                let now = clock::now();
                NewFile {
                    body,
                    created: previous.created.unwrap_or(now),
                    modified: now,
                    mime: mime.clone(),
                    format: previous.format,
                    texture: Texture::Ascii,
                    mode: None,
                }
            }
            _ => self.new_file(path, body, Some(previous)),
        }
    }
}
