//! The ledger of a cached storage: the size and time of each file, in
//! [sheets](crate::storage::browser::sheet) of a database, with copies of the bytes of small files.
//! The files themselves are authoritative. A change is recorded before it starts and again when it
//! is over. Between the two the row is *open*: the copy is deleted, and readers look at the file
//! itself. So a tab that dies leaves no wrong data, only an open row, which a later search closes.
//!
//! A ledger is created by the first change of an empty storage, or by the first search: all files
//! are listed, and the result is kept unless a change ended meanwhile. If two changes of one file
//! overlap, their order is unknown, and the row stays open until the next change without overlap,
//! or until it is closed like the row of a dead tab.
//!
//! One database holds several ledgers, each under the name of its place.

use std::cell::Cell;
use std::time::Duration;

use bytes::Bytes;
use js_sys::Array;
use wasm_bindgen::JsCast;

use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::core::time::Time;
use crate::env::{host, random};
use crate::storage::browser::CrashProtection;
use crate::storage::browser::cached::row::{Row, is_copied, open_row, opened, settled};
use crate::storage::browser::database::connection::{Connection, Durability, Mode};
use crate::storage::browser::database::schema::{BODIES, Keys, SHEETS};
use crate::storage::browser::database::sheets::{Lookup, Sheets};
use crate::storage::browser::database::torn_log;
use crate::storage::browser::database::transaction::{Transaction, body_of};
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Entry, Flow, Meta, Scope, Version};

/// The prefix of the lock that changes share.
const CHANGING: &str = "kitbag:changing:";
/// The timeout for opening the database.
const PATIENCE: Duration = Duration::from_secs(5);
/// Follows the name of a place in the namespace that holds the state of its ledger.
const STATE: char = '\u{1f}';
/// Number of sheets of a directory that are requested before its names are known.
const AHEAD: u32 = 4;
/// Number of searches that do without a ledger after its creation was disturbed by a change.
const REST: u32 = 8;

/// The result of looking at a file after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file exists.
    File {
        /// Size in bytes.
        size: u64,
        /// Time of the last change.
        modified: Time,
    },
    /// The file does not exist.
    Gone,
    /// The file could not be read.
    Unknown,
}

/// A finished change.
#[derive(Clone)]
pub struct Ended {
    /// The file that was changed.
    pub path: VPath,
    /// The state of the file afterwards.
    pub outcome: Outcome,
    /// The bytes that were written.
    pub body: Option<Bytes>,
}

/// The state of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The files were not listed yet.
    Nothing,
    /// A listing with this number is in progress.
    Begun(u64),
    /// Every file has a row.
    Whole,
}

/// The ledgers of one database.
pub struct Ledger {
    database: &'static str,
    connection: Connection,
    protection: CrashProtection,
    resting: Cell<u32>,
    /// Whether [`is_new`](Ledger::is_new) was called.
    looked: Cell<bool>,
    /// Whether copying failed in a search, for example because the quota was full.
    full: Cell<bool>,
}

/// A file without a copy that a search has read.
pub struct Found {
    /// Its path.
    pub path: VPath,
    /// The metadata in its row.
    pub meta: Meta,
    /// Its bytes.
    pub body: Bytes,
}

impl Ledger {
    /// Creates a ledger object; the database is not opened yet.
    pub fn new(database: &'static str, protection: CrashProtection) -> Ledger {
        Ledger {
            database,
            protection,
            connection: Connection::new(database, Durability::Strict, PATIENCE),
            resting: Cell::new(0),
            looked: Cell::new(false),
            full: Cell::new(false),
        }
    }

    /// The name of the lock that changes in a place share.
    pub fn lock(&self, place: &str) -> String {
        format!("{CHANGING}{}:{place}", self.database)
    }

    /// Records that changes of these files begin.
    pub async fn open(&self, place: &str, paths: &[&VPath]) -> Result<()> {
        let transaction = self.writing().await?;
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let bodies = transaction.store(BODIES)?;
        let mut paths = paths.to_vec();
        order::sort(&mut paths);
        let note = |sheet: &mut Sheet, path: &&VPath| {
            let row = sheet.get(path);
            if row.is_some_and(is_copied) {
                bodies.delete(&keys.of(path))?;
            }
            let open = match row.and_then(opened) {
                Some((0, _)) | None => open_row(1, false),
                Some((count, _)) => open_row(count.saturating_add(1), true),
            };
            sheet.set(path, open);
            Ok(())
        };
        sheets.change(&paths, |path| path, note).await?;
        transaction.commit().await
    }

    /// Records that changes of these files are over, and copies what was written.
    pub async fn close(&self, place: &str, mut ended: Vec<Ended>) -> Result<()> {
        let transaction = self.writing().await?;
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let bodies = transaction.store(BODIES)?;
        let state = state_of(&transaction, place).await?;
        if matches!(state, State::Begun(_)) {
            // The listing in progress may be older than this change.
            set_state(&transaction, place, State::Nothing).await?;
        }
        order::sort_by(&mut ended, |a, b| a.path.cmp(&b.path));
        let note = |sheet: &mut Sheet, ended: &Ended| {
            let path = &ended.path;
            let (count, crowded) = match sheet.get(path).and_then(opened) {
                Some((count, crowded)) => (count.saturating_sub(1), crowded || count == 0),
                None => (0, true),
            };
            match (state, ended.outcome) {
                _ if count > 0 => sheet.set(path, open_row(count, crowded)),
                (State::Nothing | State::Begun(_), _) => sheet.remove(path),
                (State::Whole, Outcome::File { size, modified }) if !crowded => {
                    let body = ended.body.as_ref().filter(|body| body.len() as u64 == size);
                    if let Some(body) = body {
                        bodies.put(&keys.of(path), &host::array_of(body))?;
                    }
                    sheet.set(path, settled(size, modified, body.is_some()));
                }
                (State::Whole, Outcome::Gone) if !crowded => sheet.remove(path),
                (State::Whole, _) => sheet.set(path, open_row(0, false)),
            }
            Ok(())
        };
        sheets.change(&ended, |ended| &ended.path, note).await?;
        transaction.commit().await
    }

    /// Closes rows that have been open since before `landed`, according to the files; returns
    /// whether any row was closed. No change may be in progress.
    pub async fn mend(&self, place: &str, seen: Vec<Ended>, landed: Time) -> Result<bool> {
        let transaction = self.writing().await?;
        if state_of(&transaction, place).await? != State::Whole {
            return Ok(false);
        }
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut any = false;
        let note = |sheet: &mut Sheet, seen: &Ended| {
            let is_left = |row: &Meta| opened(row).is_some() && row.modified < landed;
            if !sheet.get(&seen.path).is_some_and(is_left) {
                return Ok(());
            }
            match seen.outcome {
                Outcome::File { size, modified } => {
                    sheet.set(&seen.path, settled(size, modified, false));
                }
                Outcome::Gone => sheet.remove(&seen.path),
                Outcome::Unknown => return Ok(()),
            }
            any = true;
            Ok(())
        };
        sheets.change(&seen, |seen| &seen.path, note).await?;
        transaction.commit().await?;
        Ok(any)
    }

    /// Whether nothing was recorded of a place yet. Only the first call can return `true`, since the
    /// question is asked before every change.
    pub async fn is_new(&self, place: &str) -> Result<bool> {
        if self.looked.replace(true) {
            return Ok(false);
        }
        let transaction = self.begin_transaction(Mode::Read, &[SHEETS]).await?;
        Ok(state_of(&transaction, place).await? == State::Nothing)
    }

    async fn writing(&self) -> Result<Transaction> {
        self.begin_transaction(Mode::Write, &[SHEETS, BODIES]).await
    }

    async fn begin_transaction(&self, mode: Mode, stores: &[&str]) -> Result<Transaction> {
        if self.protection == CrashProtection::On {
            torn_log::renew().await;
        }
        self.connection.begin(mode, stores).await
    }

    /// The rows in scope, in order; `None` if the ledger is not complete.
    pub async fn rows(&self, place: &str, scope: &Scope) -> Result<Option<Vec<(VPath, Row)>>> {
        let transaction = self.begin_transaction(Mode::Read, &[SHEETS]).await?;
        if state_of(&transaction, place).await? != State::Whole {
            return Ok(None);
        }
        let keys = Keys::new(place);
        let mut rows = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            rows.push((path.clone(), Row::read(meta)));
            Flow::Continue(())
        };
        let sheets = Sheets::of(&transaction, &keys)?;
        let _ = sheets.walk(scope, &mut collect).await?;
        Ok(Some(rows))
    }

    /// The first sheets of a directory, for callers that do not know its names yet; `None` if the
    /// ledger is not complete.
    pub async fn beginning_of(&self, place: &str, dir: &VPath) -> Result<Option<Vec<Sheet>>> {
        let transaction = self.begin_transaction(Mode::Read, &[SHEETS]).await?;
        let keys = Keys::new(place);
        let prefix = dir.dir_prefix();
        let page = Sheets::of(&transaction, &keys)?.page(&prefix, &prefix, AHEAD)?;
        if state_of(&transaction, place).await? != State::Whole {
            return Ok(None);
        }
        Ok(Some(page.await?.sheets))
    }

    /// The settled metadata of these files, which must be sorted; `None` if the ledger is not
    /// complete.
    pub async fn settled(
        &self,
        place: &str,
        paths: impl Iterator<Item = &VPath>,
    ) -> Result<Option<Vec<Option<Meta>>>> {
        let transaction = self.begin_transaction(Mode::Read, &[SHEETS]).await?;
        if state_of(&transaction, place).await? != State::Whole {
            return Ok(None);
        }
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut lookup = Lookup::new(&sheets);
        let mut metas = Vec::new();
        for path in paths {
            let row = lookup.meta(path).await?;
            metas.push(row.and_then(|row| Row::read(&row).settled()));
        }
        Ok(Some(metas))
    }

    /// The copies of these files, which must be sorted; `None` for files without a copy.
    pub async fn copies(&self, place: &str, paths: &[&VPath]) -> Result<Vec<Option<Bytes>>> {
        let (Some(first), Some(last)) = (paths.first(), paths.last()) else {
            return Ok(Vec::new());
        };
        let transaction = self.begin_transaction(Mode::Read, &[BODIES]).await?;
        let keys = Keys::new(place);
        let bodies = transaction.store(BODIES)?;
        let span = keys.span(first, last)?;
        let (names, values) = (
            bodies.get_all_keys(&span, u32::MAX)?,
            bodies.get_all(&span, u32::MAX)?,
        );
        let (names, values): (Array, Array) = (
            names.await?.unchecked_into(),
            values.await?.unchecked_into(),
        );
        let mut there = names
            .iter()
            .map(|name| name.as_string().unwrap_or_default())
            .zip(values.iter())
            .peekable();
        let mut copies = Vec::with_capacity(paths.len());
        for path in paths {
            let name = keys.text(path.as_str());
            while there.next_if(|(other, _)| *other < name).is_some() {}
            let copy = there.next_if(|(other, _)| *other == name);
            copies.push(copy.map(|(_, value)| body_of(&value)).transpose()?);
        }
        Ok(copies)
    }

    /// Copies files that a search has read, if their rows are still the same.
    pub async fn copy(&self, place: &str, mut found: Vec<Found>) -> Result<()> {
        if found.is_empty() || self.full.get() {
            return Ok(());
        }
        let transaction = self.writing().await?;
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let bodies = transaction.store(BODIES)?;
        order::sort_by(&mut found, |a, b| a.path.cmp(&b.path));
        let note = |sheet: &mut Sheet, Found { path, meta, body }: &Found| {
            let now = settled(meta.size, meta.modified, false);
            if sheet.get(path) == Some(&now) {
                bodies.put(&keys.of(path), &host::array_of(body))?;
                sheet.set(path, settled(meta.size, meta.modified, true));
            }
            Ok(())
        };
        sheets.change(&found, |found| &found.path, note).await?;
        let copied = transaction.commit().await;
        self.full.set(copied.is_err());
        copied
    }

    /// Records that all files are going to be listed; `None` if an attempt failed recently.
    pub async fn begin(&self, place: &str) -> Result<Option<u64>> {
        if self.resting.get() > 0 {
            self.resting.set(self.resting.get() - 1);
            return Ok(None);
        }
        let number = random::bits();
        let transaction = self.begin_transaction(Mode::Write, &[SHEETS]).await?;
        set_state(&transaction, place, State::Begun(number)).await?;
        transaction.commit().await?;
        Ok(Some(number))
    }

    /// Stores what the listing with that number found, sorted by path; `false` if it may be out of
    /// date.
    pub async fn complete(&self, place: &str, number: u64, files: Vec<Entry>) -> Result<bool> {
        let transaction = self.writing().await?;
        if state_of(&transaction, place).await? != State::Begun(number) {
            self.resting.set(REST);
            return Ok(false);
        }
        let keys = Keys::new(place);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut rows: Sorted<VPath, Box<Meta>> = files
            .into_iter()
            .map(|Entry { path, meta }| (path, Box::new(settled(meta.size, meta.modified, false))))
            .collect();
        let mut keep_open = |path: &VPath, meta: &Meta| {
            if opened(meta).is_some() {
                rows.insert(path.clone(), Box::new(meta.clone()));
            }
            Flow::Continue(())
        };
        let everything = Scope::all(&VPath::root());
        let _ = sheets.walk(&everything, &mut keep_open).await?;
        sheets.clear()?;
        let copies = keys.from("/")?;
        transaction.store(BODIES)?.delete(&copies.into())?;
        let rows = rows
            .into_iter()
            .map(|(path, meta)| Entry { path, meta: *meta });
        sheets.keep(&Sheet::last(rows.collect()))?;
        set_state(&transaction, place, State::Whole).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

fn state_keys(place: &str) -> Keys {
    Keys::new(&format!("{place}{STATE}"))
}

async fn state_of(transaction: &Transaction, place: &str) -> Result<State> {
    let keys = state_keys(place);
    let path = VPath::parse("/state")?;
    let sheet = Sheets::of(transaction, &keys)?.covering(&path)?.await?;
    Ok(match sheet.get(&path).map(|row| &row.version) {
        None => State::Nothing,
        Some(Some(Version::Number(number))) => State::Begun(*number),
        Some(_) => State::Whole,
    })
}

async fn set_state(transaction: &Transaction, place: &str, state: State) -> Result<()> {
    let keys = state_keys(place);
    let path = VPath::parse("/state")?;
    let version = match state {
        State::Nothing => None,
        State::Begun(number) => Some(Version::Number(number)),
        State::Whole => None,
    };
    let mut sheet = Sheet::default();
    if state != State::Nothing {
        let row = settled(0, Time::from_micros(0), false);
        sheet.set(&path, Meta { version, ..row });
    }
    Sheets::of(transaction, &keys)?.keep(&sheet)
}
