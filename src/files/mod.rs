//! The meaning of `ls`, `read`, `grep`, `glob`, `write`, `edit` and `delete`, implemented once over
//! any [`Storage`]. The storage checks the conditions: a write is a put with exclusive creation, an
//! edit is a put that requires the version that was read, and it is retried on the new text a
//! limited number of times. If a storage has no compare-and-swap, calls of this instance on one
//! path wait for each other instead.

mod calls;
mod changes;
#[cfg(test)]
mod deletion_tests;
mod glob;
pub mod graph_state;
mod grep;
mod index_cache;
mod new_file;
mod paging;
mod shown;
#[cfg(any(test, feature = "simulation"))]
pub mod stepping;

use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::file::{Format, Texture};
use crate::core::future::bounded;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::core::running;
use crate::env::clock;
use crate::files::grep::Grep;
use crate::files::index_cache::IndexCache;
use crate::files::paging::{Found, Pager};
use crate::protocol::{
    Directories, EntryInfo, FileInfo, GrepQuery, GrepResult, Page, RawFile, ReadResult,
};
use crate::search::glob::NameFilter;
use crate::search::grep::Matcher;
use crate::search::lines;
use crate::search::patience::Patience;
use crate::storage::memory::Memory;
use crate::storage::{
    Depth, File, Flow, Hints, Meta, PARALLEL, Part, Scan, Scope, Storage, provided,
};

pub use shown::raw;
use shown::{info, kind_of, raw_part, state};

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

impl Files<Memory> {
    /// Files in memory that a layer keeps for itself, such as those of a turn.
    pub fn aside() -> Files<Memory> {
        let options = FilesOptions {
            write_mode: WriteMode::Overwrite,
            ..FilesOptions::default()
        };
        Files::new(Memory::default(), options)
    }
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
        let mut patience = Patience::until(running::deadline(), clock::now);
        if running::may_wait() {
            patience = patience.pausing();
        }
        let matcher = Matcher::new(query, patience)?;
        let filter = match &query.glob {
            Some(glob) => Some(NameFilter::parse(glob, &query.path)?),
            None => None,
        };
        let scope = Scope::all(&query.path);
        let search = Grep::new(&matcher, query.max_count, filter.as_ref());
        let names = |path: &VPath| path.is_shown_at(&query.path) && search.wants(path);
        let sieve = query.sieve.as_ref();
        let splits = sieve.map(|sieve| sieve.splits()).unwrap_or_default();
        let stamped = sieve.is_some() && self.storage.capability().lists_versions;
        let want = |path: &VPath, meta: &Meta| {
            if !names(path) {
                return false;
            }
            let Some(sieve) = sieve else {
                return meta.texture != Some(Texture::Binary);
            };
            let state = state(meta, stamped);
            if meta.texture == Some(Texture::Binary) {
                sieve.skipped(path, &state);
                return false;
            }
            sieve.admits(path, &state)
        };
        // A sieve counts files, or collects what it does not know of them.
        let texts = match sieve {
            Some(_) => Vec::new(),
            None => matcher.texts(),
        };
        let mut visit = |path: &VPath, file: &File| {
            if !path.is_shown_at(&query.path) {
                return Flow::Continue(());
            }
            if let Some(sieve) = sieve {
                let is_text = kind_of(path, file).1.is_text();
                sieve.read(path, &state(&file.meta, stamped), &file.body, is_text);
            }
            search.visit(path, file)
        };
        let scan = Scan {
            scope: &scope,
            names: &names,
            want: &want,
            hints: Hints {
                // A sieve decides by metadata, which a storage knows only after its listing.
                by_name: filter.is_some() && sieve.is_none(),
                literal: matcher.literal(),
                texts: &texts,
                query: Some(query),
                splits: &splits,
                is_behind: &|| search.is_behind(),
            },
        };
        let only = sieve.and_then(|sieve| sieve.only());
        let mut scan = provided::scan(&*self.storage, only.as_deref(), scan, &mut visit);
        loop {
            let (done, waiting) = poll_fn(|context| {
                search.resume();
                match scan.as_mut().poll(context) {
                    Poll::Ready(done) => Poll::Ready((Some(done), search.is_behind())),
                    Poll::Pending if search.is_behind() => Poll::Ready((None, true)),
                    Poll::Pending => Poll::Pending,
                }
            })
            .await;
            if waiting {
                search.catch_up().await;
            }
            if let Some(done) = done {
                done?;
                break;
            }
            if search.is_over() {
                break;
            }
        }
        drop(scan);
        filter.as_ref().map_or(Ok(()), NameFilter::over)?;
        search.finish()
    }

    async fn read_page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let file = match self.pager.read(&*self.storage, path, page).await {
            Ok(Found::Page(answer)) => return Ok(answer),
            Ok(Found::Whole(file)) => file,
            Err(error) if error.kind() == Kind::NotFound => {
                return Err(match self.is_directory(path).await? {
                    true => Error::not_a_file(path),
                    false => error,
                });
            }
            Err(error) => return Err(error),
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

    /// Whether there are files below a path at which there is no file. Storages with real directories have
    /// said so already.
    async fn is_directory(&self, path: &VPath) -> Result<bool> {
        if self.storage.capability().directories == Directories::Real {
            return Ok(false);
        }
        let level = self.storage.list(path, Depth::One, None).await?;
        let files = level.files.iter().map(|entry| &entry.path);
        let mut all = level.dirs.iter().chain(files);
        Ok(all.any(|found| found.is_shown_at(path)))
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
        infos.retain(|info| info.path.is_shown_at(path));
        order::sort_by(&mut infos, FileInfo::listing_order);
        infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
        Ok(infos)
    }

    async fn download_files(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let answer = |path: &VPath, file: Option<File>| {
            file.map(|file| file.body)
                .ok_or_else(|| Error::not_found(path))
        };
        match provided::get_many(&*self.storage, paths).await {
            Ok(files) => paths
                .iter()
                .zip(files)
                .map(|(path, file)| answer(path, file))
                .collect(),
            // If the batch fails, read the files one by one, so that one failure does not affect
            // the others.
            Err(_) => {
                let gets = paths.iter().map(|path| self.storage.get(path));
                let files = bounded(PARALLEL, gets).await;
                let answers = paths
                    .iter()
                    .zip(files)
                    .map(|(path, file)| answer(path, file?));
                answers.collect()
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

    async fn file_part(&self, path: &VPath, range: Range<u64>) -> Result<RawFile> {
        let ranged = self.storage.extras().ranged;
        let part = match ranged {
            _ if range.is_empty() => self.storage.stat(path).await?.map(|meta| Part {
                file: File {
                    meta,
                    body: Bytes::new(),
                },
                start: range.start,
                lines: None,
            }),
            Some(ranged) => ranged.get_part(path, range.clone()).await?,
            None => self.storage.get(path).await?.map(|file| Part {
                file,
                start: 0,
                lines: None,
            }),
        };
        let part = part.ok_or_else(|| Error::not_found(path))?;
        let version = ranged.and_then(|ranged| ranged.version(&part.file.meta));
        Ok(raw_part(path, part, version).within(range))
    }
}
