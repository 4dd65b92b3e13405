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
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::env::random;
use crate::pins::{Digest, Digests, Found, Objects};
use crate::protocol::{BackendExt, FileInfo};
use crate::side::{Others, Room, create, none_is_fine};

/// How many contents are remembered as whole.
const KNOWN: usize = 4096;

pub(super) struct Store {
    room: Room,
    /// Contents that are known to be what their names say.
    whole: RefCell<Digests>,
    /// Files of pins that prove where they come from.
    proven: RefCell<Vec<Rc<str>>>,
}

impl Store {
    pub(super) fn new(room: Room) -> Store {
        Store {
            room,
            whole: RefCell::renewable(Digests::default),
            proven: RefCell::renewable(Vec::new),
        }
    }

    /// Where everything is kept.
    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// Writes a note, also over an earlier one of this name.
    pub(super) async fn put(&self, note: &Note) -> Result<()> {
        let name = format!("log/{}", note.id);
        self.room.put("note", &name, &note.bytes()).await
    }

    /// Deletes a note.
    pub(super) async fn drop_note(&self, id: &str) -> Result<()> {
        self.room.remove(&format!("log/{id}")).await
    }

    /// Keeps a content; one that is there already is not written again.
    pub(super) async fn hold(&self, digest: &str, body: &Bytes) -> Result<()> {
        let Some(digest) = Digest::from_hex(digest) else {
            return Ok(());
        };
        let path = self.objects().body_path(&digest)?;
        if !create(&**self.room.at(), &path, body).await?
            && !self.whole.borrow().has(&digest)
            && self.objects().body(&digest).await? != Found::Whole(body.clone())
        {
            // Something else has the name of this content, so it is no content of the history.
            self.room.at().store(&path, body.clone()).await?;
        }
        let mut whole = self.whole.borrow_mut();
        if whole.list().len() >= KNOWN {
            *whole = Digests::default();
        }
        whole.insert(digest);
        Ok(())
    }

    /// A content, if it is kept.
    pub(super) async fn find(&self, digest: &str) -> Result<Option<Bytes>> {
        match Digest::from_hex(digest) {
            Some(digest) => Ok(self.objects().body(&digest).await?.whole()),
            None => Ok(None),
        }
    }

    /// A content; `None` stands for no file.
    pub(super) async fn content(&self, digest: Option<&Rc<str>>) -> Result<Option<Bytes>> {
        let Some(digest) = digest else {
            return Ok(None);
        };
        let gone = || {
            let path = self.room.path(&format!("bodies/{digest}"));
            Error::at(
                Kind::Unavailable,
                "The history holds this content no more: '",
                &path.unwrap_or_else(|_| self.room.dir().clone()),
                "' is missing or damaged where the history is kept",
            )
        };
        self.find(digest).await?.map(Some).ok_or_else(gone)
    }

    /// Deletes a content.
    pub(super) async fn drop_body(&self, digest: &str) -> Result<()> {
        self.room.remove(&format!("bodies/{digest}")).await
    }

    /// Nodes and contents by their digests.
    pub(super) fn objects(&self) -> Objects {
        Objects {
            at: self.room.at().clone(),
            dir: self.room.dir().clone(),
        }
    }

    /// Keeps a node; one that is there already is not written again.
    pub(super) async fn hold_node(&self, digest: &Digest, node: &Bytes) -> Result<()> {
        let path = self.objects().node_path(digest)?;
        create(&**self.room.at(), &path, node).await.map(drop)
    }

    /// Deletes a node.
    pub(super) async fn drop_node(&self, digest: &Digest) -> Result<()> {
        let path = self.objects().node_path(digest)?;
        none_is_fine(self.room.at().delete(&path, None).await)
    }

    /// Writes the file of a pin.
    pub(super) async fn put_pin(&self, name: &str) -> Result<()> {
        self.room.put("pin", &format!("pins/{name}"), b"").await
    }

    /// Deletes the file of a pin.
    pub(super) async fn drop_pin(&self, name: &str) -> Result<()> {
        self.room.remove(&format!("pins/{name}")).await
    }

    /// All pins, the oldest first.
    pub(super) async fn pins(&self) -> Result<Vec<Record>> {
        self.read_pins(Others::LeftOut).await
    }

    /// The same, and the pins of other keys.
    pub(super) async fn all_pins(&self) -> Result<Vec<Record>> {
        self.read_pins(Others::Heard).await
    }

    /// The names of pins say everything; each file is read once, since what was planted under such a name
    /// must not keep a pruning from its work.
    async fn read_pins(&self, others: Others) -> Result<Vec<Record>> {
        let infos = self.room.list("pins").await?;
        let names = infos.iter().map(|info| info.path.name());
        let mut records: Vec<Record> = names.filter_map(Record::of).collect();
        order::sort_by(&mut records, |a, b| a.name.cmp(&b.name));
        let new: Vec<Rc<str>> = {
            let proven = self.proven.borrow();
            let names = records.iter().map(|record| record.name.clone());
            names.filter(|name| !proven.contains(name)).collect()
        };
        let files: Vec<String> = new.iter().map(|name| format!("pins/{name}")).collect();
        let found = self.room.read_all("pin", &files, others).await?;
        let mut heard: Vec<Rc<str>> = Vec::new();
        let mut proven = self.proven.borrow_mut();
        for (name, found) in new.into_iter().zip(found) {
            match found {
                Some(found) if found.is_proven => proven.push(name),
                Some(_) => heard.push(name),
                None => {}
            }
        }
        proven.retain(|name| records.iter().any(|record| record.name == *name));
        for record in &mut records {
            record.is_ours = proven.contains(&record.name);
        }
        records.retain(|record| record.is_ours || heard.contains(&record.name));
        Ok(records)
    }

    fn label_name(label: &str) -> String {
        format!("labels/{}", Digest::of(label.as_bytes()).hex())
    }

    /// Notes which pin has a label.
    pub(super) async fn put_label(&self, label: &str, pin: &str) -> Result<()> {
        let name = Store::label_name(label);
        self.room.put("label", &name, pin.as_bytes()).await
    }

    /// The pin that has a label.
    pub(super) async fn label(&self, label: &str) -> Result<Option<Rc<str>>> {
        self.text("label", &Store::label_name(label)).await
    }

    async fn text(&self, kind: &str, name: &str) -> Result<Option<Rc<str>>> {
        let found = self.room.read(kind, name).await?;
        let text = found.and_then(|found| String::from_utf8(found.body.to_vec()).ok());
        Ok(text.map(Rc::from))
    }

    /// Begins to prune; `false` if somebody else does and has said so since `oldest`, in microseconds.
    pub(super) async fn lock(&self, now: i64, oldest: i64) -> Result<bool> {
        let text = now.to_string();
        if self
            .room
            .create("pruning", "pruning", text.as_bytes())
            .await?
        {
            return Ok(true);
        }
        // Who prunes with another key is waited for as well.
        let name = [String::from("pruning")];
        let found = self.room.read_all("pruning", &name, Others::Heard).await?;
        if let Some(found) = found.into_iter().flatten().next() {
            let since = std::str::from_utf8(&found.body).ok();
            let since = since.and_then(|since| since.parse::<i64>().ok());
            // One that is far in the future is of no clock.
            let latest = now.saturating_add(now.saturating_sub(oldest));
            if since.is_some_and(|since| since > oldest && since <= latest) {
                return Ok(false);
            }
            // It is of a process that ended. Whoever deletes it goes on.
            self.room.delete("pruning", &found.file).await?;
        }
        self.room
            .create("pruning", "pruning", text.as_bytes())
            .await
    }

    /// Says that the pruning goes on.
    pub(super) async fn keep_lock(&self, now: i64) -> Result<()> {
        let text = now.to_string();
        self.room.put("pruning", "pruning", text.as_bytes()).await
    }

    /// Ends pruning.
    pub(super) async fn unlock(&self) -> Result<()> {
        self.room.remove("pruning").await
    }

    /// Says that this note and those before it are dropped.
    pub(super) async fn put_dropped(&self, id: &str) -> Result<()> {
        self.room.put("dropped", "dropped", id.as_bytes()).await
    }

    /// The name of the newest note that was dropped.
    pub(super) async fn dropped(&self) -> Result<Option<Rc<str>>> {
        let found = self.text("dropped", "dropped").await?;
        Ok(found.filter(|id| millis(id).is_some()))
    }

    /// All nodes.
    pub(super) async fn node_names(&self) -> Result<Vec<FileInfo>> {
        self.room.list("nodes").await
    }

    /// The names of all notes, the oldest first.
    pub(super) async fn ids(&self) -> Result<Vec<Rc<str>>> {
        let infos = self.room.list("log").await?;
        let names = infos.iter().map(|info| info.path.name());
        let mut ids: Vec<Rc<str>> = names
            .filter(|name| millis(name).is_some())
            .map(Rc::from)
            .collect();
        order::sort(&mut ids);
        Ok(ids)
    }

    /// All contents with their sizes.
    pub(super) async fn bodies(&self) -> Result<Vec<FileInfo>> {
        self.room.list("bodies").await
    }

    /// Notes by their names. Those that are gone meanwhile, or prove nothing, are left out.
    pub(super) async fn notes(&self, ids: &[Rc<str>]) -> Result<Vec<Note>> {
        self.read_notes(ids, Others::LeftOut)
            .await
            .map(|both| both.0)
    }

    /// The same, and the notes of other keys.
    pub(super) async fn all_notes(&self, ids: &[Rc<str>]) -> Result<(Vec<Note>, Vec<Note>)> {
        self.read_notes(ids, Others::Heard).await
    }

    async fn read_notes(&self, ids: &[Rc<str>], others: Others) -> Result<(Vec<Note>, Vec<Note>)> {
        let names: Vec<String> = ids.iter().map(|id| format!("log/{id}")).collect();
        let found = self.room.read_all("note", &names, others).await?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (id, found) in ids.iter().zip(found) {
            let Some(found) = found else { continue };
            match found.is_proven {
                true => ours.extend(Note::parse(id, &found.body)),
                false => theirs.extend(Note::parse(id, &found.body)),
            }
        }
        Ok((ours, theirs))
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
    /// Whether its file has the key of this history.
    pub(super) is_ours: bool,
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
            is_ours: false,
        })
    }
}
