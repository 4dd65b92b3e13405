//! The log of a kept turn, a directory in the backend that keeps it:
//!
//! ```text
//! log/00000001   the turn, as it began
//! log/00000002   what a call changed or read since
//! note           the pin that it is over, if it is a branch of one
//! done           the turn is over, and all of this is being deleted
//! ```
//!
//! A call adds one file, created under a condition, before it returns. So a call is kept as a whole
//! or not at all, and two processes that both go on with a turn find out: their entries have the
//! same number.

use std::rc::Rc;

use super::entry::{Entry, Kind as EntryKind};
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::env::random;
use crate::side::{Others, Room};

/// What entries are among records, and what shows that a turn is over.
const KIND: &str = "turn";
const DONE: &str = "done";
const NOTE: &str = "note";

/// A turn is written anew when its later entries have this many bytes more than twice the first.
const SLACK_BYTES: usize = 1024 * 1024;

/// A turn is written anew after this many entries.
const MOST_ENTRIES: u64 = 1000;

/// How often an entry is tried under the next number because an earlier attempt had arrived after all.
const ATTEMPTS: u32 = 5;

/// The log of one turn, as this process knows it.
pub(super) struct Log {
    room: Room,
    /// The name of the turn.
    turn: String,
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
    pub(super) fn new(room: Room, turn: &str) -> Log {
        Log {
            room,
            turn: turn.into(),
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

    fn name(&self, rest: &str) -> String {
        format!("{}/{rest}", self.turn)
    }

    fn entry(&self, number: u64) -> String {
        self.name(&format!("log/{number:08}"))
    }

    fn dir(&self) -> VPath {
        let dir = self.room.path(&self.turn);
        dir.unwrap_or_else(|_| self.room.dir().clone())
    }

    pub(super) fn damaged(&self) -> Error {
        Error::at(
            Kind::Unavailable,
            "The turn that is kept in '",
            &self.dir(),
            "' is not whole, or another version of kitbag has written it. Delete this directory to \
             give the turn up.",
        )
    }

    fn elsewhere(&self) -> Error {
        Error::at(
            Kind::Conflict,
            "The turn that is kept in '",
            &self.dir(),
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
            let name = self.entry(number);
            let bytes = entry.bytes();
            let size = bytes.len();
            match self.room.create(KIND, &name, &bytes).await {
                Ok(true) => {
                    self.last = number;
                    self.since = self.since.saturating_add(size);
                    if starts {
                        (self.first, self.start, self.since) = (number, size, 0);
                    }
                    return Ok(());
                }
                Ok(false) => {
                    // What proves nothing is gone now, so the number is free.
                    let Some(there) = self.room.read(KIND, &name).await? else {
                        continue;
                    };
                    let there = Entry::parse(&there.body);
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

    /// Keeps a note with the turn.
    pub(super) async fn note(&mut self, note: &str) -> Result<()> {
        if self.is_over {
            self.remove().await?;
        }
        let name = self.name(NOTE);
        self.room.put(NOTE, &name, note.as_bytes()).await
    }

    /// The note, if there is one.
    pub(super) async fn noted(&self) -> Result<Option<Rc<str>>> {
        let found = self.room.read(NOTE, &self.name(NOTE)).await?;
        Ok(found.map(|found| String::from_utf8_lossy(&found.body).into()))
    }

    /// Deletes all that is kept. If that is broken off, it goes on at the next entry or when the turn
    /// is begun again.
    pub(super) async fn remove(&mut self) -> Result<()> {
        self.is_over = true;
        self.room.put(DONE, &self.name("done"), b"").await?;
        self.room.remove(&self.name("log")).await?;
        self.room.remove(&self.turn).await?;
        self.forget();
        Ok(())
    }

    /// What is kept, in order. What proves nothing, or was broken off at the end, is moved aside.
    pub(super) async fn load(&mut self) -> Result<Vec<Entry>> {
        self.forget();
        if self.room.read(DONE, &self.name("done")).await?.is_some() {
            self.remove().await?;
            return Ok(Vec::new());
        }
        let mut found: Vec<(u64, String)> = Vec::new();
        for info in self.room.list(&self.name("log")).await? {
            let number: Option<u64> = info.path.name().parse().ok();
            let number = number.filter(|number| !info.is_dir() && (1..1 << 53).contains(number));
            // Whatever else is there is no entry.
            let Some(number) = number else { continue };
            if self
                .entry(number)
                .ends_with(&format!("/{}", info.path.name()))
            {
                found.push((number, self.entry(number)));
            }
        }
        order::sort_by_key(&mut found, |(number, _)| *number);
        let names: Vec<String> = found.iter().map(|(_, name)| name.clone()).collect();
        let mut entries: Vec<(u64, Option<Entry>, usize)> = Vec::new();
        let all = self.room.read_all(KIND, &names, Others::InTheWay).await?;
        for ((number, _), stored) in found.iter().zip(all) {
            if let Some(stored) = stored {
                entries.push((*number, Entry::parse(&stored.body), stored.file.len()));
            }
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
            self.room.remove(&self.entry(number)).await?;
        }
        Ok(())
    }
}
