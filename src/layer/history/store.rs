//! Where a history is kept:
//!
//! ```text
//! log/TIME-RANDOM-FILE   a note
//! bodies/DIGEST          a content
//! ```
//!
//! A note is written before the contents that it names, and pruning looks for new notes after it has
//! deleted contents. So a content that a note needs is never lost to somebody who prunes.

use std::rc::Rc;

use bytes::Bytes;

use super::note::{Note, millis};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::layer::creating::create;
use crate::protocol::{FileInfo, SharedBackend};

pub(super) struct Store {
    pub(super) at: SharedBackend,
    pub(super) dir: VPath,
}

impl Store {
    fn note_path(&self, id: &str) -> Result<VPath> {
        Ok(self.dir.join(&format!("log/{id}"))?)
    }

    fn body_path(&self, digest: &str) -> Result<VPath> {
        Ok(self.dir.join(&format!("bodies/{digest}"))?)
    }

    /// Writes a note, also over an earlier one of this name.
    pub(super) async fn put(&self, note: &Note) -> Result<()> {
        let files = vec![(self.note_path(&note.id)?, note.bytes())];
        self.at.upload(files).await.into_iter().collect()
    }

    /// Deletes a note.
    pub(super) async fn drop_note(&self, id: &str) -> Result<()> {
        none_is_fine(self.at.delete(&self.note_path(id)?, None).await)
    }

    /// Keeps a content; one that is there already is not written again.
    pub(super) async fn hold(&self, digest: &str, body: &Bytes) -> Result<()> {
        create(&self.at, &self.body_path(digest)?, body)
            .await
            .map(drop)
    }

    /// A content, if it is kept.
    pub(super) async fn find(&self, digest: &str) -> Result<Option<Bytes>> {
        let path = self.body_path(digest)?;
        body(&self.at, &path).await
    }

    /// A content; `None` stands for no file.
    pub(super) async fn content(&self, digest: Option<&Rc<str>>) -> Result<Option<Bytes>> {
        let Some(digest) = digest else {
            return Ok(None);
        };
        let gone = || {
            let path = self.body_path(digest).unwrap_or_else(|_| self.dir.clone());
            Error::at(
                Kind::Unavailable,
                "The history holds this content no more: '",
                &path,
                "' is missing where the history is kept",
            )
        };
        self.find(digest).await?.map(Some).ok_or_else(gone)
    }

    /// Deletes a content.
    pub(super) async fn drop_body(&self, digest: &str) -> Result<()> {
        none_is_fine(self.at.delete(&self.body_path(digest)?, None).await)
    }

    /// The names of all notes, the oldest first.
    pub(super) async fn ids(&self) -> Result<Vec<Rc<str>>> {
        let infos = self.at.ls(&self.dir.join("log")?).await?;
        let names = infos.iter().map(|info| info.path.name());
        let mut ids: Vec<Rc<str>> = names
            .filter(|name| millis(name).is_some())
            .map(Rc::from)
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// All contents with their sizes.
    pub(super) async fn bodies(&self) -> Result<Vec<FileInfo>> {
        self.at.ls(&self.dir.join("bodies")?).await
    }

    /// Notes by their names. Those that are gone meanwhile, or were broken off, are left out.
    pub(super) async fn notes(&self, ids: &[Rc<str>]) -> Result<Vec<Note>> {
        let mut paths = Vec::with_capacity(ids.len());
        for id in ids {
            paths.push(self.note_path(id)?);
        }
        let mut notes = Vec::with_capacity(ids.len());
        for (id, answer) in ids.iter().zip(self.at.download(&paths).await) {
            match answer {
                Ok(bytes) => notes.extend(Note::parse(id, &bytes)),
                Err(error) if error.is_no_file() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(notes)
    }
}

fn none_is_fine<T>(answer: Result<T>) -> Result<()> {
    match answer {
        Err(error) if !error.is_no_file() => Err(error),
        _ => Ok(()),
    }
}

/// A file, if there is one.
pub(super) async fn body(at: &SharedBackend, path: &VPath) -> Result<Option<Bytes>> {
    let answer = at.download(std::slice::from_ref(path)).await;
    match answer.into_iter().next() {
        Some(Ok(body)) => Ok(Some(body)),
        Some(Err(error)) if error.is_no_file() => Ok(None),
        Some(Err(error)) => Err(error),
        None => Err(Error::internal("A backend answered too few files")),
    }
}
