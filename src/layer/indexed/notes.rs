//! Notes of changes, for searches that list nothing. Before a writer changes a path, a note that names it
//! is stored; so a search that does not know a change from the index knows its path from a note, and reads
//! that path as it is now.
//!
//! A note is a file of one writer, which grows: `+f TIME PATH` begins a change of a file, `+t` one of
//! everything at and below a path, `-N` ends the change number N, `.` says that the note is closed. It is
//! stored before a change, with all that has begun by then; that a change has ended is told by the next
//! store. Each store makes it longer, so its length tells its state. After a store whose outcome is not known
//! the writer begins another note, so that none ever becomes shorter.
//!
//! A writer that dies leaves changes that have begun: they cost searches a read, and count as ended after
//! [`GONE`]. So a writer whose change took longer than [`FRESH`] notes it again before it says that
//! it is done.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Result};
use crate::core::future::{PARALLEL, Pending, bounded};
use crate::core::lock::Mutex;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::env::{clock, random};
use crate::protocol::{BackendExt, EntryInfo, FileInfo};
use crate::side::{Found, Room};

/// The directory of notes in the room of the index.
pub const DIR: &str = "notes";
/// What a note is among records.
const KIND: &str = "index-note";
/// A note with this many changes is followed by another one.
const MOST: usize = 64;
/// A note of this age is followed by another one, in microseconds.
const OLD: i64 = 10 * 60 * 1_000_000;
/// A change that took longer is noted again, in microseconds.
const FRESH: i64 = 30 * 60 * 1_000_000;
/// How often notes are listed again because one was deleted.
const TRIES: usize = 4;
/// A change whose end nobody told counts as ended after this time, in microseconds.
pub const GONE: i64 = 60 * 60 * 1_000_000;

/// A place that a change is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or the root of a tree.
    pub path: VPath,
    /// Whether everything below it may change, too.
    pub is_tree: bool,
}

/// A change in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    place: Place,
    /// When it began, in microseconds.
    begun: i64,
    has_ended: bool,
}

/// What a note says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    changes: Vec<Change>,
    /// Whether its writer will not store it again.
    is_closed: bool,
    /// Its file.
    file: Bytes,
}

impl Log {
    fn read(body: &[u8]) -> Option<Log> {
        let mut log = Log::default();
        for line in std::str::from_utf8(body).ok()?.split_terminator('\n') {
            if line == "." {
                log.is_closed = true;
            } else if let Some(number) = line.strip_prefix('-') {
                log.changes
                    .get_mut(number.parse::<usize>().ok()?)?
                    .has_ended = true;
            } else {
                let (kind, rest) = line.split_once(' ')?;
                let (begun, path) = rest.split_once(' ')?;
                let is_tree = match kind {
                    "+f" => false,
                    "+t" => true,
                    _ => return None,
                };
                let path = VPath::from_stored(path)?;
                log.changes.push(Change {
                    place: Place { path, is_tree },
                    begun: begun.parse().ok()?,
                    has_ended: false,
                });
            }
        }
        Some(log)
    }

    /// How many of its changes, from the first on, have ended by now.
    pub fn ended(&self, now: i64) -> u64 {
        let has_ended = |change: &&Change| {
            let is_gone = now.saturating_sub(change.begun) > GONE;
            change.has_ended || is_gone || has(Bug::NoteAbsorbedEarly)
        };
        self.changes.iter().take_while(has_ended).count() as u64
    }

    /// The places of its changes behind the first `absorbed`.
    pub fn places(&self, absorbed: u64) -> impl Iterator<Item = &Place> {
        let absorbed = usize::try_from(absorbed).unwrap_or(usize::MAX);
        self.changes.iter().skip(absorbed).map(|one| &one.place)
    }

    /// Whether all of its changes are among the first `absorbed`, and its writer will add no other.
    pub fn is_over(&self, absorbed: u64, now: i64) -> bool {
        let is_gone = |change: &Change| now.saturating_sub(change.begun) > GONE;
        let is_left = self.is_closed || self.changes.iter().all(is_gone);
        is_left && self.changes.len() as u64 <= absorbed
    }
}

/// What there is of notes.
#[derive(Default)]
pub struct All {
    /// Each note, by its number.
    pub logs: Sorted<u64, Rc<Log>>,
    /// Files that are no notes, or of another key.
    pub damaged: Vec<FileInfo>,
    /// Requests made.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// A note that this writer stores.
struct Note {
    id: u64,
    /// What it says by now.
    log: RefCell<Vec<u8>>,
    /// Its changes, and those of them that have not ended.
    begun: Cell<usize>,
    open: Cell<usize>,
    /// The length of what is stored of the log.
    stored: Cell<usize>,
    /// Whether it is being stored. It stays so if the call that does it is broken off.
    is_storing: Cell<bool>,
    /// Whether it is not known what is stored.
    is_lost: Cell<bool>,
    is_closed: Cell<bool>,
    /// When its first change began.
    born: i64,
}

impl Note {
    fn new() -> Rc<Note> {
        Rc::new(Note {
            id: random::bits(),
            log: RefCell::new(Vec::new()),
            begun: Cell::new(0),
            open: Cell::new(0),
            stored: Cell::new(0),
            is_storing: Cell::new(false),
            is_lost: Cell::new(false),
            is_closed: Cell::new(false),
            born: clock::now().micros(),
        })
    }

    fn add(&self, line: &str) {
        let mut log = self.log.borrow_mut();
        log.extend_from_slice(line.as_bytes());
        log.push(b'\n');
    }

    fn is_usable(&self) -> bool {
        !self.is_lost.get() && !self.is_closed.get() && !self.log.is_torn()
    }

    /// Whether it is known what is stored, asked when nothing stores it.
    fn is_settled(&self) -> bool {
        if self.is_storing.get() {
            self.is_lost.set(true);
        }
        !self.is_lost.get()
    }

    /// Whether something of it is not stored.
    fn is_behind(&self) -> bool {
        self.stored.get() < self.log.borrow().len()
    }
}

/// A change that was noted.
pub struct Noted {
    note: Rc<Note>,
    first: usize,
    count: usize,
    begun: i64,
}

/// The name of a note in the room.
fn name(id: u64) -> String {
    format!("{DIR}/{id:016x}.bin")
}

/// The notes of a room: those that this writer stores, and those of all that were read.
pub struct Notes {
    room: Room,
    own: RefCell<Option<Rc<Note>>>,
    /// Stores are made one after the other; one is for all changes that wait for it.
    line: Mutex<()>,
    read: RefCell<Sorted<u64, Rc<Log>>>,
}

impl Notes {
    pub fn new(room: Room) -> Notes {
        Notes {
            room,
            own: RefCell::renewable(|| None),
            line: Mutex::default(),
            read: RefCell::renewable(Sorted::new),
        }
    }

    /// The note for the next change.
    fn current(&self, now: i64) -> Rc<Note> {
        let mut own = self.own.borrow_mut();
        let goes_on = |note: &&Rc<Note>| {
            let age = now.saturating_sub(note.born);
            note.is_usable() && note.begun.get() < MOST && (0..OLD).contains(&age)
        };
        if let Some(note) = own.as_ref().filter(goes_on) {
            return note.clone();
        }
        let note = Note::new();
        *own = Some(note.clone());
        note
    }

    /// Stores a note of a change that is about to be made. If this fails, it may not be made.
    pub fn begin<'a>(&'a self, places: &'a [Place]) -> Pending<'a, Noted> {
        Box::pin(async move {
            loop {
                let begun = clock::now().micros();
                let note = self.current(begun);
                let first = note.begun.get();
                for Place { path, is_tree } in places {
                    let kind = match is_tree {
                        true => "+t",
                        false => "+f",
                    };
                    note.add(&format!("{kind} {begun} {path}"));
                }
                let count = places.len();
                note.begun.set(first + count);
                note.open.set(note.open.get() + count);
                let goal = note.log.borrow().len();
                let _turn = self.line.lock().await;
                let is_stored = note.stored.get() >= goal;
                if !is_stored && !note.is_settled() {
                    continue;
                }
                if !is_stored {
                    self.store(&note).await?;
                }
                return Ok(Noted {
                    note,
                    first,
                    count,
                    begun,
                });
            }
        })
    }

    /// Tells that a change has ended, or, without `is_known`, that it may still be made.
    pub async fn end(&self, noted: Noted, places: &[Place], is_known: bool) -> Result<()> {
        let took = clock::now().micros().saturating_sub(noted.begun);
        if took > FRESH {
            let again = self.begin(places).await?;
            self.ended(&again);
        }
        if is_known {
            self.ended(&noted);
            self.close(&noted.note).await;
        }
        Ok(())
    }

    fn ended(&self, noted: &Noted) {
        let note = &noted.note;
        for number in noted.first..noted.first + noted.count {
            note.add(&format!("-{number}"));
        }
        note.open.set(note.open.get().saturating_sub(noted.count));
    }

    /// Closes a note that is not continued, if all of its changes have ended. If that fails, an update does
    /// without.
    async fn close(&self, note: &Rc<Note>) {
        let is_own = |own: &Rc<Note>| Rc::ptr_eq(own, note) && note.begun.get() < MOST;
        let is_current = self.own.borrow().as_ref().is_some_and(is_own);
        if is_current || note.open.get() > 0 || !note.is_usable() {
            return;
        }
        let _turn = self.line.lock().await;
        if note.is_settled() && note.is_usable() {
            note.is_closed.set(true);
            note.add(".");
            let _ = self.store(note).await;
        }
    }

    /// Stores what is known of the own changes, before an update.
    pub async fn flush(&self) {
        let note = self.own.replace(None);
        if let Some(note) = note {
            self.close(&note).await;
            let _turn = self.line.lock().await;
            if note.is_settled() && note.is_usable() && note.is_behind() {
                let _ = self.store(&note).await;
            }
        }
    }

    /// Stores a note as it is by now. Nothing else stores meanwhile.
    async fn store(&self, note: &Note) -> Result<()> {
        note.is_storing.set(true);
        let stored = self.stored(note).await;
        note.is_storing.set(false);
        match stored {
            Ok(length) => note.stored.set(length),
            Err(error) => {
                note.is_lost.set(true);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Stores a note; returns how much of its log.
    async fn stored(&self, note: &Note) -> Result<usize> {
        if note.log.is_torn() {
            return Err(Error::internal("A note of a change is damaged"));
        }
        let body = note.log.borrow().clone();
        let name = name(note.id);
        let is_stored = match note.stored.get() {
            0 => self.room.create(KIND, &name, &body).await?,
            _ => self.room.rewrite(KIND, &name, &body).await?,
        };
        match is_stored {
            true => Ok(body.len()),
            false => Err(Error::conflict(&self.room.path(&name)?)),
        }
    }

    /// All notes as they are now.
    pub fn all(&self) -> Pending<'_, All> {
        Box::pin(async move {
            for _ in 0..TRIES {
                if let Some(all) = self.listed().await? {
                    self.read.replace(all.logs.clone());
                    return Ok(all);
                }
            }
            Err(Error::conflict(&self.room.path(DIR)?))
        })
    }

    /// The notes of a listing; `None` if one of them was deleted since.
    async fn listed(&self) -> Result<Option<All>> {
        let listed = self.room.at().ls(&self.room.path(DIR)?).await?;
        let before = self.read.borrow().clone();
        let mut all = All {
            requests: 1,
            ..All::default()
        };
        let mut missing = Vec::new();
        for info in listed {
            let EntryInfo::File { size, .. } = info.entry else {
                continue;
            };
            // No writer makes other names.
            let Some(id) = id_of(info.path.name()) else {
                continue;
            };
            match before.get(&id) {
                // It may be longer by now than when it was listed.
                Some(log) if size.is_some_and(|size| size <= log.file.len() as u64) => {
                    all.logs.insert(id, log.clone());
                }
                _ => missing.push((id, info)),
            }
        }
        if missing.is_empty() {
            return Ok(Some(all));
        }
        let paths = missing.iter().map(|(_, info)| info.path.clone());
        let paths: Vec<VPath> = paths.collect();
        for ((id, info), file) in missing
            .into_iter()
            .zip(self.room.at().download(&paths).await)
        {
            let file = match file {
                Err(error) if error.is_no_file() => return Ok(None),
                file => file?,
            };
            all.requests += 1;
            all.bytes += file.len() as u64;
            match self.opened(id, file).await {
                Some(log) => _ = all.logs.insert(id, Rc::new(log)),
                None => all.damaged.push(info),
            }
        }
        Ok(Some(all))
    }

    async fn opened(&self, id: u64, file: Bytes) -> Option<Log> {
        match self.room.opened(KIND, &name(id), &file).await {
            Found::Proven(body) => Log::read(&body).map(|log| Log { file, ..log }),
            Found::Unproven(_) | Found::OtherKey(_) | Found::Foreign | Found::Removed => None,
        }
    }

    /// Deletes what is no note any more, and so old that all of its changes have ended long ago.
    pub async fn remove_damaged(&self, damaged: &[FileInfo], now: i64) {
        for info in damaged {
            let since = info.modified().map_or(now, |time| time.micros());
            if now.saturating_sub(since) > GONE {
                let _ = self.room.at().delete(&info.path, None).await;
            }
        }
    }

    /// Deletes notes if they are as they were read. Failures are left to a later update.
    pub async fn remove(&self, notes: &[(u64, Rc<Log>)]) {
        let deletes = notes.iter().map(|(id, log)| -> Pending<'_, bool> {
            Box::pin(async move { self.room.delete(&name(*id), &log.file).await })
        });
        bounded(PARALLEL, deletes).await;
    }
}

fn id_of(name: &str) -> Option<u64> {
    let id = name.strip_suffix(".bin").filter(|id| id.len() == 16)?;
    u64::from_str_radix(id, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Option<Log> {
        Log::read(text.as_bytes())
    }

    #[test]
    fn a_note_tells_what_has_begun_and_what_has_ended() {
        let log = log("+f 10 /a\n+t 20 /b c\n-1\n+f 30 /d\n-2\n").expect("a note");
        let places: Vec<(&str, bool)> = log
            .places(1)
            .map(|place| (place.path.as_str(), place.is_tree))
            .collect();
        assert_eq!(places, [("/b c", true), ("/d", false)]);
        assert_eq!(log.ended(40), 0);
        assert_eq!(log.ended(10 + GONE), 0);
        assert_eq!(log.ended(11 + GONE), 3);
        assert!(!log.is_over(3, 31));
        assert!(!log.is_over(3, 30 + GONE));
        assert!(log.is_over(3, 31 + GONE));
        assert!(!log.is_over(2, 31 + GONE));
    }

    #[test]
    fn a_note_that_says_something_else_is_none() {
        for text in ["+x 1 /a\n", "+f /a\n", "+f 1 a\n", "-0\n", "-x\n", "what\n"] {
            assert_eq!(log(text), None, "{text:?}");
        }
    }
}
