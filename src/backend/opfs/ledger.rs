//! What stands in a tree that only backends of ours write to: the size and the time of each
//! file, in [sheets](crate::backend::sheet) of a database, and beside them a copy of the bytes of
//! small files, so that a search asks the browser about no file. The files themselves are the
//! truth. A change is noted before it is begun and again when it is over, and between the two the
//! file is *open*: its copy is gone, and whoever asks about it looks at the file. So a tab that
//! dies leaves nothing wrong behind, only an open row, which a later search closes
//! ([`mend`](super::mend)).
//!
//! A ledger is begun by the first change of an empty tree, or by the first search: the tree is
//! listed, and what was found is kept unless some change ended meanwhile. Where two changes of
//! one file overlap, nobody knows which of them came last, and the row stays open until the next
//! change that is alone, or until it is closed like that of a dead tab.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use js_sys::Array;
use wasm_bindgen::JsCast;

use crate::backend::indexed_db::connection::{Connection, Durability, Mode};
use crate::backend::indexed_db::schema::{BODIES, Keys, SHEETS};
use crate::backend::indexed_db::sheets::{Lookup, Sheets};
use crate::backend::indexed_db::transaction::{Transaction, body_of};
use crate::backend::opfs::row::{Row, is_copied, open_row, opened, settled};
use crate::backend::sheet::Sheet;
use crate::env::{host, random};
use crate::error::Result;
use crate::order;
use crate::path::VPath;
use crate::storage::{Entry, Flow, Meta, Scope, Version};
use crate::time::Time;

/// The database of all ledgers of an origin.
const DATABASE: &str = "kitbag-opfs";
/// How long it may take to open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Follows a tree's name in the namespace that says how far its ledger is.
const STATE: char = '\u{1f}';
/// Sheets of a directory that are asked for before its names are known.
const AHEAD: u32 = 4;
/// Searches that do without, after a beginning that was disturbed.
const REST: u32 = 8;

/// What a look at a file told when a change of it was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is there.
    File {
        /// Bytes.
        size: u64,
        /// Last change.
        modified: Time,
    },
    /// It is not there.
    Gone,
    /// It could not be looked at.
    Unknown,
}

/// A change that is over.
#[derive(Clone)]
pub struct Ended {
    /// Of this file.
    pub path: VPath,
    /// What a look at it told.
    pub outcome: Outcome,
    /// What was written.
    pub body: Option<Bytes>,
}

/// How far a ledger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was listed.
    Nothing,
    /// Somebody is listing.
    Begun(u64),
    /// Every file has a row.
    Whole,
}

/// The ledger of one tree.
pub struct Ledger {
    connection: Connection,
    resting: Cell<u32>,
    /// Whether it was looked at before a change.
    looked: Cell<bool>,
    /// Whether a search found no room for copies.
    full: Cell<bool>,
}

/// A file without a copy that a search has read.
pub struct Found {
    /// Its path.
    pub path: VPath,
    /// What its row told.
    pub meta: Meta,
    /// Its bytes.
    pub body: Bytes,
}

impl Ledger {
    /// Nothing is opened yet.
    pub fn new() -> Ledger {
        Ledger {
            connection: Connection::new(DATABASE, Durability::Strict, PATIENCE),
            resting: Cell::new(0),
            looked: Cell::new(false),
            full: Cell::new(false),
        }
    }

    /// Notes that changes of these files begin.
    pub async fn open(&self, tree: &str, paths: &[&VPath]) -> Result<()> {
        let transaction = self.writing().await?;
        let keys = Keys::new(tree);
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

    /// Notes that changes of these files are over, and copies what was written.
    pub async fn close(&self, tree: &str, mut ended: Vec<Ended>) -> Result<()> {
        let transaction = self.writing().await?;
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let bodies = transaction.store(BODIES)?;
        let state = state_of(&transaction, tree).await?;
        if matches!(state, State::Begun(_)) {
            // What is being listed may be older than this.
            set_state(&transaction, tree, State::Nothing).await?;
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

    /// Closes rows that are open since before that time, as looks at their files told; whether
    /// any was closed. No change may be under way.
    pub async fn mend(&self, tree: &str, seen: Vec<Ended>, landed: Time) -> Result<bool> {
        let transaction = self.writing().await?;
        if state_of(&transaction, tree).await? != State::Whole {
            return Ok(false);
        }
        let keys = Keys::new(tree);
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

    /// Whether nothing was noted of a tree yet. It is told once, since it is asked before changes.
    pub async fn is_new(&self, tree: &str) -> Result<bool> {
        if self.looked.replace(true) {
            return Ok(false);
        }
        let transaction = self.connection.begin(Mode::Read, &[SHEETS]).await?;
        Ok(state_of(&transaction, tree).await? == State::Nothing)
    }

    async fn writing(&self) -> Result<Transaction> {
        self.connection.begin(Mode::Write, &[SHEETS, BODIES]).await
    }

    /// The rows in scope, in order; none where the ledger is not whole.
    pub async fn rows(&self, tree: &str, scope: &Scope) -> Result<Option<Vec<(VPath, Row)>>> {
        let transaction = self.connection.begin(Mode::Read, &[SHEETS]).await?;
        if state_of(&transaction, tree).await? != State::Whole {
            return Ok(None);
        }
        let keys = Keys::new(tree);
        let mut rows = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            rows.push((path.clone(), Row::read(meta)));
            Flow::Continue(())
        };
        let sheets = Sheets::of(&transaction, &keys)?;
        let _ = sheets.walk(scope, &mut collect).await?;
        Ok(Some(rows))
    }

    /// The first sheets of what stands in a directory, for whoever does not know its names yet;
    /// none where the ledger is not whole.
    pub async fn beginning_of(&self, tree: &str, dir: &VPath) -> Result<Option<Vec<Sheet>>> {
        let transaction = self.connection.begin(Mode::Read, &[SHEETS]).await?;
        let keys = Keys::new(tree);
        let prefix = dir.dir_prefix();
        let page = Sheets::of(&transaction, &keys)?.page(&prefix, &prefix, AHEAD)?;
        if state_of(&transaction, tree).await? != State::Whole {
            return Ok(None);
        }
        Ok(Some(page.await?.sheets))
    }

    /// What is known of these files, which come in order; none where the ledger is not whole.
    pub async fn settled(
        &self,
        tree: &str,
        paths: impl Iterator<Item = &VPath>,
    ) -> Result<Option<Vec<Option<Meta>>>> {
        let transaction = self.connection.begin(Mode::Read, &[SHEETS]).await?;
        if state_of(&transaction, tree).await? != State::Whole {
            return Ok(None);
        }
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut lookup = Lookup::new(&sheets);
        let mut metas = Vec::new();
        for path in paths {
            let row = lookup.meta(path).await?;
            metas.push(row.and_then(|row| Row::read(&row).settled()));
        }
        Ok(Some(metas))
    }

    /// The copies of these files, which come in order; none of those that have none any more.
    pub async fn copies(&self, tree: &str, paths: &[&VPath]) -> Result<Vec<Option<Bytes>>> {
        let (Some(first), Some(last)) = (paths.first(), paths.last()) else {
            return Ok(Vec::new());
        };
        let transaction = self.connection.begin(Mode::Read, &[BODIES]).await?;
        let keys = Keys::new(tree);
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

    /// Copies what a search has read of files whose rows are still what they were before.
    pub async fn copy(&self, tree: &str, mut found: Vec<Found>) -> Result<()> {
        if found.is_empty() || self.full.get() {
            return Ok(());
        }
        let transaction = self.writing().await?;
        let keys = Keys::new(tree);
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

    /// Notes that the tree is going to be listed; none where that was tried in vain just now.
    pub async fn begin(&self, tree: &str) -> Result<Option<u64>> {
        if self.resting.get() > 0 {
            self.resting.set(self.resting.get() - 1);
            return Ok(None);
        }
        let half = || (random::unit() * 4_294_967_296.0) as u64;
        let number = half() << 32 | half();
        let transaction = self.connection.begin(Mode::Write, &[SHEETS]).await?;
        set_state(&transaction, tree, State::Begun(number)).await?;
        transaction.commit().await?;
        Ok(Some(number))
    }

    /// Keeps what was found since that beginning, in order; `false` where it may be out of date.
    pub async fn complete(&self, tree: &str, number: u64, files: Vec<Entry>) -> Result<bool> {
        let transaction = self.writing().await?;
        if state_of(&transaction, tree).await? != State::Begun(number) {
            self.resting.set(REST);
            return Ok(false);
        }
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut rows: BTreeMap<VPath, Meta> = files
            .into_iter()
            .map(|Entry { path, meta }| (path, settled(meta.size, meta.modified, false)))
            .collect();
        let mut keep_open = |path: &VPath, meta: &Meta| {
            if opened(meta).is_some() {
                rows.insert(path.clone(), meta.clone());
            }
            Flow::Continue(())
        };
        let everything = Scope::all(&VPath::root());
        let _ = sheets.walk(&everything, &mut keep_open).await?;
        sheets.clear()?;
        let copies = keys.from("/")?;
        transaction.store(BODIES)?.delete(&copies.into())?;
        let rows = rows.into_iter().map(|(path, meta)| Entry { path, meta });
        sheets.keep(&Sheet::last(rows.collect()))?;
        set_state(&transaction, tree, State::Whole).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

fn state_keys(tree: &str) -> Keys {
    Keys::new(&format!("{tree}{STATE}"))
}

async fn state_of(transaction: &Transaction, tree: &str) -> Result<State> {
    let keys = state_keys(tree);
    let path = VPath::parse("/state")?;
    let sheet = Sheets::of(transaction, &keys)?.covering(&path)?.await?;
    Ok(match sheet.get(&path).map(|row| &row.version) {
        None => State::Nothing,
        Some(Some(Version::Number(number))) => State::Begun(*number),
        Some(_) => State::Whole,
    })
}

async fn set_state(transaction: &Transaction, tree: &str, state: State) -> Result<()> {
    let keys = state_keys(tree);
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
