//! IndexedDB: files that persist when the tab is closed. A write is one transaction that fails if
//! the key exists. An edit reads, replaces and puts inside one transaction, so tabs never overwrite
//! each other's changes and never have to retry. [`database`](crate::storage::browser::database)
//! has the records and transactions, [`search`] describes how grep reads, and [`deletion`] how
//! files are deleted even when the quota is full.

mod deletion;
mod search;
mod together;

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::dom::Herald;
use crate::env::{host, random};
use crate::protocol::{Capability, Transfer};
use crate::storage::browser::database::connection::{Connection, Mode};
use crate::storage::browser::database::schema::{BODIES, Keys, SHEETS};
use crate::storage::browser::database::sheets::{Lookup, PAGE, Page, Sheets};
use crate::storage::browser::database::torn_log;
use crate::storage::browser::database::transaction::{Store, Transaction, body_of};
use crate::storage::browser::sheet::Sheet;
use crate::storage::browser::{CrashProtection, Durability};
use crate::storage::{
    Batch, Change, Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, PutMode,
    Removed, Scan, Search, Storage, Trees, Update, Version, Within,
};

/// Maximum number of parallel requests for single files.
const SINGLES: usize = 64;
/// Number of sheets per request when one level is listed; deeper paths are skipped.
const LEVEL: u32 = 4;
/// Limits of one transaction of an upload.
const UPLOAD_FILES: usize = 500;
const UPLOAD_BYTES: usize = 16 * 1024 * 1024;
/// The character after `/` in code point order.
const AFTER_SLASH: char = '0';

/// Where and how files are stored.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the database.
    pub database: String,
    /// The namespace of these files; other namespaces of the same database do not see them.
    pub namespace: String,
    /// Whether a commit waits for the disk.
    pub durability: Durability,
    /// The timeout for opening the database.
    pub patience: Duration,
    /// Whether the browser's log is renewed first (see [`torn_log`](crate::storage::browser::database::torn_log)).
    pub protection: CrashProtection,
}

/// Files in IndexedDB.
pub struct IndexedDb {
    connection: Connection,
    protection: CrashProtection,
    keys: Keys,
    herald: Herald,
}

impl IndexedDb {
    /// The files of one namespace. The database is opened on first use.
    pub fn new(options: &Options, herald: Herald) -> IndexedDb {
        IndexedDb {
            connection: Connection::new(&options.database, options.durability, options.patience),
            protection: options.protection,
            keys: Keys::new(&options.namespace),
            herald,
        }
    }

    async fn begin(&self, mode: Mode) -> Result<(Transaction, Sheets<'_>, Store)> {
        if self.protection == CrashProtection::On {
            torn_log::renew().await;
        }
        let stores = [SHEETS, BODIES];
        let transaction = self.connection.begin(mode, &stores).await?;
        let sheets = Sheets::with_bodies(&transaction, &self.keys)?;
        let bodies = transaction.store(BODIES)?;
        Ok((transaction, sheets, bodies))
    }

    async fn reading(&self) -> Result<(Transaction, Sheets<'_>, Store)> {
        self.begin(Mode::Read).await
    }

    async fn writing(&self) -> Result<(Transaction, Sheets<'_>, Store)> {
        self.begin(Mode::Write).await
    }

    /// Commits a change that stored something.
    async fn commit(&self, transaction: Transaction, sheets: &Sheets<'_>) -> Result<()> {
        sheets.mend().await?;
        transaction.commit().await
    }

    async fn put_file(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        let (transaction, sheets, bodies) = self.writing().await?;
        let found = sheets.covering(path)?;
        let meta = described(&file);
        let body = host::array_of(&file.body);
        drop(file);
        let mut sheet = found.await?;
        match (&mode, sheet.get(path)) {
            (PutMode::Create, Some(_)) => return Err(Error::already_exists(path)),
            (PutMode::Update(version), now)
                if now.and_then(|now| now.version.as_ref()) != Some(version) =>
            {
                return Err(Error::conflict(path));
            }
            _ => {}
        }
        sheet.set(path, meta.clone());
        sheets.keep(&sheet)?;
        bodies.put(&self.keys.of(path), &body)?;
        drop(body);
        self.commit(transaction, &sheets).await?;
        self.herald.changed([path]);
        Ok(meta)
    }

    async fn update_file(&self, path: &VPath, change: &mut Change<'_>) -> Result<Option<Meta>> {
        let (transaction, sheets, bodies) = self.writing().await?;
        let key = self.keys.of(path);
        let (found, body) = (sheets.covering(path)?, bodies.get(&key)?);
        let mut sheet = found.await?;
        let Some(meta) = sheet.get(path).cloned() else {
            return Ok(None);
        };
        let body = body_of(&body.await?)?;
        let new = change(&mut File { meta, body })?;
        let meta = described(&new);
        sheet.set(path, meta.clone());
        sheets.keep(&sheet)?;
        bodies.put(&key, &host::array_of(&new.body).into())?;
        drop(new);
        self.commit(transaction, &sheets).await?;
        self.herald.changed([path]);
        Ok(Some(meta))
    }

    /// Moves or copies a file in one transaction.
    async fn transfer_file(&self, from: &VPath, to: &VPath, asked: &Transfer) -> Result<()> {
        let (transaction, sheets, bodies) = self.writing().await?;
        let (source, target) = (self.keys.of(from), self.keys.of(to));
        let (found, there) = (sheets.covering(from)?, sheets.covering(to)?);
        let body = bodies.get(&source)?;
        let (mut sheet, there) = (found.await?, there.await?);
        let Some(meta) = sheet.get(from).cloned() else {
            return Err(Error::not_found(from));
        };
        if !asked.overwrite && there.get(to).is_some() {
            return Err(Error::already_exists(to));
        }
        let body = body.await?;
        if !asked.keeps {
            sheet.remove(from);
            sheets.keep(&sheet)?;
            bodies.delete(&source)?;
        }
        // Read again, since one sheet may have both paths.
        let mut sheet = sheets.covering(to)?.await?;
        let version = Some(Version::Number(random::bits()));
        sheet.set(to, Meta { version, ..meta });
        sheets.keep(&sheet)?;
        bodies.put(&target, &body)?;
        self.commit(transaction, &sheets).await?;
        self.herald.changed([from, to]);
        Ok(())
    }

    /// Stores several files in one transaction.
    async fn put_batch(&self, batch: &[(VPath, NewFile)]) -> Result<Vec<Meta>> {
        let metas: Vec<Meta> = batch.iter().map(|(_, file)| described(file)).collect();
        let files = batch.iter().zip(&metas);
        let rows = files.map(|((path, file), meta)| (path, Some((file, meta))));
        self.alter(rows.collect(), &[]).await?;
        Ok(metas)
    }

    async fn list_level(&self, dir: &VPath) -> Result<Listing> {
        let (_transaction, sheets, _) = self.reading().await?;
        let prefix = dir.dir_prefix();
        let mut listing = Listing::default();
        let mut from = prefix.clone();
        loop {
            let Page {
                sheets: page,
                is_last,
            } = sheets.page(&from, &prefix, LEVEL)?.await?;
            for sheet in &page {
                // Paths between two pages were skipped; a directory may appear in both pages.
                for row in sheet.rows_from(&from) {
                    let Some(below) = row.path.as_str().strip_prefix(&prefix) else {
                        break;
                    };
                    match below.split_once('/') {
                        None => listing.files.push(row.clone()),
                        Some((name, _)) => {
                            let shown = listing.dirs.last().map(VPath::name) == Some(name);
                            if !shown {
                                listing.dirs.push(dir.join(name)?);
                            }
                        }
                    }
                }
            }
            match page.last().and_then(|sheet| sheet.upper()) {
                Some(upper) if !is_last => from = behind(upper, &prefix),
                _ => return Ok(listing),
            }
        }
    }
}

/// The key text at which a listing of one level continues after a sheet. The rest of the directory
/// in which the sheet ends is not shown, so it is skipped.
fn behind(upper: &VPath, prefix: &str) -> String {
    let below = upper.as_str().get(prefix.len()..).unwrap_or_default();
    match below.split_once('/') {
        Some((name, _)) => format!("{prefix}{name}{AFTER_SLASH}"),
        None => format!("{upper}\0"),
    }
}

/// The metadata of a file that is about to be stored.
fn described(file: &NewFile) -> Meta {
    file.meta(Some(Version::Number(random::bits())))
}

/// How many of the next files fit into one transaction of an upload.
fn next_batch(files: &[(VPath, NewFile)]) -> usize {
    let mut bytes = 0usize;
    let fits = |(_, file): &&(VPath, NewFile)| {
        bytes = bytes.saturating_add(file.body.len());
        bytes <= UPLOAD_BYTES
    };
    let count = files.iter().take(UPLOAD_FILES).take_while(fits).count();
    count.max(1)
}

impl Within for IndexedDb {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(self.transfer_file(from, to, asked))
    }
}

impl Storage for IndexedDb {
    fn capability(&self) -> Capability {
        let risk = match self.protection {
            CrashProtection::Off => {
                "If Chromium as a whole is killed while it writes, it can drop all databases of the origin at a later start; crashProtection prevents it"
            }
            CrashProtection::On => {
                "If Chromium as a whole is killed while it writes, and again at its next start before crashProtection has renewed its log, it can drop all databases of the origin"
            }
        };
        Capability {
            lists_versions: true,
            notes: vec![risk.into()],
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let (_transaction, sheets, _) = self.reading().await?;
            Ok(sheets.covering(path)?.await?.get(path).cloned())
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            let mut files = self.get_many(std::slice::from_ref(path)).await?;
            Ok(files.pop().flatten())
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.put_file(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(self.delete_file(path, version))
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            if depth == Depth::One {
                return self.list_level(dir).await;
            }
            let prefix = dir.dir_prefix();
            let from = from.map_or_else(|| prefix.clone(), |cursor| format!("{}\0", cursor.0));
            let (_transaction, sheets, _) = self.reading().await?;
            let page = sheets.page(&from, &prefix, PAGE)?.await?;
            let mut files = Vec::new();
            for sheet in &page.sheets {
                let rows = sheet.rows_from(&from).iter();
                files.extend(
                    rows.take_while(|row| row.path.as_str().starts_with(&prefix))
                        .cloned(),
                );
            }
            let upper = page.sheets.last().and_then(Sheet::upper);
            let next = match upper {
                Some(upper) if !page.is_last => Some(Cursor(upper.as_str().into())),
                _ => None,
            };
            Ok(Listing {
                files,
                dirs: Vec::new(),
                next,
            })
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            together: Some(self),
            search: Some(self),
            batch: Some(self),
            update: Some(self),
            trees: Some(self),
            ..Extras::NONE
        }
    }
}

impl Search for IndexedDb {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let (_transaction, sheets, _) = self.reading().await?;
            sheets.walk(find.scope, visit).await.map(drop)
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.scan_bodies(scan, visit))
    }
}

impl Batch for IndexedDb {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let (_transaction, sheets, bodies) = self.reading().await?;
            let mut found = vec![None; paths.len()];
            let mut order: Vec<usize> = (0..paths.len()).collect();
            order::sort_by_key(&mut order, |at| paths.get(*at));
            let mut lookup = Lookup::new(&sheets);
            for batch in order.chunks(SINGLES) {
                let places = batch.iter().filter_map(|at| Some((*at, paths.get(*at)?)));
                let asked = places
                    .map(|(at, path)| Ok((at, path, bodies.get(&self.keys.of(path))?)))
                    .collect::<Result<Vec<_>>>()?;
                for (at, path, body) in asked {
                    let (meta, body) = (lookup.meta(path).await?, body.await?);
                    if let (Some(meta), Some(place)) = (meta, found.get_mut(at)) {
                        let body = body_of(&body)?;
                        *place = Some(File { meta, body });
                    }
                }
            }
            Ok(found)
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(files.len());
            let mut rest = files.as_slice();
            while !rest.is_empty() {
                let (batch, others) = rest.split_at(next_batch(rest));
                rest = others;
                match self.put_batch(batch).await {
                    Ok(metas) => answers.extend(metas.into_iter().map(Ok)),
                    Err(error) if batch.len() == 1 => answers.push(Err(error)),
                    // If the batch fails, store the files one by one, so that one failure does not
                    // affect the others.
                    Err(_) => {
                        for (path, file) in batch {
                            let mode = PutMode::Overwrite;
                            answers.push(self.put_file(path, file.clone(), mode).await);
                        }
                    }
                }
            }
            answers
        })
    }
}

impl Update for IndexedDb {
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        Box::pin(async move { self.update_file(path, change).await })
    }
}

impl Trees for IndexedDb {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            match self.delete_beneath(root).await {
                Ok(paths) => Removed {
                    paths,
                    ..Removed::default()
                },
                Err(error) => Removed::failed(error),
            }
        })
    }
}
