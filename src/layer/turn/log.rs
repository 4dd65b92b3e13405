//! The log of a kept turn, a directory in the backend that keeps it:
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

use bytes::Bytes;

use super::record::{Entry, Kind as EntryKind};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::random;
use crate::layer::kit::{body, create, if_there};
use crate::protocol::{BackendExt, SharedBackend};

/// A turn is written anew when its later entries have this many bytes more than twice the first.
const SLACK_BYTES: usize = 1024 * 1024;

/// A turn is written anew after this many entries.
const MOST_ENTRIES: u64 = 1000;

/// How often an entry is tried under the next number because an earlier attempt had arrived after all.
const ATTEMPTS: u32 = 5;

/// The log of one turn, as this process knows it.
pub(super) struct Log {
    at: SharedBackend,
    dir: VPath,
    /// A number of this process.
    pub(super) writer: u64,
    /// The first entry that counts, and the last; 0 if there is none.
    first: u64,
    last: u64,
    /// The size of the first entry that counts, and of all others since.
    start: usize,
    since: usize,
    /// Whether all entries are void and may still be there.
    pub(super) is_over: bool,
}

impl Log {
    /// One that has not been read.
    pub(super) fn new(at: SharedBackend, dir: VPath) -> Log {
        Log {
            at,
            dir,
            writer: random::bits(),
            first: 0,
            last: 0,
            start: 0,
            since: 0,
            is_over: false,
        }
    }

    fn forget(&mut self) {
        (self.first, self.last, self.start, self.since) = (0, 0, 0, 0);
        self.is_over = false;
    }

    /// Whether there is an entry.
    pub(super) fn is_begun(&self) -> bool {
        self.last > 0
    }

    /// Whether the turn should be written anew.
    pub(super) fn is_long(&self) -> bool {
        let most = self.start.saturating_mul(2).saturating_add(SLACK_BYTES);
        self.since > most || self.last.saturating_sub(self.first) >= MOST_ENTRIES
    }

    fn log_dir(&self) -> Result<VPath> {
        Ok(self.dir.join("log")?)
    }

    fn entry(&self, number: u64) -> Result<VPath> {
        Ok(self.dir.join(&format!("log/{number:08}"))?)
    }

    pub(super) fn damaged(&self) -> Error {
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
    pub(super) async fn append(&mut self, mut entry: Entry, salt: [u64; 2]) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let starts = self.last == 0 || matches!(entry.kind, EntryKind::Start(_));
            if starts {
                entry.kind = EntryKind::Start(salt);
            }
            let number = self.last + 1;
            let path = self.entry(number)?;
            let bytes = entry.bytes();
            let size = bytes.len();
            match create(&*self.at, &path, &bytes).await {
                Ok(true) => {
                    self.last = number;
                    self.since = self.since.saturating_add(size);
                    if starts {
                        (self.first, self.start, self.since) = (number, size, 0);
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
                    self.last = number;
                    if matches!(ours.kind, EntryKind::Start(_)) {
                        self.first = number;
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
    pub(super) async fn remove(&mut self) -> Result<()> {
        self.is_over = true;
        let done = vec![(self.dir.join("done")?, Bytes::new())];
        let answers = self.at.upload(done).await;
        answers.into_iter().collect::<Result<()>>()?;
        if_there(self.at.delete(&self.log_dir()?, None).await)?;
        if_there(self.at.delete(&self.dir, None).await)?;
        self.forget();
        Ok(())
    }

    /// What is kept, in order; an entry that was broken off at the end is deleted.
    pub(super) async fn load(&mut self) -> Result<Vec<Entry>> {
        self.forget();
        let infos = self.at.ls(&self.dir).await?;
        if infos.iter().any(|info| !info.is_dir()) {
            self.remove().await?;
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
            if_there(self.at.delete(path, None).await)?;
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
                (self.first, self.start) = (number, size);
            } else if number != self.last + 1 {
                return Err(self.damaged());
            } else {
                self.since = self.since.saturating_add(size);
            }
            self.last = number;
            whole.push(entry);
        }
        Ok(whole)
    }

    /// Writes a first entry in the place of all others, and deletes those.
    pub(super) async fn begin_anew(&mut self, entry: Entry, salt: [u64; 2]) -> Result<()> {
        let first = self.first;
        self.append(entry, salt).await?;
        for number in first..self.first {
            if_there(self.at.delete(&self.entry(number)?, None).await)?;
        }
        Ok(())
    }
}
