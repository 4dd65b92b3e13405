//! Records a turn in its log, so that it outlives its process. What a call changed or read since is one
//! entry of the turn's log, written before the call returns.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::super::overlay::{Change, Digests, Listener, Overlay, Read, ReadSet};
use super::Recorder;
use super::entry::{Entry, Kind as EntryKind, Record};
use super::store::Log;
use super::watch::Watch;
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::{Pending, done};
use crate::core::lock::Mutex;
use crate::core::path::{ByPath, VPath};
use crate::layer::kit::body;
use crate::protocol::{BackendExt, FileInfo};
use crate::side::Room;

/// What a turn has at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    change: Option<Change>,
    content: Option<Bytes>,
}

/// Which changes and reads of a turn are in its log, and which are not yet.
pub(in crate::layer::turn) struct LogRecorder {
    /// Whether what was kept has been read.
    is_open: Cell<bool>,
    log: Mutex<Log>,
    /// Files that were changed since the last entry.
    touched: RefCell<ByPath<()>>,
    /// The files of the turn as entries have them.
    written: RefCell<ByPath<State>>,
    /// Files in entries of which nobody knows whether they arrived.
    unsure: RefCell<ByPath<()>>,
    /// What was read since the last entry.
    reads: RefCell<Vec<Record>>,
    /// Who watches.
    watch: Watch,
}

/// The names of the turns that are kept in a room.
pub async fn kept(room: &Room) -> Result<Vec<Rc<str>>> {
    room.check().await?;
    let infos = room.at().ls(room.dir()).await?;
    // Names that begin with a dot are those of the room itself.
    let is_turn = |info: &&FileInfo| info.is_dir() && !info.path.name().starts_with('.');
    let dirs = infos.iter().filter(is_turn);
    Ok(dirs.map(|info| info.path.name().into()).collect())
}

impl LogRecorder {
    /// Of a turn with this name in a room. Nothing is read.
    pub(in crate::layer::turn) fn new(room: Room, name: &str) -> LogRecorder {
        LogRecorder {
            is_open: Cell::new(false),
            log: Mutex::new(Log::new(room, name)),
            touched: RefCell::default(),
            written: RefCell::default(),
            unsure: RefCell::default(),
            reads: RefCell::default(),
            watch: Watch::default(),
        }
    }

    /// Reads what is kept of the turn, once.
    async fn read(&self, overlay: &Overlay) -> Result<()> {
        let mut log = self.log.lock().await;
        if self.is_open.get() {
            return Ok(());
        }
        let entries = log.load().await?;
        let ends_in_commit = entries
            .last()
            .is_some_and(|last| last.kind == EntryKind::Commit);
        let mut changes: ByPath<Change> = ByPath::new();
        let mut contents: ByPath<Option<Bytes>> = ByPath::new();
        let mut reads = ReadSet::default();
        for entry in entries {
            if let EntryKind::Start(salt) = entry.kind {
                overlay.digests.set(Digests::new(salt));
            }
            for record in entry.records {
                match record {
                    Record::Change {
                        path,
                        change: one,
                        after,
                    } => {
                        changes.insert(path.clone(), Box::new(one));
                        contents.insert(path, Box::new(after));
                    }
                    Record::Content { path, after } => {
                        let one = changes.get_mut(&path).ok_or_else(|| log.damaged())?;
                        one.exists = after.is_some();
                        contents.insert(path, Box::new(after));
                    }
                    Record::Drop(path) => {
                        changes.remove(&path);
                        contents.remove(&path);
                    }
                    Record::Read(read, digest) => {
                        reads.add(read, digest);
                    }
                    Record::ReadAgain(read, digest) => reads.renew(&read, digest),
                }
            }
        }
        if ends_in_commit && self.is_committed(overlay, &changes, &contents).await? {
            log.remove().await?;
        } else {
            for (path, one) in &changes {
                let state = State {
                    change: Some((**one).clone()),
                    content: contents.get(path).and_then(|content| (**content).clone()),
                };
                let mut written = self.written.borrow_mut();
                written.insert(path.clone(), Box::new(state));
            }
            let files = contents
                .into_iter()
                .filter_map(|(path, content)| Some((path, (*content)?)));
            let answers = overlay.upper.upload(files.collect()).await;
            answers.into_iter().collect::<Result<()>>()?;
            overlay.changes.replace(changes);
            overlay.reads.replace(reads);
        }
        self.is_open.set(true);
        Ok(())
    }

    /// Whether a commit that began has made all changes. If all files hold what the turn gives them,
    /// nothing is left to do in any case.
    async fn is_committed(
        &self,
        overlay: &Overlay,
        changes: &ByPath<Change>,
        contents: &ByPath<Option<Bytes>>,
    ) -> Result<bool> {
        let base = overlay.base().await?;
        for (path, one) in changes {
            let before = one.before.as_ref().map(|before| &before.body);
            let after = contents.get(path).and_then(|after| after.as_ref().as_ref());
            if before != after && body(&*base, path).await?.as_ref() != after {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What entries say of a file.
    fn before(&self, path: &VPath) -> State {
        let written = self.written.borrow();
        written
            .get(path)
            .map(|state| (**state).clone())
            .unwrap_or_default()
    }

    async fn state(&self, overlay: &Overlay, path: &VPath) -> Result<State> {
        let change = overlay
            .changes
            .borrow()
            .get(path)
            .map(|one| (**one).clone());
        let exists = change.as_ref().is_some_and(|one| one.exists);
        let content = overlay.upper_body(path, exists).await?;
        Ok(State { change, content })
    }

    /// Records what was read, and with `changes` what was changed. If that fails, the changes are gone.
    async fn record_call(&self, overlay: &Overlay, changes: bool) -> Result<()> {
        let mut log = self.log.lock().await;
        let answer = self.append_entry(overlay, &mut log, changes).await;
        if answer.is_err() && changes {
            self.take_back(overlay).await?;
        }
        if changes && answer.is_ok() && log.is_long() {
            // Without it, the entries stay.
            let _ = self.rewrite(overlay, &mut log).await;
        }
        answer
    }

    async fn append_entry(&self, overlay: &Overlay, log: &mut Log, changes: bool) -> Result<()> {
        if log.is_over {
            log.remove().await?;
        }
        let mut records = self.reads.borrow().clone();
        let reads = records.len();
        let mut paths: Vec<VPath> = Vec::new();
        if changes {
            for path in keys(&self.touched) {
                if self.unsure.borrow().contains_key(&path) {
                    continue;
                }
                let now = self.state(overlay, &path).await?;
                let before = self.before(&path);
                if now != before {
                    records.push(record(&path, now, Some(&before)));
                    paths.push(path);
                }
            }
            for path in keys(&self.unsure) {
                records.push(record(&path, self.state(overlay, &path).await?, None));
                paths.push(path);
            }
        }
        if !records.is_empty() {
            for path in &paths {
                self.unsure.borrow_mut().insert(path.clone(), Box::new(()));
            }
            let entry = Entry {
                kind: EntryKind::More,
                writer: log.writer,
                records,
            };
            log.append(entry, overlay.digests().salt()).await?;
        }
        if changes {
            self.touched.borrow_mut().clear();
            for path in paths {
                let now = self.state(overlay, &path).await?;
                self.unsure.borrow_mut().remove(&path);
                self.watch.note(&path);
                let mut written = self.written.borrow_mut();
                match now.change {
                    Some(_) => written.insert(path, Box::new(now)),
                    None => written.remove(&path),
                };
            }
        }
        self.reads.borrow_mut().drain(..reads);
        Ok(())
    }

    /// Records that a commit begins.
    async fn record_commit(&self, overlay: &Overlay) -> Result<()> {
        self.record_call(overlay, true).await?;
        let mut log = self.log.lock().await;
        if !log.is_begun() {
            return Ok(());
        }
        let entry = Entry {
            kind: EntryKind::Commit,
            writer: log.writer,
            records: Vec::new(),
        };
        log.append(entry, overlay.digests().salt()).await
    }

    /// Writes the whole turn as one entry, and deletes those before.
    async fn rewrite(&self, overlay: &Overlay, log: &mut Log) -> Result<()> {
        let mut records = Vec::new();
        let paths = keys(&overlay.changes);
        for path in paths {
            let state = self.state(overlay, &path).await?;
            records.push(record(&path, state, None));
        }
        let reads = overlay.reads.borrow().all();
        let reads = reads.into_iter();
        records.extend(reads.map(|(read, digest)| Record::Read(read, digest)));
        let salt = overlay.digests().salt();
        let entry = Entry {
            kind: EntryKind::Start(salt),
            writer: log.writer,
            records,
        };
        log.begin_anew(entry, salt).await
    }

    /// Gives the files that were touched since the last entry what they had then.
    async fn take_back(&self, overlay: &Overlay) -> Result<()> {
        for (path, _) in self.touched.take() {
            let before = self.before(&path);
            let now = body(&*overlay.upper, &path).await?;
            match (now, before.content) {
                (_, Some(content)) => {
                    overlay.upper.store(&path, content).await?;
                }
                (Some(now), None) => {
                    overlay.upper.delete(&path, Some(&now)).await?;
                }
                (None, None) => {}
            }
            let mut changes = overlay.changes.borrow_mut();
            match before.change {
                Some(one) => changes.insert(path, Box::new(one)),
                None => changes.remove(&path),
            };
        }
        Ok(())
    }

    /// Deletes what is kept of a turn that is empty. If that fails, it is done later.
    async fn delete_all(&self) {
        let mut log = self.log.lock().await;
        self.touched.borrow_mut().clear();
        // From now on what is below shows, which may have been changed since the commit.
        for path in self.written.take().keys() {
            self.watch.note(path);
        }
        self.reads.borrow_mut().clear();
        let unsure = self.unsure.take();
        if log.is_begun() || !unsure.is_empty() {
            let _ = log.remove().await;
        }
    }
}

impl Recorder for LogRecorder {
    fn load<'a>(&'a self, overlay: &'a Overlay) -> Pending<'a, ()> {
        match self.is_open.get() {
            true => done(Ok(())),
            false => Box::pin(self.read(overlay)),
        }
    }

    fn record<'a>(&'a self, overlay: &'a Overlay, changes: bool) -> Pending<'a, ()> {
        Box::pin(self.record_call(overlay, changes))
    }

    fn committing<'a>(&'a self, overlay: &'a Overlay) -> Pending<'a, ()> {
        Box::pin(self.record_commit(overlay))
    }

    fn cleared(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.delete_all())
    }

    fn note(&self, note: Rc<str>) -> Pending<'_, ()> {
        Box::pin(async move { self.log.lock().await.note(&note).await })
    }

    fn noted(&self) -> Pending<'_, Option<Rc<str>>> {
        Box::pin(async { self.log.lock().await.noted().await })
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }
}

impl Listener for LogRecorder {
    fn touched(&self, path: &VPath) {
        self.touched.borrow_mut().insert(path.clone(), Box::new(()));
    }

    fn has_read(&self, read: Read, digest: u128, again: bool) {
        self.reads.borrow_mut().push(match again {
            true => Record::ReadAgain(read, digest),
            false => Record::Read(read, digest),
        });
    }
}

fn keys<T>(tree: &RefCell<ByPath<T>>) -> Vec<VPath> {
    tree.borrow().keys().cloned().collect()
}

/// What an entry says of a file; `before` is what earlier entries say.
fn record(path: &VPath, now: State, before: Option<&State>) -> Record {
    let path = path.clone();
    let Some(change) = now.change else {
        return Record::Drop(path);
    };
    let known = before.and_then(|state| state.change.as_ref());
    match known.is_some_and(|known| known.before == change.before && known.mode == change.mode) {
        true => Record::Content {
            path,
            after: now.content,
        },
        false => Record::Change {
            path,
            change,
            after: now.content,
        },
    }
}
