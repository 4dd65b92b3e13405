//! A room: a directory in which one layer keeps its records.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::Key;
use super::file::{body, create, if_there, is_conflict, none_is_fine};
use super::record::{Found, key_name, opened, sealed};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::env::{clock, random};
use crate::protocol::{BackendExt, Edit, EntryInfo, FileInfo, SharedBackend, Transfer};

/// Where records are moved that prove nothing.
pub const ASIDE: &str = ".aside";

/// Where each key of a room has a mark, a record of its name.
const MARKS: &str = ".keys";

/// How many records are kept aside; then the oldest are deleted.
pub(super) const MOST_ASIDE: usize = 64;

/// The longest part of a name in the name of a file that was moved aside.
const NAME_ASIDE: usize = 80;

/// A listed file that is larger is not read.
const MOST_BYTES: u64 = 512 << 20;

/// What a record may be written over.
#[derive(Clone, Copy)]
pub(super) enum Over<'a> {
    /// Whatever is there.
    Anything,
    /// Only where nothing is.
    Nothing,
    /// Only this file.
    File(&'a Bytes),
}

/// What is done about records of another key among several that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They are left out: at once, if this room has a mark of its own key.
    LeftOut,
    /// They are in the way: they stop the call while they stay, and are moved then.
    InTheWay,
    /// They are returned too, for a call that may not decide anything without them.
    Heard,
}

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What it says.
    pub body: Bytes,
    /// The file.
    pub file: Bytes,
    /// Whether it proves where it comes from; a record of another key does not.
    pub is_proven: bool,
}

/// A room. Names are paths in it, such as `log/7`.
#[derive(Clone)]
pub struct Room {
    at: SharedBackend,
    dir: VPath,
    key: Option<Rc<Key>>,
    /// Whether the mark of the room was seen.
    is_ours: Rc<Cell<bool>>,
    /// When a record of another key was first met, in microseconds, if that was looked up.
    pub(super) met: Rc<Cell<Option<i64>>>,
}

impl Room {
    /// A room in a directory of a backend. Nothing is read.
    pub fn new(at: SharedBackend, dir: VPath, key: Option<Rc<Key>>) -> Room {
        Room {
            is_ours: Rc::new(Cell::new(key.is_none())),
            met: Rc::default(),
            at,
            dir,
            key,
        }
    }

    /// A room in which only what this process has written proves something. Processes share it, so it
    /// has no mark.
    pub fn of_process(at: SharedBackend, dir: VPath) -> Room {
        Room {
            at,
            dir,
            key: Some(Key::of_process()),
            is_ours: Rc::new(Cell::new(true)),
            met: Rc::default(),
        }
    }

    /// The backend.
    pub fn at(&self) -> &SharedBackend {
        &self.at
    }

    /// The directory.
    pub fn dir(&self) -> &VPath {
        &self.dir
    }

    /// The key, if the room has one.
    pub fn key(&self) -> Option<&Rc<Key>> {
        self.key.as_ref()
    }

    pub(super) fn key_name(&self) -> &str {
        key_name(self.key.as_deref())
    }

    /// The path of a record.
    pub fn path(&self, name: &str) -> Result<VPath> {
        match name.is_empty() {
            true => Ok(self.dir.clone()),
            false => Ok(self.dir.join(name)?),
        }
    }

    /// A record as it is stored.
    pub async fn sealed(&self, kind: &str, name: &str, body: &[u8]) -> Bytes {
        sealed(self.key.as_deref(), kind, name, body).await
    }

    /// What a file is, as a record.
    pub async fn opened(&self, kind: &str, name: &str, file: &Bytes) -> Found {
        opened(self.key.as_deref(), kind, name, file).await
    }

    /// What there is under a name, whatever it proves, and the file.
    pub fn look<'a>(&'a self, kind: &'a str, name: &'a str) -> Pending<'a, Option<(Found, Bytes)>> {
        Box::pin(async move {
            let path = self.path(name)?;
            match body(&*self.at, &path).await {
                Ok(Some(file)) => Ok(Some((self.opened(kind, name, &file).await, file))),
                Ok(None) => Ok(None),
                Err(error) if error.kind() == Kind::IsDirectory => {
                    none_is_fine(self.at.delete(&path, None).await)?;
                    Ok(Some((Found::Removed, Bytes::new())))
                }
                // It may be a good record that was written where files may be larger: it is kept.
                Err(error) if error.kind() == Kind::TooLarge => {
                    let moved = Transfer {
                        to: self.aside(name, "too-large")?,
                        from: path,
                        keeps: false,
                        overwrite: false,
                    };
                    match self.at.transfer(&moved).await {
                        Ok(_) => Ok(Some((Found::Removed, Bytes::new()))),
                        Err(_) => Err(error),
                    }
                }
                Err(error) => Err(error),
            }
        })
    }

    /// A record. What proves nothing is moved aside; one of another key is an error while it stays.
    pub fn read<'a>(&'a self, kind: &'a str, name: &'a str) -> Pending<'a, Option<Stored>> {
        Box::pin(async move {
            self.check().await?;
            match self.look(kind, name).await? {
                Some((found, file)) => self.proven(name, found, file).await,
                None => Ok(None),
            }
        })
    }

    /// Records, in order; those that are gone or prove nothing are `None`.
    pub async fn read_all(
        &self,
        kind: &str,
        names: &[String],
        others: Others,
    ) -> Result<Vec<Option<Stored>>> {
        self.check().await?;
        let paths: Result<Vec<VPath>> = names.iter().map(|name| self.path(name)).collect();
        let mut records = Vec::with_capacity(names.len());
        for (name, answer) in names.iter().zip(self.at.download(&paths?).await) {
            let found = match answer {
                Ok(file) => Some((self.opened(kind, name, &file).await, file)),
                Err(error) if error.is_no_file() => None,
                Err(error) if error.kind() == Kind::IsDirectory => self.look(kind, name).await?,
                Err(error) => return Err(error),
            };
            records.push(match found {
                Some((Found::OtherKey(_), _)) if others == Others::LeftOut => {
                    if self.key.is_none() || !self.is_ours.get() {
                        self.others_waited(name).await?;
                    }
                    None
                }
                Some((Found::OtherKey(body), file)) if others == Others::Heard => Some(Stored {
                    body,
                    file,
                    is_proven: false,
                }),
                Some((found, file)) => self.proven(name, found, file).await?,
                None => None,
            });
        }
        Ok(records)
    }

    async fn proven(&self, name: &str, found: Found, file: Bytes) -> Result<Option<Stored>> {
        let why = match found {
            Found::Proven(body) => {
                return Ok(Some(Stored {
                    body,
                    file,
                    is_proven: true,
                }));
            }
            Found::Removed => return Ok(None),
            Found::OtherKey(_) => {
                self.keep_other(name, &found, &file).await?;
                self.delete(name, &file).await?;
                return Ok(None);
            }
            Found::Unproven(_) => "unproven",
            Found::Foreign => "foreign",
        };
        self.set_aside(name, &file, why).await?;
        Ok(None)
    }

    /// Looks once whether this room has a mark of its key. One of another key stops nobody: it may be
    /// planted.
    pub fn check(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let Some(key) = self.key.as_ref().filter(|_| !self.is_ours.get()) else {
                return Ok(());
            };
            let mark = format!("{MARKS}/{}", key.name());
            match self.look("key", &mark).await? {
                Some((Found::Proven(_), _)) => self.is_ours.set(true),
                Some((Found::Unproven(_) | Found::OtherKey(_) | Found::Foreign, file)) => {
                    self.set_aside(&mark, &file, "unproven").await?;
                }
                None | Some((Found::Removed, _)) => {}
            }
            Ok(())
        })
    }

    /// Whether the mark of its key was seen in this room; always, without a key.
    pub fn is_ours(&self) -> bool {
        self.is_ours.get()
    }

    /// Marks the room, before something is written.
    async fn claim(&self) -> Result<()> {
        self.check().await?;
        if let Some(key) = self.key.as_ref().filter(|_| !self.is_ours.get()) {
            let name = format!("{MARKS}/{}", key.name());
            let mark = self.sealed("key", &name, b"").await;
            self.stored(&name, mark, Over::Nothing).await?;
            self.check().await?;
        }
        Ok(())
    }

    /// Writes a record; `false` if what is there is not what it was to be written over.
    fn write<'a>(
        &'a self,
        kind: &'a str,
        name: &'a str,
        body: &'a [u8],
        over: Over<'a>,
    ) -> Pending<'a, bool> {
        Box::pin(async move {
            self.claim().await?;
            let file = self.sealed(kind, name, body).await;
            self.stored(name, file, over).await
        })
    }

    /// Writes a file, and tries once more if something was in its way.
    pub(super) fn stored<'a>(
        &'a self,
        name: &'a str,
        file: Bytes,
        over: Over<'a>,
    ) -> Pending<'a, bool> {
        Box::pin(async move {
            let path = self.path(name)?;
            let mut clears = true;
            loop {
                let answer = match over {
                    Over::Anything => {
                        let stored = self.at.store(&path, file.clone()).await;
                        stored.map(|()| true)
                    }
                    Over::Nothing => create(&*self.at, &path, &file).await,
                    Over::File(old) => {
                        let edit = Edit {
                            old: old.clone(),
                            new: file,
                            replace_all: false,
                            whole: true,
                            appends: false,
                        };
                        return match self.at.edit(&path, &edit).await {
                            Ok(_) => Ok(true),
                            Err(error) if is_conflict(&error) || error.kind() == Kind::NoMatch => {
                                Ok(false)
                            }
                            Err(error) => Err(error),
                        };
                    }
                };
                match answer {
                    Err(error) if clears && self.clear_way(name, &error).await? => clears = false,
                    answer => return answer,
                }
            }
        })
    }

    /// Writes a record, whatever is there; over one of another key, once that does not stay any longer.
    pub async fn put(&self, kind: &str, name: &str, body: &[u8]) -> Result<()> {
        if self.create(kind, name, body).await? {
            return Ok(());
        }
        if let Some((found, file)) = self.look(kind, name).await? {
            self.keep_other(name, &found, &file).await?;
        }
        let written = self.write(kind, name, body, Over::Anything).await;
        written.map(drop)
    }

    /// Writes a record; `false` if something is there.
    pub fn create<'a>(&'a self, kind: &'a str, name: &'a str, body: &'a [u8]) -> Pending<'a, bool> {
        self.write(kind, name, body, Over::Nothing)
    }

    /// Writes a record whatever is there, also over one of another key: for records with random names.
    pub fn rewrite<'a>(
        &'a self,
        kind: &'a str,
        name: &'a str,
        body: &'a [u8],
    ) -> Pending<'a, bool> {
        self.write(kind, name, body, Over::Anything)
    }

    /// Writes a record in the place of a file; `false` if the file is another one by now.
    pub fn replace<'a>(
        &'a self,
        kind: &'a str,
        name: &'a str,
        file: &'a Bytes,
        body: &'a [u8],
    ) -> Pending<'a, bool> {
        self.write(kind, name, body, Over::File(file))
    }

    /// Deletes a file, if it is this one; `false` if it is not.
    pub async fn delete(&self, name: &str, file: &Bytes) -> Result<bool> {
        match self.at.delete(&self.path(name)?, Some(file)).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes what is under a name, a directory too.
    pub async fn remove(&self, name: &str) -> Result<()> {
        none_is_fine(self.at.delete(&self.path(name)?, None).await)
    }

    /// What is in a directory of the room, but for what is too large to be one of its records.
    pub async fn list(&self, name: &str) -> Result<Vec<FileInfo>> {
        self.check().await?;
        let mut infos = self.at.ls(&self.path(name)?).await?;
        infos.retain(|info| match info.entry {
            EntryInfo::File { size, .. } => size.is_none_or(|size| size <= MOST_BYTES),
            EntryInfo::Directory => true,
        });
        Ok(infos)
    }

    /// Deletes what is not `kept` of a directory. Failures are left to the next time.
    pub async fn sweep(&self, name: &str, kept: &dyn Fn(&FileInfo) -> bool) {
        let Ok(path) = self.path(name) else { return };
        for info in self.at.ls(&path).await.unwrap_or_default() {
            if !kept(&info) {
                let _ = self.at.delete(&info.path, None).await;
            }
        }
    }

    /// Moves a file aside. It is kept for a person to look at; its name says why, and what it was.
    pub async fn set_aside(&self, name: &str, file: &Bytes, why: &str) -> Result<()> {
        self.copy_aside(name, file, why).await?;
        self.delete(name, file).await.map(drop)
    }

    /// A new name among what was moved aside.
    fn aside(&self, name: &str, why: &str) -> Result<VPath> {
        let was: String = name.replace('/', ".").chars().take(NAME_ASIDE).collect();
        let (at, random) = (clock::now().micros(), random::bits());
        self.path(&format!("{ASIDE}/{at:016}-{random:016x}-{why}-{was}"))
    }

    /// Keeps a copy of a file, which is about to be replaced.
    pub fn copy_aside<'a>(
        &'a self,
        name: &'a str,
        file: &'a Bytes,
        why: &'a str,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let path = self.aside(name, why)?;
            if let Err(error) = self.at.store(&path, file.clone()).await {
                // A file may stand where the directory should. What is kept in the directory stays.
                match self.at.fetch(&self.path(ASIDE)?).await {
                    Ok(in_way) => _ = self.delete(ASIDE, &in_way).await?,
                    Err(large) if large.kind() == Kind::TooLarge => self.remove(ASIDE).await?,
                    Err(_) => return Err(error),
                }
                self.at.store(&path, file.clone()).await?;
            }
            self.only_newest(ASIDE).await
        })
    }

    /// After a write has failed: removes what is in its way. `false` if nothing is.
    async fn clear_way(&self, name: &str, error: &Error) -> Result<bool> {
        if error.kind() == Kind::IsDirectory {
            self.remove(name).await?;
            return Ok(true);
        }
        for (end, _) in name.match_indices('/') {
            let above = name.get(..end).unwrap_or_default();
            let found = if_there(self.at.fetch(&self.path(above)?).await);
            if let Ok(Some(file)) = found {
                self.set_aside(above, &file, "foreign").await?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
