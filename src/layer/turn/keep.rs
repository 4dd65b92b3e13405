//! Keeps a turn in a backend, so that it outlives its process. A turn is a directory there:
//!
//! ```text
//! log/00000001   the turn, as it began
//! log/00000002   what a call changed or read since
//! done           the turn is over, and all of this is being deleted
//! ```
//!
//! A call adds one file, created under a condition, before it returns. So a call is kept as a whole
//! or not at all, and two processes that both go on with a turn find out: their entries have the
//! same number.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::notes::{Digests, Question};
use super::plan::body;
use super::record::{Entry, Kind as EntryKind, Record};
use super::{Covered, Keeper, Notes, Turn, missing};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::lock::{Mutex, MutexGuard};
use crate::core::path::VPath;
use crate::env::random;
use crate::layer::creating::create;
use crate::protocol::SharedBackend;

/// A turn is written anew when its later entries have this many bytes more than twice the first.
const SLACK_BYTES: usize = 1024 * 1024;

/// A turn is written anew after this many entries.
const MOST_ENTRIES: u64 = 1000;

/// How often an entry is tried under the next number because an earlier attempt had arrived after all.
const ATTEMPTS: u32 = 5;

/// What a turn has at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    covered: Option<Covered>,
    content: Option<Bytes>,
}

/// Where a turn is kept, and what of it is not there yet.
struct Kept {
    at: SharedBackend,
    dir: VPath,
    /// A number of this process.
    writer: u64,
    /// Whether what was kept has been read.
    is_open: Cell<bool>,
    log: Mutex<Log>,
    /// Files that were changed since the last entry.
    touched: RefCell<BTreeSet<VPath>>,
    /// The files of the turn as entries have them.
    written: RefCell<BTreeMap<VPath, State>>,
    /// Files in entries of which nobody knows whether they arrived.
    unsure: RefCell<BTreeSet<VPath>>,
    /// What was read since the last entry.
    noted: RefCell<Vec<Record>>,
}

#[derive(Default)]
struct Log {
    /// The first entry that counts, and the last; 0 if there is none.
    first: u64,
    last: u64,
    /// The size of the first entry that counts, and of all others since.
    start: usize,
    since: usize,
    /// Whether all entries are void and may still be there.
    is_over: bool,
}

impl Log {
    fn is_long(&self) -> bool {
        let most = self.start.saturating_mul(2).saturating_add(SLACK_BYTES);
        self.since > most || self.last.saturating_sub(self.first) >= MOST_ENTRIES
    }
}

/// The names of the turns that are kept in a directory.
pub async fn kept(at: SharedBackend, folder: VPath) -> Result<Vec<Rc<str>>> {
    let infos = at.ls(&folder).await?;
    let dirs = infos.iter().filter(|info| info.is_dir());
    Ok(dirs.map(|info| info.path.name().into()).collect())
}

impl Kept {
    fn log_dir(&self) -> Result<VPath> {
        Ok(self.dir.join("log")?)
    }

    fn entry(&self, number: u64) -> Result<VPath> {
        Ok(self.dir.join(&format!("log/{number:08}"))?)
    }

    fn damaged(&self) -> Error {
        Error::at(
            Kind::Unavailable,
            "The turn that is kept in '",
            &self.dir,
            "' is not whole, or another version of kitbag has written it. Delete this directory to \
             give the turn up.",
        )
    }

    fn elsewhere(&self) -> Error {
        Error::at(
            Kind::Conflict,
            "The turn that is kept in '",
            &self.dir,
            "' has gone on in another process. Begin it again to see its changes.",
        )
    }

    /// Writes an entry; the first one begins the log.
    async fn append(&self, log: &mut Log, mut entry: Entry, salt: [u64; 2]) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let starts = log.last == 0 || matches!(entry.kind, EntryKind::Start(_));
            if starts {
                entry.kind = EntryKind::Start(salt);
            }
            let number = log.last + 1;
            let path = self.entry(number)?;
            let bytes = entry.bytes();
            let size = bytes.len();
            match create(&self.at, &path, &bytes).await {
                Ok(true) => {
                    log.last = number;
                    log.since = log.since.saturating_add(size);
                    if starts {
                        (log.first, log.start, log.since) = (number, size, 0);
                    }
                    return Ok(());
                }
                Ok(false) => {
                    let there = body(&*self.at, &path).await?;
                    let there = there.as_ref().and_then(Entry::parse);
                    let ours = there.filter(|entry| entry.writer == self.writer);
                    let Some(ours) = ours else {
                        return Err(self.elsewhere());
                    };
                    log.last = number;
                    if matches!(ours.kind, EntryKind::Start(_)) {
                        log.first = number;
                    } else if matches!(entry.kind, EntryKind::Start(_)) {
                        entry.kind = EntryKind::More;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(self.elsewhere())
    }

    /// Deletes all that is kept. If that is broken off, it goes on at the next entry or when the turn
    /// is begun again.
    async fn remove(&self, log: &mut Log) -> Result<()> {
        log.is_over = true;
        let done = vec![(self.dir.join("done")?, Bytes::new())];
        let answers = self.at.upload(done).await;
        answers.into_iter().collect::<Result<()>>()?;
        missing(self.at.delete(&self.log_dir()?, None).await)?;
        missing(self.at.delete(&self.dir, None).await)?;
        *log = Log::default();
        Ok(())
    }

    /// What is kept, in order; an entry that was broken off at the end is deleted.
    async fn load(&self, log: &mut Log) -> Result<Vec<Entry>> {
        let infos = self.at.ls(&self.dir).await?;
        if infos.iter().any(|info| !info.is_dir()) {
            self.remove(log).await?;
            return Ok(Vec::new());
        }
        let mut found: Vec<(u64, VPath)> = Vec::new();
        for info in self.at.ls(&self.log_dir()?).await? {
            let number = info.path.name().parse().map_err(|_| self.damaged())?;
            found.push((number, info.path));
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        let paths: Vec<VPath> = found.iter().map(|(_, path)| path.clone()).collect();
        let mut entries: Vec<(u64, Option<Entry>, usize)> = Vec::new();
        for ((number, _), answer) in found.iter().zip(self.at.download(&paths).await) {
            let bytes = answer?;
            entries.push((*number, Entry::parse(&bytes), bytes.len()));
        }
        if let (Some((_, None, _)), Some(path)) = (entries.last(), paths.last()) {
            missing(self.at.delete(path, None).await)?;
            entries.pop();
        }
        let is_start = |one: &(u64, Option<Entry>, usize)| {
            let entry = one.1.as_ref();
            entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Start(_)))
        };
        let start = entries.iter().rposition(is_start);
        let counted = match start {
            Some(start) => entries.split_off(start),
            None if entries.is_empty() => return Ok(Vec::new()),
            None => return Err(self.damaged()),
        };
        let mut whole = Vec::with_capacity(counted.len());
        for (number, entry, size) in counted {
            let Some(entry) = entry else {
                return Err(self.damaged());
            };
            if whole.is_empty() {
                (log.first, log.start) = (number, size);
            } else if number != log.last + 1 {
                return Err(self.damaged());
            } else {
                log.since = log.since.saturating_add(size);
            }
            log.last = number;
            whole.push(entry);
        }
        Ok(whole)
    }
}

impl Kept {
    /// Reads what is kept of the turn, once.
    async fn read(&self, turn: &Turn) -> Result<()> {
        let mut log = self.log.lock().await;
        if self.is_open.get() {
            return Ok(());
        }
        *log = Log::default();
        let entries = self.load(&mut log).await?;
        let ends_in_commit = entries
            .last()
            .is_some_and(|last| last.kind == EntryKind::Commit);
        let mut covered = BTreeMap::new();
        let mut contents = BTreeMap::new();
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
                        covered.insert(path.clone(), one);
                        contents.insert(path, after);
                    }
                    Record::Again { path, after } => {
                        let one: &mut Covered =
                            covered.get_mut(&path).ok_or_else(|| self.damaged())?;
                        one.exists = after.is_some();
                        contents.insert(path, after);
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
            self.remove(&mut log).await?;
        } else {
            let states = covered.iter().map(|(path, one): (&VPath, &Covered)| {
                let content = contents.get(path).cloned().flatten();
                let covered = Some(one.clone());
                (path.clone(), State { covered, content })
            });
            self.written.replace(states.collect());
            let files = contents
                .into_iter()
                .filter_map(|(path, content)| Some((path, content?)));
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
        covered: &BTreeMap<VPath, Covered>,
        contents: &BTreeMap<VPath, Option<Bytes>>,
    ) -> Result<bool> {
        let base = turn.base().await?;
        for (path, one) in covered {
            let before = one.before.as_ref().map(|before| &before.body);
            let after = contents.get(path).and_then(Option::as_ref);
            if before != after && body(&**base, path).await?.as_ref() != after {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What entries say of a file.
    fn before(&self, path: &VPath) -> State {
        let written = self.written.borrow();
        written.get(path).cloned().unwrap_or_default()
    }

    async fn state(&self, turn: &Turn, path: &VPath) -> Result<State> {
        let covered = turn.covered.borrow().get(path).cloned();
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

    async fn keep_entry(
        &self,
        turn: &Turn,
        log: &mut MutexGuard<'_, Log>,
        changes: bool,
    ) -> Result<()> {
        if log.is_over {
            self.remove(log).await?;
        }
        let mut records = self.noted.borrow().clone();
        let notes = records.len();
        let mut paths = BTreeSet::new();
        if changes {
            let touched = self.touched.borrow().clone();
            let unsure = self.unsure.borrow().clone();
            paths.extend(unsure.iter().cloned());
            for path in touched.difference(&unsure) {
                let now = self.state(turn, path).await?;
                let before = self.before(path);
                if now != before {
                    paths.insert(path.clone());
                    records.push(record(path, now, Some(&before)));
                }
            }
            for path in &unsure {
                records.push(record(path, self.state(turn, path).await?, None));
            }
        }
        if !records.is_empty() {
            self.unsure.borrow_mut().extend(paths.iter().cloned());
            let entry = Entry {
                kind: EntryKind::More,
                writer: self.writer,
                records,
            };
            self.append(log, entry, turn.digests().salt()).await?;
        }
        if changes {
            self.touched.borrow_mut().clear();
            for path in paths {
                let now = self.state(turn, &path).await?;
                self.unsure.borrow_mut().remove(&path);
                let mut written = self.written.borrow_mut();
                match now.covered {
                    Some(_) => written.insert(path, now),
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
        if log.last == 0 {
            return Ok(());
        }
        let entry = Entry {
            kind: EntryKind::Commit,
            writer: self.writer,
            records: Vec::new(),
        };
        self.append(&mut log, entry, turn.digests().salt()).await
    }

    /// Writes the whole turn as one entry, and deletes those before.
    async fn keep_anew(&self, turn: &Turn, log: &mut MutexGuard<'_, Log>) -> Result<()> {
        let mut records = Vec::new();
        let paths: Vec<VPath> = turn.covered.borrow().keys().cloned().collect();
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
            writer: self.writer,
            records,
        };
        let first = log.first;
        self.append(log, entry, salt).await?;
        for number in first..log.first {
            missing(self.at.delete(&self.entry(number)?, None).await)?;
        }
        Ok(())
    }

    /// Gives the files that were touched since the last entry what they had then.
    async fn take_back(&self, turn: &Turn) -> Result<()> {
        let touched = self.touched.take();
        for path in touched {
            let before = self.before(&path);
            let now = turn.over.download(std::slice::from_ref(&path)).await;
            let now = missing(now.into_iter().next().unwrap_or(Ok(Bytes::new())))?;
            match (now, before.content) {
                (_, Some(content)) => {
                    let answers = turn.over.upload(vec![(path.clone(), content)]).await;
                    answers.into_iter().collect::<Result<()>>()?;
                }
                (Some(now), None) => {
                    turn.over.delete(&path, Some(&now)).await?;
                }
                (None, None) => {}
            }
            let mut covered = turn.covered.borrow_mut();
            match before.covered {
                Some(one) => covered.insert(path, one),
                None => covered.remove(&path),
            };
        }
        Ok(())
    }

    /// Deletes what is kept of a turn that is empty. If that fails, it is done later.
    async fn keep_nothing(&self) {
        let mut log = self.log.lock().await;
        self.touched.borrow_mut().clear();
        self.written.borrow_mut().clear();
        self.noted.borrow_mut().clear();
        let unsure = self.unsure.take();
        if log.last > 0 || !unsure.is_empty() {
            let _ = self.remove(&mut log).await;
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
        self.touched.borrow_mut().insert(path.clone());
    }

    fn noted(&self, question: Question, digest: u128, renews: bool) {
        self.noted.borrow_mut().push(match renews {
            true => Record::Renew(question, digest),
            false => Record::Note(question, digest),
        });
    }
}

impl Turn {
    /// Keeps the turn in a directory of a backend, and goes on with what is kept there. Once, before
    /// the first call.
    pub fn keep_in(&self, at: SharedBackend, dir: VPath) {
        let kept = Kept {
            at,
            dir,
            writer: random::bits(),
            is_open: Cell::new(false),
            log: Mutex::default(),
            touched: RefCell::new(BTreeSet::new()),
            written: RefCell::new(BTreeMap::new()),
            unsure: RefCell::new(BTreeSet::new()),
            noted: RefCell::new(Vec::new()),
        };
        let _ = self.kept.set(Rc::new(kept));
    }
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
