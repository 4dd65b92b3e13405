//! Files in a table of a SQL database that the host passes in: rows of namespace, path, type,
//! version, times and bytes. The database itself resolves conflicts: a create is an insert that
//! does nothing if the row exists, an edit is an update that requires the version it has read.
//!
//! [`statements`] builds the SQL without sending it, [`dialect`] knows the differences between
//! databases, and [`rows`] converts rows to files; this module uses them, and so do `reads`,
//! `moves` and `together`. `host` calls the host's `query` and handles the various ways in which drivers return bytes
//! and integers.

pub mod dialect;
#[cfg(host = "javascript")]
pub mod host;
mod index;
mod moves;
mod outline;
mod reads;
mod rows;
pub mod statement;
pub mod statements;
mod together;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::lock::Mutex;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::env::random;
use crate::protocol::{Capability, Reach};
use crate::storage::sql::index::terms::{Follows, Found};
use crate::storage::sql::rows::{
    BATCH_BYTES, BATCH_ROWS, CHANGED, FILE, META, batches, entry, number, stored, text,
};
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::{Keys, Place, ROW_VALUES};
use crate::storage::{
    Batch, Cursor, Depth, Entry, Extras, File, Find, Flow, Listing, Meta, NewFile, PutMode,
    Removed, Scan, Search, Storage, Trees, Version,
};

pub use rows::{Column, Rows};

/// Number of rows in one page of a walk.
const PAGE: usize = 5_000;

/// One column of texts.
const PATHS: [Column; 1] = [Column::Text("path")];

/// The names of a table's columns; none if the table does not exist.
struct Columns(Vec<String>);

impl Columns {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|column| column == name)
    }

    fn exists(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A database that executes one statement at a time.
pub trait Database {
    /// Executes a statement and returns its rows.
    fn query<'a>(&'a self, statement: Statement, columns: &'a [Column]) -> Pending<'a, Rows>;

    /// Whether an error is the database's own answer, so that the statement was not executed. If
    /// the connection broke, for example, it may have been.
    fn refused(&self, error: &Error) -> bool;

    /// Whether it is that of a statement which was not executed because another one was faster: of
    /// PostgreSQL, a row that exists already, a deadlock, a serialisation failure.
    fn lost_race(&self, _error: &Error) -> bool {
        false
    }
}

/// A table used as a storage.
pub struct Sql<D> {
    database: D,
    place: Place,
    options: SqlOptions,
    /// Whether the table was created; locked while it is being created.
    migrated: Mutex<bool>,
    /// The search index that was found.
    found: Cell<Found>,
    /// Files that were written since some were taken into it.
    written: Cell<Option<usize>>,
}

/// Options for using a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlOptions {
    /// Whether to create the table before the first statement.
    pub migrate: bool,
    /// Whether searches use an index in the database, and `migrate` makes it.
    pub search_index: bool,
    /// The maximum size of a file in a row, if there is a limit.
    pub max_file_bytes: Option<u64>,
}

impl<D: Database> Sql<D> {
    /// Files of `place` in `database`.
    pub fn new(database: D, place: Place, options: SqlOptions) -> Sql<D> {
        Sql {
            database,
            place,
            options,
            migrated: Mutex::new(false),
            found: Cell::new(Found::Unknown),
            written: Cell::new(None),
        }
    }

    /// Creates the table before the first statement, if that is wanted.
    async fn prepare(&self) -> Result<()> {
        if self.options.migrate {
            let mut migrated = self.migrated.lock().await;
            if !*migrated {
                self.migrate().await?;
                *migrated = true;
            }
        }
        Ok(())
    }

    async fn ask(&self, statement: Statement, columns: &[Column]) -> Result<Rows> {
        self.prepare().await?;
        self.database.query(statement, columns).await
    }

    /// Creates the table, and adds missing columns to an older table. It is safe to repeat, and to
    /// run in parallel. A table that was made by somebody else is refused and not changed. With the
    /// option, the search index is made as well.
    pub async fn migrate(&self) -> Result<()> {
        self.make_table().await?;
        match self.options.search_index {
            true => self.make_index().await,
            false => Ok(()),
        }
    }

    async fn make_table(&self) -> Result<()> {
        let mut columns = self.own_columns().await?;
        let mut made = Ok(());
        if !columns.exists() {
            let create = self.place.create_table();
            made = self.database.query(create, &[]).await.map(drop);
            // Two parallel creations can make each other fail; it is enough that the table exists.
            columns = self.own_columns().await?;
        }
        if !columns.exists() {
            return made;
        }
        for (column, definition) in self.place.added_columns() {
            if columns.has(column) {
                continue;
            }
            let added = self.place.add_column(column, &definition);
            if let Err(error) = self.database.query(added, &[]).await {
                // Another call may have added it.
                columns = self.columns_of(&self.place).await?;
                if !columns.has(column) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The columns of a table, by one question, so that no other call can change the answer between
    /// two of them.
    async fn columns_of(&self, place: &Place) -> Result<Columns> {
        let rows = self.database.query(place.columns(), &PATHS).await?;
        let names = rows.iter().filter_map(|row| text(row, 0));
        Ok(Columns(names.collect()))
    }

    /// Maximum number of paths in one statement, in addition to the namespace.
    fn most_paths(&self) -> usize {
        BATCH_ROWS.min(self.place.dialect.most_parameters().saturating_sub(1))
    }

    async fn store(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        let (statement, refusal): (_, fn(&VPath) -> Error) = match mode {
            PutMode::Create => (
                self.place.create(path, &file, fresh_version()),
                Error::already_exists,
            ),
            PutMode::Update(Version::Number(version)) => {
                (self.place.update(path, &file, version), Error::conflict)
            }
            PutMode::Update(Version::Tag(_)) => return Err(Error::conflict(path)),
            PutMode::Overwrite => {
                let files = [(path.clone(), file.clone())];
                (self.place.overwrite(&files, fresh_version), |_| {
                    untold("The database stored a file and told no row of it")
                })
            }
        };
        let rows = self.ask(statement, &CHANGED).await?;
        self.wrote(rows.len(), Follows::Nothing).await;
        match rows.first() {
            Some(row) => Ok(stored(&file, number(row, 1))),
            None => Err(refusal(path)),
        }
    }

    /// Stores all files with one statement. If the database refuses it, stores them one by one, so
    /// that one invalid file does not affect the others. If the answer is lost, nothing is
    /// repeated: others may have changed since what the statement stored.
    async fn store_batch(
        &self,
        batch: Vec<(VPath, NewFile)>,
        follows: Follows,
    ) -> Vec<Result<Meta>> {
        if batch.len() > 1 {
            let statement = self.place.overwrite(&batch, fresh_version);
            match self.ask(statement, &CHANGED).await {
                Ok(rows) => {
                    self.wrote(rows.len(), follows).await;
                    return told(&batch, &rows);
                }
                Err(error) if self.database.refused(&error) => {}
                Err(error) => return batch.iter().map(|_| Err(error.clone())).collect(),
            }
        }
        let mut answers = Vec::with_capacity(batch.len());
        for (path, file) in batch {
            answers.push(self.store(&path, file, PutMode::Overwrite).await);
        }
        answers
    }
}

/// One answer for each file of a batch.
fn told(batch: &[(VPath, NewFile)], rows: &Rows) -> Vec<Result<Meta>> {
    let versions: Sorted<String, Option<i64>> = rows
        .iter()
        .filter_map(|row| Some((text(row, 0)?, number(row, 1))))
        .collect();
    let answer = |(path, file): &(VPath, NewFile)| match versions.get(path.as_str()) {
        Some(version) => Ok(stored(file, *version)),
        None => Err(untold(
            "The database stored a batch and told no row of a file in it",
        )),
    };
    batch.iter().map(answer).collect()
}

/// A random first version of a new file; later versions count up from it. So it is very unlikely
/// that a file that was deleted and created again gets the version of an old edit.
fn fresh_version() -> u64 {
    // JavaScript drivers know numbers up to 2^53; this leaves as many again to count up.
    (random::bits() >> 12).max(1)
}

impl<D: Database> Storage for Sql<D> {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            keeps_format: false,
            lists_versions: true,
            indexed: self.options.search_index && self.found.get() != Found::Missing,
            notes: self.notes(),
            max_file_bytes: self.options.max_file_bytes,
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let mut found = self.metas(self.place.stat(path, None)).await?;
            Ok(found.pop().map(|entry| entry.meta))
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            let statement = self.place.get(path);
            let mut rows = self.ask(statement, &FILE).await?;
            Ok(rows.pop().and_then(entry).map(|(entry, body)| File {
                meta: entry.meta,
                body,
            }))
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.store(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            let version = match version {
                None => None,
                _ if has(Bug::DeleteRace) => None,
                Some(Version::Number(version)) => Some(version),
                Some(Version::Tag(_)) => return Err(Error::conflict(path)),
            };
            let statement = self.place.delete(path, version);
            let gone = !self.ask(statement, &CHANGED).await?.is_empty();
            if !gone && version.is_some() && self.stat(path).await?.is_some() {
                return Err(Error::conflict(path));
            }
            Ok(gone)
        })
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            let mut listing = Listing::default();
            if depth == Depth::All {
                let whole = Keys::of_prefix(&dir.dir_prefix());
                let keys = match from {
                    Some(cursor) => whole.behind(&cursor.0),
                    None => whole,
                };
                let (files, next) = self.page(&keys, None, &mut None).await?;
                let last = files
                    .last()
                    .map(|last| Cursor(Rc::from(last.path.as_str())));
                listing.next = last.filter(|_| next.is_some());
                listing.files = files;
                return Ok(listing);
            }
            let rows = self.ask(self.place.level(dir), &META).await?;
            let prefix = dir.dir_prefix();
            for row in rows {
                let Some(key) = text(&row, 0) else { continue };
                let rest = key.strip_prefix(&prefix).unwrap_or_default();
                match rest.split_once('/') {
                    Some((name, _)) if !name.is_empty() => {
                        let path = VPath::from_stored(&format!("{prefix}{name}"));
                        listing.dirs.extend(path);
                    }
                    Some(_) => {}
                    None => listing.files.extend(entry(row).map(|(entry, _)| entry)),
                }
            }
            Ok(listing)
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            together: Some(self),
            search: Some(self),
            batch: Some(self),
            trees: Some(self),
            pause: Some(jitter),
            ..Extras::NONE
        }
    }
}

impl<D: Database> Search for Sql<D> {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.pages(find.scope, None, None, async |entries| {
            for entry in entries {
                if visit(&entry.path, &entry.meta).is_break() {
                    return Ok(Flow::Break(()));
                }
            }
            Ok(Flow::Continue(()))
        }))
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let most = self.most_paths();
            let show = async |entries: Vec<Entry>| {
                let mut wanted = entries
                    .iter()
                    .filter(|entry| (scan.want)(&entry.path, &entry.meta))
                    .peekable();
                while wanted.peek().is_some() {
                    let mut batch: Vec<&VPath> = Vec::new();
                    let mut bytes = 0u64;
                    while let Some(entry) = wanted.next_if(|entry| {
                        batch.is_empty()
                            || (batch.len() < most
                                && bytes.saturating_add(entry.meta.size) <= BATCH_BYTES)
                    }) {
                        bytes = bytes.saturating_add(entry.meta.size);
                        batch.push(&entry.path);
                    }
                    let found = self.bodies(&batch).await?;
                    for path in batch {
                        if let Some(file) = found.get(path)
                            && visit(path, file).is_break()
                        {
                            return Ok(Flow::Break(()));
                        }
                    }
                }
                Ok(Flow::Continue(()))
            };
            let hints = &scan.hints;
            let narrow = self.narrow(hints.query, hints.literal).await;
            self.pages(scan.scope, scan.hints.literal, narrow, show)
                .await
        })
    }
}

impl<D: Database> Batch for Sql<D> {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(paths.len());
            for batch in paths.chunks(self.most_paths()) {
                let named: Vec<&VPath> = batch.iter().collect();
                let found = self.bodies(&named).await?;
                answers.extend(batch.iter().map(|path| found.get(path).cloned()));
            }
            Ok(answers)
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let rows = self.place.dialect.most_parameters() / ROW_VALUES;
            let mut answers = Vec::with_capacity(files.len());
            let mut batches = batches(files, rows.min(BATCH_ROWS)).into_iter();
            while let Some(batch) = batches.next() {
                let follows = match batches.len() {
                    0 => Follows::Nothing,
                    _ => Follows::More,
                };
                answers.extend(self.store_batch(batch, follows).await);
            }
            answers
        })
    }
}

impl<D: Database> Trees for Sql<D> {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let statement = self.place.delete_tree(root);
            match self.ask(statement, &CHANGED).await {
                Ok(rows) => {
                    let gone = rows.iter().filter_map(|row| text(row, 0));
                    let mut paths: Vec<VPath> =
                        gone.filter_map(|key| VPath::from_stored(&key)).collect();
                    order::sort(&mut paths);
                    Removed {
                        paths,
                        ..Removed::default()
                    }
                }
                Err(error) => Removed::failed(error),
            }
        })
    }
}

/// How long to wait before attempt number `attempt` of a change that met a conflict: a random time
/// whose maximum grows with each attempt.
pub fn jitter(attempt: u32) -> Duration {
    random::wait(2.0 * f64::from(attempt.min(16)) + 2.0)
}

/// A driver or a proxy of the database that keeps rows back.
fn untold(what: &'static str) -> Error {
    Error::new(Kind::Unavailable, what)
}

#[cfg(test)]
mod tests;
