//! The meaning of `ls`, `read`, `grep`, `glob`, `write`, `edit` and `delete`, implemented once over
//! any [`Storage`]. The storage checks the conditions: a write is a put with exclusive creation, an
//! edit is a put that requires the version that was read, and it is retried on the new text a
//! limited number of times. If a storage has no compare-and-swap, calls of this instance on one
//! path wait for each other instead.

mod calls;
mod changes;
pub mod graph_state;
mod index_cache;
mod paging;
mod shown;

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::join_all;

use crate::core::error::{Error, Result};
use crate::core::file::{Format, Texture};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::core::running;
use crate::env::clock;
use crate::files::index_cache::IndexCache;
use crate::files::paging::{Found, Pager};
use crate::protocol::{
    EntryInfo, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult,
    clipped,
};
use crate::search::glob::{NameFilter, Pattern};
use crate::search::grep::Matcher;
use crate::search::lines;
use crate::search::patience::Patience;
use crate::storage::{Depth, File, Find, Flow, Meta, Scan, Scope, Storage};

pub use shown::raw;
use shown::{info, kind_of, state};

/// What `write` does if the file exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Refuse.
    #[default]
    Create,
    /// Replace it.
    Overwrite,
}

/// Options for writing files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesOptions {
    /// What `write` does if the file exists.
    pub write_mode: WriteMode,
    /// The format of new text files.
    pub format: Format,
    /// The maximum size of a file to write; the storage's own limit applies as well.
    pub max_file_bytes: Option<u64>,
}

/// The operations over a storage of a known type.
pub struct Files<S> {
    storage: Rc<S>,
    operations: Operations,
}

/// The operations over any storage, compiled only once.
struct Operations {
    storage: Rc<dyn Storage>,
    options: FilesOptions,
    queue: Queue,
    indexes: IndexCache,
    pager: Pager,
}

impl<S: Storage + 'static> Files<S> {
    /// The operations over `storage`.
    pub fn new(storage: S, options: FilesOptions) -> Files<S> {
        let storage = Rc::new(storage);
        Files {
            storage: storage.clone(),
            operations: Operations {
                storage,
                options,
                queue: Queue::default(),
                indexes: IndexCache::default(),
                pager: Pager::default(),
            },
        }
    }

    /// The underlying storage.
    pub fn storage(&self) -> &S {
        &self.storage
    }
}

impl Operations {
    async fn grep_files(&self, query: &GrepQuery) -> Result<GrepResult> {
        let patience = Patience::until(running::deadline(), clock::now);
        let matcher = Matcher::new(query, patience)?;
        let filter = match &query.glob {
            Some(glob) => Some(NameFilter::parse(glob, &query.path)?),
            None => None,
        };
        let mut found = GrepResult::default();
        let mut count = 0usize;
        let cap = query.max_count.unwrap_or(usize::MAX);
        let scope = Scope::all(&query.path);
        let names = |path: &VPath| filter.as_ref().is_none_or(|filter| filter.accepts(path));
        let sieve = query.sieve.as_ref();
        let splits = sieve.map(|sieve| sieve.splits()).unwrap_or_default();
        let stamped = sieve.is_some() && self.storage.capability().lists_versions;
        let want = |path: &VPath, meta: &Meta| {
            meta.texture != Some(Texture::Binary)
                && names(path)
                && sieve.is_none_or(|sieve| sieve.admits(path, &state(meta, stamped)))
        };
        let mut visit = |path: &VPath, file: &File| {
            let texture = kind_of(path, file).1;
            if let Some(sieve) = sieve {
                let state = state(&file.meta, stamped);
                sieve.read(path, &state, &file.body, texture.is_text());
            }
            if !texture.is_text() {
                return Flow::Continue(());
            }
            // Search for one match more than allowed, to find out whether there are more.
            let budget = cap.saturating_sub(count).saturating_add(1);
            count += matcher.search(path, &file.body, texture, budget, &mut found.matches);
            if count > cap || matcher.over().is_some() || found.matches.is_full() {
                return Flow::Break(());
            }
            Flow::Continue(())
        };
        let scan = Scan {
            scope: &scope,
            names: &names,
            want: &want,
            // A sieve decides by metadata, which a storage knows only after its listing.
            by_name: filter.is_some() && sieve.is_none(),
            literal: matcher.literal(),
            splits: &splits,
        };
        self.storage.scan(scan, &mut visit).await?;
        if let Some(error) = matcher.over() {
            return Err(error);
        }
        found.truncated = count > cap || found.matches.is_full();
        found.matches.keep_first(cap);
        Ok(found)
    }

    async fn glob_files(&self, query: &GlobQuery) -> Result<GlobResult> {
        let pattern = Pattern::parse(query)?;
        let mut files = Vec::new();
        let mut visit = |path: &VPath, meta: &Meta| {
            files.push(info(path.clone(), meta));
            Flow::Continue(())
        };
        let find = Find {
            scope: pattern.scope(),
            want: &|path| pattern.accepts(path),
        };
        self.storage.find(find, &mut visit).await?;
        // The walk returned files in path order. The sort is stable, so files with the same time
        // keep that order; it compares only integers, which makes it fast.
        order::sort_by_key(&mut files, |file: &FileInfo| {
            std::cmp::Reverse(file.modified())
        });
        Ok(GlobResult {
            files,
            truncated: false,
        })
    }

    async fn read_page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let file = match self.pager.read(&*self.storage, path, page).await? {
            Found::Page(answer) => return Ok(answer),
            Found::Whole(file) => file,
        };
        let (mime, texture) = kind_of(path, &file);
        if !texture.is_text() {
            return Ok(ReadResult {
                content: file.body,
                is_text: false,
                mime: Some(mime),
                position: None,
            });
        }
        let index = self
            .indexes
            .of(path, file.meta.version.as_ref(), &file.body);
        let paged = lines::page(&file.body, page, &index);
        Ok(ReadResult {
            content: file.body.slice(paged.range),
            is_text: true,
            mime: Some(mime),
            position: paged.position,
        })
    }

    async fn list_level(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let mut infos = Vec::new();
        let mut from = None;
        loop {
            let page = self.storage.list(path, Depth::One, from).await?;
            infos.extend(page.dirs.into_iter().map(|path| FileInfo {
                path,
                entry: EntryInfo::Directory,
            }));
            infos.extend(
                page.files
                    .into_iter()
                    .map(|entry| info(entry.path, &entry.meta)),
            );
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        order::sort_by(&mut infos, FileInfo::listing_order);
        infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
        Ok(infos)
    }

    async fn download_files(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let answer = |path: &VPath, file: Option<File>| {
            file.map(|file| file.body)
                .ok_or_else(|| Error::not_found(path).during("download"))
        };
        match self.storage.get_many(paths).await {
            Ok(files) => paths
                .iter()
                .zip(files)
                .map(|(path, file)| answer(path, file))
                .collect(),
            // If the batch fails, read the files one by one, so that one failure does not affect
            // the others.
            Err(_) => {
                join_all(paths.iter().map(|path| async move {
                    let file = self.storage.get(path).await;
                    answer(path, file.map_err(|error| error.during("download"))?)
                }))
                .await
            }
        }
    }

    async fn raw_file(&self, path: &VPath) -> Result<RawFile> {
        let file = self
            .storage
            .get(path)
            .await?
            .ok_or_else(|| Error::not_found(path))?;
        Ok(raw(path, file))
    }

    async fn file_part(&self, path: &VPath, range: Range<u64>) -> Result<Bytes> {
        let missing = || Error::not_found(path);
        match self.storage.ranged() {
            Some(ranged) => {
                let part = ranged.get_part(path, range.clone()).await?;
                let part = part.ok_or_else(missing)?;
                Ok(clipped(&part.file.body, part.start, range))
            }
            None => {
                let file = self.storage.get(path).await?.ok_or_else(missing)?;
                Ok(clipped(&file.body, 0, range))
            }
        }
    }
}
