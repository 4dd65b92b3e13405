//! Keeps a turn in a backend, so that it outlives its process. What a call changed or read since is one
//! entry of the turn's log, written before the call returns.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::log::Log;
use super::notes::{Digests, Question};
use super::record::{Entry, Kind as EntryKind, Record};
use super::watch::Watch;
use super::{Covered, Keeper, Notes, Turn};
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
    covered: Option<Covered>,
    content: Option<Bytes>,
}

/// What of a turn is in its log, and what is not there yet.
struct Kept {
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
    noted: RefCell<Vec<Record>>,
    /// Who watches.
    watch: Rc<Watch>,
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

impl Kept {
    /// Reads what is kept of the turn, once.
    async fn read(&self, turn: &Turn) -> Result<()> {
        let mut log = self.log.lock().await;
        if self.is_open.get() {
            return Ok(());
        }
        let entries = log.load().await?;
        let ends_in_commit = entries
            .last()
            .is_some_and(|last| last.kind == EntryKind::Commit);
        let mut covered: ByPath<Covered> = ByPath::new();
        let mut contents: ByPath<Option<Bytes>> = ByPath::new();
        let mut notes = Notes::default();
        for entry in entries {
            if let EntryKind::Start(salt) = entry.kind {
                turn.digests.set(Digests::new(salt));
            }
            for record in entry.records {
                match record {
                    Record::Cover {
                        path,
                        covered: one,
                        after,
                    } => {
                        covered.insert(path.clone(), Box::new(one));
                        contents.insert(path, Box::new(after));
                    }
                    Record::Again { path, after } => {
                        let one = covered.get_mut(&path).ok_or_else(|| log.damaged())?;
                        one.exists = after.is_some();
                        contents.insert(path, Box::new(after));
                    }
                    Record::Uncover(path) => {
                        covered.remove(&path);
                        contents.remove(&path);
                    }
                    Record::Note(question, digest) => {
                        notes.add(question, digest);
                    }
                    Record::Renew(question, digest) => notes.renew(&question, digest),
                }
            }
        }
        if ends_in_commit && self.is_committed(turn, &covered, &contents).await? {
            log.remove().await?;
        } else {
            for (path, one) in &covered {
                let state = State {
                    covered: Some((**one).clone()),
                    content: contents.get(path).and_then(|content| (**content).clone()),
                };
                let mut written = self.written.borrow_mut();
                written.insert(path.clone(), Box::new(state));
            }
            let files = contents
                .into_iter()
                .filter_map(|(path, content)| Some((path, (*content)?)));
            let answers = turn.over.upload(files.collect()).await;
            answers.into_iter().collect::<Result<()>>()?;
            turn.covered.replace(covered);
            turn.notes.replace(notes);
        }
        self.is_open.set(true);
        Ok(())
    }

    /// Whether a commit that began has made all changes. If all files hold what the turn gives them,
    /// nothing is left to do in any case.
    async fn is_committed(
        &self,
        turn: &Turn,
        covered: &ByPath<Covered>,
        contents: &ByPath<Option<Bytes>>,
    ) -> Result<bool> {
        let base = turn.base().await?;
        for (path, one) in covered {
            let before = one.before.as_ref().map(|before| &before.body);
            let after = contents.get(path).and_then(|after| after.as_ref().as_ref());
            if before != after && body(&**base, path).await?.as_ref() != after {
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

    async fn state(&self, turn: &Turn, path: &VPath) -> Result<State> {
        let covered = turn.covered.borrow().get(path).map(|one| (**one).clone());
        let content = match covered.as_ref().is_some_and(|one| one.exists) {
            true => Some(turn.over_body(path).await?),
            false => None,
        };
        Ok(State { covered, content })
    }

    /// Keeps what was read, and with `changes` what was changed. If that fails, the changes are gone.
    async fn keep_all(&self, turn: &Turn, changes: bool) -> Result<()> {
        let mut log = self.log.lock().await;
        let answer = self.keep_entry(turn, &mut log, changes).await;
        if answer.is_err() && changes {
            self.take_back(turn).await?;
        }
        if changes && answer.is_ok() && log.is_long() {
            // Without it, the entries stay.
            let _ = self.keep_anew(turn, &mut log).await;
        }
        answer
    }

    async fn keep_entry(&self, turn: &Turn, log: &mut Log, changes: bool) -> Result<()> {
        if log.is_over {
            log.remove().await?;
        }
        let mut records = self.noted.borrow().clone();
        let notes = records.len();
        let mut paths: Vec<VPath> = Vec::new();
        if changes {
            for path in keys(&self.touched) {
                if self.unsure.borrow().contains_key(&path) {
                    continue;
                }
                let now = self.state(turn, &path).await?;
                let before = self.before(&path);
                if now != before {
                    records.push(record(&path, now, Some(&before)));
                    paths.push(path);
                }
            }
            for path in keys(&self.unsure) {
                records.push(record(&path, self.state(turn, &path).await?, None));
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
            log.append(entry, turn.digests().salt()).await?;
        }
        if changes {
            self.touched.borrow_mut().clear();
            for path in paths {
                let now = self.state(turn, &path).await?;
                self.unsure.borrow_mut().remove(&path);
                self.watch.note(&path);
                let mut written = self.written.borrow_mut();
                match now.covered {
                    Some(_) => written.insert(path, Box::new(now)),
                    None => written.remove(&path),
                };
            }
        }
        self.noted.borrow_mut().drain(..notes);
        Ok(())
    }

    /// Keeps that a commit begins.
    async fn keep_commit(&self, turn: &Turn) -> Result<()> {
        self.keep_all(turn, true).await?;
        let mut log = self.log.lock().await;
        if !log.is_begun() {
            return Ok(());
        }
        let entry = Entry {
            kind: EntryKind::Commit,
            writer: log.writer,
            records: Vec::new(),
        };
        log.append(entry, turn.digests().salt()).await
    }

    /// Writes the whole turn as one entry, and deletes those before.
    async fn keep_anew(&self, turn: &Turn, log: &mut Log) -> Result<()> {
        let mut records = Vec::new();
        let paths = keys(&turn.covered);
        for path in paths {
            let state = self.state(turn, &path).await?;
            records.push(record(&path, state, None));
        }
        let notes = turn.notes.borrow().all();
        let notes = notes
            .into_iter()
            .map(|(question, digest)| Record::Note(question, digest));
        records.extend(notes);
        let salt = turn.digests().salt();
        let entry = Entry {
            kind: EntryKind::Start(salt),
            writer: log.writer,
            records,
        };
        log.begin_anew(entry, salt).await
    }

    /// Gives the files that were touched since the last entry what they had then.
    async fn take_back(&self, turn: &Turn) -> Result<()> {
        for (path, _) in self.touched.take() {
            let before = self.before(&path);
            let now = body(&*turn.over, &path).await?;
            match (now, before.content) {
                (_, Some(content)) => {
                    turn.over.store(&path, content).await?;
                }
                (Some(now), None) => {
                    turn.over.delete(&path, Some(&now)).await?;
                }
                (None, None) => {}
            }
            let mut covered = turn.covered.borrow_mut();
            match before.covered {
                Some(one) => covered.insert(path, Box::new(one)),
                None => covered.remove(&path),
            };
        }
        Ok(())
    }

    /// Deletes what is kept of a turn that is empty. If that fails, it is done later.
    async fn keep_nothing(&self) {
        let mut log = self.log.lock().await;
        self.touched.borrow_mut().clear();
        // From now on what is below shows, which may have been changed since the commit.
        for path in self.written.take().keys() {
            self.watch.note(path);
        }
        self.noted.borrow_mut().clear();
        let unsure = self.unsure.take();
        if log.is_begun() || !unsure.is_empty() {
            let _ = log.remove().await;
        }
    }
}

impl Keeper for Kept {
    fn opened<'a>(&'a self, turn: &'a Turn) -> Pending<'a, ()> {
        match self.is_open.get() {
            true => done(Ok(())),
            false => Box::pin(self.read(turn)),
        }
    }

    fn keep<'a>(&'a self, turn: &'a Turn, changes: bool) -> Pending<'a, ()> {
        Box::pin(self.keep_all(turn, changes))
    }

    fn committing<'a>(&'a self, turn: &'a Turn) -> Pending<'a, ()> {
        Box::pin(self.keep_commit(turn))
    }

    fn emptied(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.keep_nothing())
    }

    fn mark(&self, path: &VPath) {
        self.touched.borrow_mut().insert(path.clone(), Box::new(()));
    }

    fn watch(&self) -> &Rc<Watch> {
        &self.watch
    }

    fn noted(&self, question: Question, digest: u128, renews: bool) {
        self.noted.borrow_mut().push(match renews {
            true => Record::Renew(question, digest),
            false => Record::Note(question, digest),
        });
    }
}

impl Turn {
    /// Keeps the turn in a room under a name, and goes on with what is kept there. Once, before the
    /// first call.
    pub fn keep_in(&self, room: Room, name: &str) {
        let kept = Kept {
            is_open: Cell::new(false),
            log: Mutex::new(Log::new(room, name)),
            touched: RefCell::default(),
            written: RefCell::default(),
            unsure: RefCell::default(),
            noted: RefCell::new(Vec::new()),
            watch: Rc::default(),
        };
        let _ = self.kept.set(Rc::new(kept));
    }
}

fn keys<T>(tree: &RefCell<ByPath<T>>) -> Vec<VPath> {
    tree.borrow().keys().cloned().collect()
}

/// What an entry says of a file; `before` is what earlier entries say.
fn record(path: &VPath, now: State, before: Option<&State>) -> Record {
    let path = path.clone();
    let Some(covered) = now.covered else {
        return Record::Uncover(path);
    };
    let known = before.and_then(|state| state.covered.as_ref());
    match known.is_some_and(|known| known.before == covered.before) {
        true => Record::Again {
            path,
            after: now.content,
        },
        false => Record::Cover {
            path,
            covered,
            after: now.content,
        },
    }
}
