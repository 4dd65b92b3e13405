//! What stands in a tree that only backends of ours write to: the size and the time of each
//! file, in [sheets](crate::backend::sheet) of a database, so that a search by name asks the
//! browser about no file. The files themselves are the truth. A change is noted before it is
//! begun and again when it is over, and between the two the file is *open*: whoever asks about
//! it looks at the file. So a tab that dies leaves nothing wrong behind, only an open row.
//!
//! A ledger is begun by the first search: the tree is listed, and what was found is kept unless
//! some change ended meanwhile. Where two changes of one file overlap, nobody knows which of
//! them came last, and the row stays open until the next change that is alone.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::backend::indexed_db::connection::{Connection, Durability, Mode};
use crate::backend::indexed_db::schema::{Keys, SHEETS};
use crate::backend::indexed_db::sheets::{Lookup, Sheets};
use crate::backend::indexed_db::transaction::Transaction;
use crate::backend::sheet::Sheet;
use crate::env::random;
use crate::error::Result;
use crate::file::{Format, Texture};
use crate::path::VPath;
use crate::storage::{Entry, Flow, Meta, Scope, Version};
use crate::time::Time;

/// The database of all ledgers of an origin.
const DATABASE: &str = "kitbag-opfs";
/// How long it may take to open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Follows a tree's name in the namespace that says how far its ledger is.
const STATE: char = '\u{1f}';
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

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// All that is to be known.
    Settled(Meta),
    /// Nothing; it may not even be there.
    Open,
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
}

impl Ledger {
    /// Nothing is opened yet.
    pub fn new() -> Ledger {
        Ledger {
            connection: Connection::new(DATABASE, Durability::Strict, PATIENCE),
            resting: Cell::new(0),
        }
    }

    /// Notes that changes of these files begin.
    pub async fn open(&self, tree: &str, paths: &[&VPath]) -> Result<()> {
        let transaction = self.connection.begin(Mode::Write, &[SHEETS]).await?;
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut paths = paths.to_vec();
        paths.sort();
        let note = |sheet: &mut Sheet, path: &&VPath| {
            let open = match sheet.get(path).and_then(opened) {
                Some((0, _)) | None => open_row(1, false),
                Some((count, _)) => open_row(count.saturating_add(1), true),
            };
            sheet.set(path, open);
            Ok(())
        };
        sheets.change(&paths, |path| path, note).await?;
        transaction.commit().await
    }

    /// Notes that changes of these files are over.
    pub async fn close(&self, tree: &str, outcomes: &[(VPath, Outcome)]) -> Result<()> {
        let transaction = self.connection.begin(Mode::Write, &[SHEETS]).await?;
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let state = state_of(&transaction, tree).await?;
        if matches!(state, State::Begun(_)) {
            // What is being listed may be older than this.
            set_state(&transaction, tree, State::Nothing).await?;
        }
        let mut outcomes = outcomes.to_vec();
        outcomes.sort_by(|(a, _), (b, _)| a.cmp(b));
        let note = |sheet: &mut Sheet, (path, outcome): &(VPath, Outcome)| {
            let (count, crowded) = match sheet.get(path).and_then(opened) {
                Some((count, crowded)) => (count.saturating_sub(1), crowded || count == 0),
                None => (0, true),
            };
            match (state, outcome) {
                _ if count > 0 => sheet.set(path, open_row(count, crowded)),
                (State::Nothing | State::Begun(_), _) => sheet.remove(path),
                (State::Whole, Outcome::File { size, modified }) if !crowded => {
                    sheet.set(path, settled(*size, *modified));
                }
                (State::Whole, Outcome::Gone) if !crowded => sheet.remove(path),
                (State::Whole, _) => sheet.set(path, open_row(0, false)),
            }
            Ok(())
        };
        sheets.change(&outcomes, |(path, _)| path, note).await?;
        transaction.commit().await
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
            let row = match opened(meta) {
                Some(_) => Row::Open,
                None => Row::Settled(meta.clone()),
            };
            rows.push((path.clone(), row));
            Flow::Continue(())
        };
        let sheets = Sheets::of(&transaction, &keys)?;
        let _ = sheets.walk(scope, &mut collect).await?;
        Ok(Some(rows))
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
            metas.push(row.filter(|row| opened(row).is_none()));
        }
        Ok(Some(metas))
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
        let transaction = self.connection.begin(Mode::Write, &[SHEETS]).await?;
        if state_of(&transaction, tree).await? != State::Begun(number) {
            self.resting.set(REST);
            return Ok(false);
        }
        let keys = Keys::new(tree);
        let sheets = Sheets::of(&transaction, &keys)?;
        let mut rows: BTreeMap<VPath, Meta> = files
            .into_iter()
            .map(|Entry { path, meta }| (path, settled(meta.size, meta.modified)))
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
        let rows = rows.into_iter().map(|(path, meta)| Entry { path, meta });
        sheets.keep(&Sheet::last(rows.collect()))?;
        set_state(&transaction, tree, State::Whole).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

fn settled(size: u64, modified: Time) -> Meta {
    Meta {
        size,
        created: None,
        modified,
        mime: None,
        format: Format::V2,
        texture: None,
        version: None,
    }
}

/// A row under so many changes. A version is what tells it from a settled one.
fn open_row(changes: u64, crowded: bool) -> Meta {
    Meta {
        texture: crowded.then_some(Texture::Binary),
        version: Some(Version::Number(changes)),
        ..settled(0, Time::from_micros(0))
    }
}

/// How many changes a row is under, and whether they overlapped.
fn opened(row: &Meta) -> Option<(u64, bool)> {
    match row.version {
        Some(Version::Number(changes)) => Some((changes, row.texture.is_some())),
        _ => None,
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
        let row = settled(0, Time::from_micros(0));
        sheet.set(&path, Meta { version, ..row });
    }
    Sheets::of(transaction, &keys)?.keep(&sheet)
}
