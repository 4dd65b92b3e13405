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

use super::notes::Digests;
use super::plan::body;
use super::record::{Entry, Kind as EntryKind, Record};
use super::{Covered, Notes, Turn, missing};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
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
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    covered: Option<Covered>,
    content: Option<Bytes>,
}

/// Where a turn is kept, and what of it is not there yet.
pub(super) struct Kept {
    at: SharedBackend,
    dir: VPath,
    /// A number of this process.
    writer: u64,
    /// Whether what was kept has been read.
    is_open: Cell<bool>,
    log: Mutex<Log>,
    /// Files that were changed since the last entry, as they were then.
    touched: RefCell<BTreeMap<VPath, State>>,
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

impl Turn {
    /// Keeps the turn in a directory of a backend, and goes on with what is kept there.
    #[must_use]
    pub fn kept_in(mut self, at: SharedBackend, dir: VPath) -> Turn {
        self.kept = Some(Kept {
            at,
            dir,
            writer: random::bits(),
            is_open: Cell::new(false),
            log: Mutex::default(),
            touched: RefCell::new(BTreeMap::new()),
            unsure: RefCell::new(BTreeSet::new()),
            noted: RefCell::new(Vec::new()),
        });
        self
    }

    /// Reads what is kept of the turn, once.
    pub(super) async fn opened(&self) -> Result<()> {
        let Some(kept) = self.kept.as_ref().filter(|kept| !kept.is_open.get()) else {
            return Ok(());
        };
        let mut log = kept.log.lock().await;
        if kept.is_open.get() {
            return Ok(());
        }
        *log = Log::default();
        let entries = kept.load(&mut log).await?;
        let ends_in_commit = entries
            .last()
            .is_some_and(|last| last.kind == EntryKind::Commit);
        let mut covered = BTreeMap::new();
        let mut contents = BTreeMap::new();
        let mut notes = Notes::default();
        for entry in entries {
            if let EntryKind::Start(salt) = entry.kind {
                self.digests.set(Digests::new(salt));
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
                            covered.get_mut(&path).ok_or_else(|| kept.damaged())?;
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
        if ends_in_commit && self.is_committed(&covered, &contents).await? {
            kept.remove(&mut log).await?;
        } else {
            let files = contents
                .into_iter()
                .filter_map(|(path, content)| Some((path, content?)));
            let answers = self.over.upload(files.collect()).await;
            answers.into_iter().collect::<Result<()>>()?;
            self.covered.replace(covered);
            self.notes.replace(notes);
        }
        kept.is_open.set(true);
        Ok(())
    }

    /// Whether a commit that began has made all changes. If all files hold what the turn gives them,
    /// nothing is left to do in any case.
    async fn is_committed(
        &self,
        covered: &BTreeMap<VPath, Covered>,
        contents: &BTreeMap<VPath, Option<Bytes>>,
    ) -> Result<bool> {
        let base = self.base().await?;
        for (path, one) in covered {
            let before = one.before.as_ref().map(|before| &before.body);
            let after = contents.get(path).and_then(Option::as_ref);
            if before != after && body(&**base, path).await?.as_ref() != after {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn state(&self, path: &VPath) -> Result<State> {
        let covered = self.covered.borrow().get(path).cloned();
        let content = match covered.as_ref().is_some_and(|one| one.exists) {
            true => Some(self.over_body(path).await?),
            false => None,
        };
        Ok(State { covered, content })
    }

    /// Called before the turn's own file at `path` changes.
    pub(super) async fn touch(&self, path: &VPath) -> Result<()> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        if !kept.touched.borrow().contains_key(path) {
            let state = self.state(path).await?;
            kept.touched.borrow_mut().insert(path.clone(), state);
        }
        Ok(())
    }

    /// Called before it changes whether and how `path` is covered. If the turn has a file there, it
    /// was touched before.
    pub(super) fn touch_cover(&self, path: &VPath) {
        if let Some(kept) = &self.kept {
            let covered = self.covered.borrow().get(path).cloned();
            let mut touched = kept.touched.borrow_mut();
            touched.entry(path.clone()).or_insert(State {
                covered,
                content: None,
            });
        }
    }

    /// Called after something was read.
    pub(super) fn noted(&self, record: Record) {
        if let Some(kept) = &self.kept {
            kept.noted.borrow_mut().push(record);
        }
    }

    /// A call that changes the turn: it is kept before it returns, or nothing has changed.
    pub(super) async fn change<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.opened().await?;
        let _changing = self.changing.lock().await;
        let answer = work.await;
        match self.keep(true).await {
            Err(error) if answer.is_ok() => Err(error),
            _ => answer,
        }
    }

    /// A call that reads: what it has read is kept before it returns.
    pub(super) async fn reading<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.opened().await?;
        let answer = work.await;
        match self.keep(false).await {
            Err(error) if answer.is_ok() => Err(error),
            _ => answer,
        }
    }

    /// Keeps what was read, and with `changes` what was changed. If that fails, the changes are gone.
    async fn keep(&self, changes: bool) -> Result<()> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        let mut log = kept.log.lock().await;
        let answer = self.keep_entry(kept, &mut log, changes).await;
        if answer.is_err() && changes {
            self.take_back(kept).await?;
        }
        if changes && answer.is_ok() && log.is_long() {
            // Without it, the entries stay.
            let _ = self.keep_anew(kept, &mut log).await;
        }
        answer
    }

    async fn keep_entry(
        &self,
        kept: &Kept,
        log: &mut MutexGuard<'_, Log>,
        changes: bool,
    ) -> Result<()> {
        if log.is_over {
            kept.remove(log).await?;
        }
        let mut records = kept.noted.borrow().clone();
        let notes = records.len();
        let mut paths = BTreeSet::new();
        if changes {
            let touched = kept.touched.borrow().clone();
            let unsure = kept.unsure.borrow().clone();
            paths.extend(unsure.iter().cloned());
            for (path, before) in &touched {
                if unsure.contains(path) {
                    continue;
                }
                let now = self.state(path).await?;
                if now == *before {
                    continue;
                }
                paths.insert(path.clone());
                records.push(record(path, now, Some(before)));
            }
            for path in &unsure {
                records.push(record(path, self.state(path).await?, None));
            }
        }
        if !records.is_empty() {
            kept.unsure.borrow_mut().extend(paths.iter().cloned());
            let entry = Entry {
                kind: EntryKind::More,
                writer: kept.writer,
                records,
            };
            kept.append(log, entry, self.digests().salt()).await?;
        }
        if changes {
            kept.touched.borrow_mut().clear();
            let mut unsure = kept.unsure.borrow_mut();
            unsure.retain(|path| !paths.contains(path));
        }
        kept.noted.borrow_mut().drain(..notes);
        Ok(())
    }

    /// Keeps that a commit begins.
    pub(super) async fn keep_commit(&self) -> Result<()> {
        self.keep(true).await?;
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        let mut log = kept.log.lock().await;
        if log.last == 0 {
            return Ok(());
        }
        let entry = Entry {
            kind: EntryKind::Commit,
            writer: kept.writer,
            records: Vec::new(),
        };
        kept.append(&mut log, entry, self.digests().salt()).await
    }

    /// Writes the whole turn as one entry, and deletes those before.
    async fn keep_anew(&self, kept: &Kept, log: &mut MutexGuard<'_, Log>) -> Result<()> {
        let mut records = Vec::new();
        let paths: Vec<VPath> = self.covered.borrow().keys().cloned().collect();
        for path in paths {
            let state = self.state(&path).await?;
            records.push(record(&path, state, None));
        }
        let notes = self.notes.borrow().all();
        let notes = notes
            .into_iter()
            .map(|(question, digest)| Record::Note(question, digest));
        records.extend(notes);
        let salt = self.digests().salt();
        let entry = Entry {
            kind: EntryKind::Start(salt),
            writer: kept.writer,
            records,
        };
        let first = log.first;
        kept.append(log, entry, salt).await?;
        for number in first..log.first {
            missing(kept.at.delete(&kept.entry(number)?, None).await)?;
        }
        Ok(())
    }

    /// Gives the files that were touched since the last entry what they had then.
    async fn take_back(&self, kept: &Kept) -> Result<()> {
        let touched = kept.touched.take();
        for (path, before) in touched {
            let now = self.over.download(std::slice::from_ref(&path)).await;
            let now = missing(now.into_iter().next().unwrap_or(Ok(Bytes::new())))?;
            match (now, before.content) {
                (_, Some(content)) => {
                    let answers = self.over.upload(vec![(path.clone(), content)]).await;
                    answers.into_iter().collect::<Result<()>>()?;
                }
                (Some(now), None) => {
                    self.over.delete(&path, Some(&now)).await?;
                }
                (None, None) => {}
            }
            let mut covered = self.covered.borrow_mut();
            match before.covered {
                Some(one) => covered.insert(path, one),
                None => covered.remove(&path),
            };
        }
        Ok(())
    }

    /// Deletes what is kept of a turn that is empty. If that fails, it is done later.
    pub(super) async fn keep_nothing(&self) {
        let Some(kept) = &self.kept else {
            return;
        };
        let mut log = kept.log.lock().await;
        kept.touched.borrow_mut().clear();
        kept.noted.borrow_mut().clear();
        let unsure = kept.unsure.take();
        if log.last > 0 || !unsure.is_empty() {
            let _ = kept.remove(&mut log).await;
        }
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
