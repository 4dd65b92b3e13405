//! Where a history is kept:
//!
//! ```text
//! log/TIME-RANDOM-FILE   a note
//! bodies/DIGEST          a content
//! nodes/DIGEST           a part of a tree
//! pins/TIME-DIGEST-…     a pin: the digest of the root of its tree
//! pins/TIME-making-…     a pin that is being made
//! labels/DIGEST          the pin that has the label with this digest
//! pruning                there while somebody prunes: since when
//! dropped                the name of the newest note that was dropped
//! ```
//!
//! A note is written before the contents that it names, and pruning looks for new notes after it has
//! deleted contents. So a content that a note needs is never lost to somebody who prunes.

use std::rc::Rc;

use bytes::Bytes;

use super::note::{Note, millis};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::random;
use crate::layer::kit::{body, create};
use crate::pins::{Digest, Objects};
use crate::protocol::{BackendExt, FileInfo, SharedBackend};

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
        create(&*self.at, &self.body_path(digest)?, body)
            .await
            .map(drop)
    }

    /// A content, if it is kept.
    pub(super) async fn find(&self, digest: &str) -> Result<Option<Bytes>> {
        let path = self.body_path(digest)?;
        body(&*self.at, &path).await
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

    /// Nodes and contents by their digests.
    pub(super) fn objects(&self) -> Objects {
        Objects {
            at: self.at.clone(),
            dir: self.dir.clone(),
        }
    }

    /// Keeps a node; one that is there already is not written again.
    pub(super) async fn hold_node(&self, digest: &Digest, node: &Bytes) -> Result<()> {
        let path = self.objects().node_path(digest)?;
        create(&*self.at, &path, node).await.map(drop)
    }

    /// Deletes a node.
    pub(super) async fn drop_node(&self, digest: &Digest) -> Result<()> {
        let path = self.objects().node_path(digest)?;
        none_is_fine(self.at.delete(&path, None).await)
    }

    fn pin_path(&self, name: &str) -> Result<VPath> {
        Ok(self.dir.join(&format!("pins/{name}"))?)
    }

    /// Writes the file of a pin.
    pub(super) async fn put_pin(&self, name: &str) -> Result<()> {
        let text = Bytes::from_static(b"kitbag pin 1\n");
        let files = vec![(self.pin_path(name)?, text)];
        self.at.upload(files).await.into_iter().collect()
    }

    /// Deletes the file of a pin.
    pub(super) async fn drop_pin(&self, name: &str) -> Result<()> {
        none_is_fine(self.at.delete(&self.pin_path(name)?, None).await)
    }

    /// All pins, the oldest first.
    pub(super) async fn pins(&self) -> Result<Vec<Record>> {
        let infos = self.at.ls(&self.dir.join("pins")?).await?;
        let names = infos.iter().map(|info| info.path.name());
        let mut records: Vec<Record> = names.filter_map(Record::of).collect();
        records.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(records)
    }

    fn label_path(&self, label: &str) -> Result<VPath> {
        let name = Digest::of(label.as_bytes()).hex();
        Ok(self.dir.join(&format!("labels/{name}"))?)
    }

    /// Notes which pin has a label.
    pub(super) async fn put_label(&self, label: &str, pin: &str) -> Result<()> {
        let text = Bytes::copy_from_slice(pin.as_bytes());
        let files = vec![(self.label_path(label)?, text)];
        self.at.upload(files).await.into_iter().collect()
    }

    /// The pin that has a label.
    pub(super) async fn label(&self, label: &str) -> Result<Option<Rc<str>>> {
        let found = body(&*self.at, &self.label_path(label)?).await?;
        let text = found.and_then(|text| String::from_utf8(text.to_vec()).ok());
        Ok(text.map(Rc::from))
    }

    /// Begins to prune; `false` if somebody else does and has said so since `oldest`, in microseconds.
    pub(super) async fn lock(&self, now: i64, oldest: i64) -> Result<bool> {
        let path = self.dir.join("pruning")?;
        let text = Bytes::from(now.to_string());
        if create(&*self.at, &path, &text).await? {
            return Ok(true);
        }
        let Some(found) = body(&*self.at, &path).await? else {
            return create(&*self.at, &path, &text).await;
        };
        let since = std::str::from_utf8(&found).ok();
        let since = since.and_then(|since| since.parse::<i64>().ok());
        if since.is_some_and(|since| since > oldest) {
            return Ok(false);
        }
        // It is of a process that ended. Whoever deletes it goes on.
        none_is_fine(self.at.delete(&path, Some(&found)).await)?;
        create(&*self.at, &path, &text).await
    }

    /// Says that the pruning goes on.
    pub(super) async fn keep_lock(&self, now: i64) -> Result<()> {
        let files = vec![(self.dir.join("pruning")?, Bytes::from(now.to_string()))];
        self.at.upload(files).await.into_iter().collect()
    }

    /// Ends pruning.
    pub(super) async fn unlock(&self) -> Result<()> {
        none_is_fine(self.at.delete(&self.dir.join("pruning")?, None).await)
    }

    /// Says that this note and those before it are dropped.
    pub(super) async fn put_dropped(&self, id: &str) -> Result<()> {
        let files = vec![(
            self.dir.join("dropped")?,
            Bytes::copy_from_slice(id.as_bytes()),
        )];
        self.at.upload(files).await.into_iter().collect()
    }

    /// When the newest note that was dropped was made, in milliseconds.
    pub(super) async fn dropped(&self) -> Result<Option<i64>> {
        let found = body(&*self.at, &self.dir.join("dropped")?).await?;
        Ok(found.and_then(|id| millis(std::str::from_utf8(&id).ok()?)))
    }

    /// All nodes.
    pub(super) async fn node_names(&self) -> Result<Vec<FileInfo>> {
        self.at.ls(&self.dir.join("nodes")?).await
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

/// The name of a pin's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The whole name.
    pub(super) name: Rc<str>,
    /// When it was begun, in microseconds.
    pub(super) micros: i64,
    /// The root of its tree; `None` while it is being made.
    pub(super) root: Option<Digest>,
}

impl Record {
    /// The name for a pin, or for one that is being made.
    pub(super) fn name(micros: i64, root: Option<&Digest>) -> String {
        match root {
            Some(root) => format!("{micros:016}-{}-{:016x}", root.hex(), random::bits()),
            None => format!("{micros:016}-making-{:016x}", random::bits()),
        }
    }

    fn of(name: &str) -> Option<Record> {
        let (micros, rest) = name.split_once('-')?;
        let root = match rest.starts_with("making-") {
            true => None,
            false => Some(Digest::from_hex(rest.split_once('-')?.0)?),
        };
        Some(Record {
            name: name.into(),
            micros: micros.parse().ok()?,
            root,
        })
    }
}

fn none_is_fine<T>(answer: Result<T>) -> Result<()> {
    match answer {
        Err(error) if !error.is_no_file() => Err(error),
        _ => Ok(()),
    }
}
