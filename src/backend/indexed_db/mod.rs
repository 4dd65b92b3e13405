//! IndexedDB: files that stay when the tab closes. A write is one transaction that fails if the
//! key is taken; an edit reads, replaces and puts inside one transaction, so tabs never lose
//! each other's work and nothing is ever tried twice. How the database is laid out stands in
//! [`schema`], how long it is held in [`connection`], what keeps a transaction alive in
//! [`transaction`], how grep reads in [`search`].

pub mod connection;
pub mod schema;
mod search;
pub mod transaction;

use std::ops::Range;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::backend::indexed_db::connection::{Connection, Durability, Mode};
use crate::backend::indexed_db::schema::{After, BODIES, FILES, Keys};
use crate::backend::indexed_db::transaction::{Transaction, body_of, failed};
use crate::env::dom::Herald;
use crate::env::{host, random};
use crate::error::{Error, Result};
use crate::path::VPath;
use crate::protocol::Capability;
use crate::storage::{
    Change, Cursor, Depth, Entry, File, Flow, Listing, Meta, NewFile, Pending, PutMode, Removed,
    Scan, Scope, Storage, Version,
};

/// What to use where there is no IndexedDB.
const INSTEAD: &str = "Use StateBackend with snapshot(), or an S3Backend, where the browser gives no IndexedDB (private windows, blocked site data, some workers)";

/// Records of one page of a walk. One large request is quicker than several small ones.
const PAGE: u32 = 20_000;
/// Records asked for at a time when a single level is listed.
const LEVEL: u32 = 256;
/// What one transaction of an upload holds at most.
const UPLOAD_FILES: usize = 500;
const UPLOAD_BYTES: usize = 16 * 1024 * 1024;

/// Where files are kept, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database's name.
    pub database: String,
    /// Whose files these are; other namespaces of one database see none of them.
    pub namespace: String,
    /// Whether a commit waits for the disk.
    pub durability: Durability,
    /// How long an open may take.
    pub patience: Duration,
}

/// Files in IndexedDB.
pub struct IndexedDb {
    connection: Connection,
    keys: Keys,
    herald: Herald,
}

impl IndexedDb {
    /// Those of one namespace. The database is opened when it is first needed.
    pub fn new(options: &Options, herald: Herald) -> IndexedDb {
        IndexedDb {
            connection: Connection::new(&options.database, options.durability, options.patience),
            keys: Keys::new(&options.namespace),
            herald,
        }
    }

    async fn reading(&self, stores: &[&str]) -> Result<Transaction> {
        self.connection.begin(Mode::Read, stores).await
    }

    async fn writing(&self) -> Result<Transaction> {
        self.connection.begin(Mode::Write, &[FILES, BODIES]).await
    }

    async fn put_file(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        let transaction = self.writing().await?;
        let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
        let key = self.keys.of(path);
        let meta = described(&file);
        let record = schema::record(path, &meta);
        let body = host::array_of(&file.body).into();
        drop(file);
        match &mode {
            PutMode::Create => files.add(&key, &record)?,
            PutMode::Overwrite => files.put(&key, &record)?,
            PutMode::Update(version) => {
                let before = schema::meta_of(&files.get(&key)?.await?)?;
                if before.and_then(|meta| meta.version).as_ref() != Some(version) {
                    return Err(Error::conflict(path));
                }
                files.put(&key, &record)?;
            }
        }
        bodies.put(&key, &body)?;
        match transaction.finish().await {
            Ok(()) => {}
            Err(error) if mode == PutMode::Create && host::name_of(&error) == "ConstraintError" => {
                return Err(Error::already_exists(path));
            }
            Err(error) => return Err(failed(error)),
        }
        self.herald.changed([path]);
        Ok(meta)
    }

    async fn update_file(&self, path: &VPath, change: &mut Change<'_>) -> Result<Option<Meta>> {
        let transaction = self.writing().await?;
        let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
        let key = self.keys.of(path);
        let (record, body) = (files.get(&key)?, bodies.get(&key)?);
        let Some(meta) = schema::meta_of(&record.await?)? else {
            return Ok(None);
        };
        let body = body_of(&body.await?)?;
        let new = change(&mut File { meta, body })?;
        let meta = described(&new);
        files.put(&key, &schema::record(path, &meta))?;
        bodies.put(&key, &host::array_of(&new.body).into())?;
        drop(new);
        transaction.commit().await?;
        self.herald.changed([path]);
        Ok(Some(meta))
    }

    /// Stores some files in one transaction.
    async fn put_batch(&self, batch: &[(VPath, NewFile)]) -> Result<Vec<Meta>> {
        let transaction = self.writing().await?;
        let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
        let mut metas = Vec::with_capacity(batch.len());
        for (path, file) in batch {
            let key = self.keys.of(path);
            let meta = described(file);
            files.put(&key, &schema::record(path, &meta))?;
            bodies.put(&key, &host::array_of(&file.body).into())?;
            metas.push(meta);
        }
        transaction.commit().await?;
        self.herald.changed(batch.iter().map(|(path, _)| path));
        Ok(metas)
    }

    async fn delete_file(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let transaction = self.writing().await?;
        let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
        let key = self.keys.of(path);
        let Some(meta) = schema::meta_of(&files.get(&key)?.await?)? else {
            return Ok(false);
        };
        if version.is_some() && meta.version != version {
            return Err(Error::conflict(path));
        }
        files.delete(&key)?;
        bodies.delete(&key)?;
        transaction.commit().await?;
        self.herald.changed([path]);
        Ok(true)
    }

    /// Removes everything beneath a path in one transaction: all of it, or nothing.
    async fn delete_beneath(&self, root: &VPath) -> Result<Vec<VPath>> {
        let transaction = self.writing().await?;
        let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
        let range = self.keys.beginning(&root.dir_prefix(), None)?;
        let key = (!root.is_root()).then(|| self.keys.of(root));
        let own = match &key {
            Some(key) => Some(files.get(key)?),
            None => None,
        };
        let beneath = files.get_all(&range, u32::MAX)?;
        let mut gone = Vec::new();
        if let Some(own) = own
            && schema::meta_of(&own.await?)?.is_some()
        {
            gone.push(root.clone());
        }
        let metas = schema::metas_of(&beneath.await?)?;
        gone.extend(metas.into_iter().map(|(path, _)| path));
        for store in [&files, &bodies] {
            store.delete(&range)?;
            if let Some(key) = &key {
                store.delete(key)?;
            }
        }
        transaction.commit().await?;
        self.herald.changed(&gone);
        Ok(gone)
    }

    async fn list_level(&self, dir: &VPath) -> Result<Listing> {
        let transaction = self.reading(&[FILES]).await?;
        let files = transaction.store(FILES)?;
        let prefix = dir.dir_prefix();
        let mut listing = Listing::default();
        let mut after = None;
        loop {
            let range = self.keys.beginning(&prefix, after.as_ref())?;
            let metas = schema::metas_of(&files.get_all(&range, LEVEL)?.await?)?;
            let whole = metas.len() < LEVEL as usize;
            let mut last = None;
            for (path, meta) in metas {
                let below = path.as_str().get(prefix.len()..).unwrap_or_default();
                last = Some(match below.split_once('/') {
                    None => {
                        let next = After::File(path.clone());
                        listing.files.push(Entry { path, meta });
                        next
                    }
                    Some((name, _)) => {
                        let child = dir.join(name)?;
                        if listing.dirs.last() != Some(&child) {
                            listing.dirs.push(child.clone());
                        }
                        // What else is in there does not show here, and is leapt over.
                        After::Directory(child)
                    }
                });
            }
            match last {
                Some(last) if !whole => after = Some(last),
                _ => return Ok(listing),
            }
        }
    }
}

/// What is known of a file that is about to be stored.
fn described(file: &NewFile) -> Meta {
    // Two halves of a number that hardly ever comes twice.
    let half = || (random::unit() * 4_294_967_296.0) as u64;
    Meta {
        size: file.body.len() as u64,
        created: Some(file.created),
        modified: file.modified,
        mime: Some(file.mime.clone()),
        format: file.format,
        texture: Some(file.texture),
        version: Some(Version::Number(half() << 32 | half())),
    }
}

/// How many files, from the first, go into the next transaction of an upload.
fn next_batch(files: &[(VPath, NewFile)]) -> usize {
    let mut bytes = 0usize;
    let fits = |(_, file): &&(VPath, NewFile)| {
        bytes = bytes.saturating_add(file.body.len());
        bytes <= UPLOAD_BYTES
    };
    let count = files.iter().take(UPLOAD_FILES).take_while(fits).count();
    count.max(1)
}

impl Storage for IndexedDb {
    fn capability(&self) -> Capability {
        Capability {
            ranged_reads: false,
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let transaction = self.reading(&[FILES]).await?;
            let record = transaction.store(FILES)?.get(&self.keys.of(path))?;
            schema::meta_of(&record.await?)
        })
    }

    fn get<'a>(&'a self, path: &'a VPath, _: Option<Range<u64>>) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            let mut files = self.get_many(std::slice::from_ref(path)).await?;
            Ok(files.pop().flatten())
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.put_file(path, file, mode))
    }

    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        Box::pin(async move { self.update_file(path, change).await })
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
            let after = from.map(|cursor| VPath::parse(&cursor.0)).transpose()?;
            let range = self
                .keys
                .beginning(&dir.dir_prefix(), after.map(After::File).as_ref())?;
            let transaction = self.reading(&[FILES]).await?;
            let page = transaction.store(FILES)?.get_all(&range, PAGE)?;
            let metas = schema::metas_of(&page.await?)?;
            let next = match metas.last() {
                Some((path, _)) if metas.len() >= PAGE as usize => {
                    Some(Cursor(path.as_str().into()))
                }
                _ => None,
            };
            let files = metas.into_iter().map(|(path, meta)| Entry { path, meta });
            Ok(Listing {
                files: files.collect(),
                dirs: Vec::new(),
                next,
            })
        })
    }

    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let transaction = self.reading(&[FILES, BODIES]).await?;
            let (files, bodies) = (transaction.store(FILES)?, transaction.store(BODIES)?);
            let mut found = Vec::with_capacity(paths.len());
            for batch in paths.chunks(search::SINGLES) {
                let mut asked = Vec::with_capacity(batch.len());
                for path in batch {
                    let key = self.keys.of(path);
                    asked.push((files.get(&key)?, bodies.get(&key)?));
                }
                for (record, body) in asked {
                    let (record, body) = (record.await?, body.await?);
                    found.push(match schema::meta_of(&record)? {
                        Some(meta) => Some(File {
                            meta,
                            body: body_of(&body)?,
                        }),
                        None => None,
                    });
                }
            }
            Ok(found)
        })
    }

    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let transaction = self.reading(&[FILES]).await?;
            self.walk_in(&transaction, scope, visit).await.map(drop)
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.scan_bodies(scan, visit))
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
                    // One that cannot be stored must not take the others with it.
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

    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            match self.delete_beneath(root).await {
                Ok(paths) => Removed {
                    paths,
                    ..Removed::default()
                },
                Err(error) => Removed {
                    error: Some(error),
                    ..Removed::default()
                },
            }
        })
    }
}
