//! Objects as files, and the guarantees of the storage.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;

use super::answer::Told;
use super::bucket::Bucket;
use super::cache::Cache;
use super::client::{Client, Retry};
use super::late::LatePuts;
use super::note::{Note, PART};
use super::objects::Objects;
use super::probe::{self, Conditions};
use super::state::Base;
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::{Pending, bounded};
use crate::core::lock::Mutex;
use crate::core::pace::{ITEMS, Pace};
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::env::{clock, random, timer};
use crate::protocol::{Capability, Directories, Reach};
use crate::storage::{
    Batch, Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, Part, PutMode, Ranged,
    Removed, Scan, Search, Storage, Trees, Version,
};

/// How to determine which conditional requests the server honours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Run a probe at the first write.
    #[default]
    Probe,
    /// Assume what the standard requires.
    Standard,
    /// Assume that it ignores conditions.
    Nothing,
}

/// Options for using a bucket.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// How many requests are made in parallel; `None` to find out how many are good.
    pub concurrency: Option<usize>,
    /// Size of the body cache in bytes; 0 disables it.
    pub cache_bytes: usize,
    /// The retry policy.
    pub retry: Retry,
    /// How to determine which conditional requests the server honours.
    pub trust: Trust,
}

impl Default for S3Options {
    fn default() -> S3Options {
        S3Options {
            concurrency: None,
            cache_bytes: 64 * 1024 * 1024,
            retry: Retry::default(),
            trust: Trust::default(),
        }
    }
}

/// The note in `capability` before the probe.
const UNPROBED: &str = "Whether this S3 server honours conditional writes (If-None-Match, \
    If-Match) is found out at the first write.";
/// The maximum size of one PUT.
const MAX_FILE: u64 = 5 * 1024 * 1024 * 1024;
/// Number of recently read files whose state is kept; a write refers to the state that it replaces.
const STATES: usize = 128;

/// A bucket, or a directory in it, as a storage.
pub struct S3 {
    pub(super) objects: Rc<dyn Objects>,
    pub(super) client: Client,
    pub(super) cache: Cache,
    pub(super) queue: Queue,
    conditions: Cell<Option<Conditions>>,
    pub(super) probing: Mutex<()>,
    /// Whether the server copies objects under conditions, once it is known.
    pub(super) copying: Cell<Option<bool>>,
    /// How often that could not be found out.
    pub(super) unanswered: Cell<u32>,
    /// Whether parts of objects can be fetched. Set to `false` if a response does not say which
    /// part it is, for example in a page whose bucket does not expose `Content-Range`.
    pub(super) parts: Cell<bool>,
    states: RefCell<VecDeque<(String, Base)>>,
    pub(super) late: LatePuts,
    warn: Box<dyn Fn(&str)>,
}

impl S3 {
    /// A storage in `bucket`; `warn` receives warnings for the application.
    pub fn new(
        bucket: Bucket,
        objects: Rc<dyn Objects>,
        options: S3Options,
        warn: Box<dyn Fn(&str)>,
    ) -> S3 {
        S3 {
            objects,
            client: Client::new(bucket, options.concurrency, options.retry),
            cache: Cache::new(options.cache_bytes),
            queue: Queue::default(),
            conditions: Cell::new(match options.trust {
                Trust::Probe => None,
                Trust::Standard => Some(Conditions::STANDARD),
                Trust::Nothing => Some(Conditions::NONE),
            }),
            probing: Mutex::new(()),
            copying: Cell::new(None),
            unanswered: Cell::new(0),
            parts: Cell::new(true),
            states: RefCell::renewable(VecDeque::new),
            late: LatePuts::default(),
            warn,
        }
    }

    pub(super) fn key(&self, path: &VPath) -> Result<String> {
        self.client.bucket.key(path)
    }

    /// The conditions that the server honours; runs the probe if they are not known yet.
    pub(super) async fn conditions(&self) -> Result<Conditions> {
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let _turn = self.probing.lock().await;
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let found = probe::probe(&self.client, &*self.objects)
            .await
            .map_err(|failure| failure.error)?;
        self.conditions.set(Some(found));
        if let Some(warning) = found.warning() {
            (self.warn)(warning);
        }
        Ok(found)
    }

    /// The conditions that the server is known to honour so far.
    pub(super) fn known_conditions(&self) -> Conditions {
        self.conditions.get().unwrap_or(Conditions::NONE)
    }

    /// Keeps the state of an object that was read or written.
    pub(super) fn remember(&self, key: &str, seen: Option<&Told>) {
        let mut states = self.states.borrow_mut();
        states.retain(|(known, _)| known != key);
        if states.len() >= STATES {
            states.pop_front();
        }
        states.push_back((key.to_owned(), Base::of(seen)));
    }

    /// Forgets everything about an object that may have changed.
    pub(super) fn forget(&self, key: &str) {
        self.cache.forget(key);
        self.states.borrow_mut().retain(|(known, _)| known != key);
    }

    /// The last known state of an object.
    pub(super) fn recall_any(&self, key: &str) -> Option<Base> {
        let states = self.states.borrow();
        let known = states.iter().rev().find(|(known, _)| known == key);
        known.map(|(_, base)| base.clone())
    }

    /// The note of an object with that ETag, if it was read recently.
    pub(super) fn recall(&self, key: &str, tag: &str) -> Option<Note> {
        match self.recall_any(key) {
            Some(Base::Present { tag: known, note }) if known == tag => note,
            _ => None,
        }
    }
}

impl Storage for S3 {
    fn capability(&self) -> Capability {
        let reach = |honoured: bool| {
            if honoured {
                Reach::Storage
            } else {
                Reach::Instance
            }
        };
        let note = match self.conditions.get() {
            None => Some(UNPROBED),
            Some(known) => known.warning(),
        };
        let known = self.known_conditions();
        Capability {
            create: reach(known.create),
            update: reach(known.update),
            max_file_bytes: Some(MAX_FILE),
            directories: Directories::Implied,
            lists_versions: true,
            notes: note.into_iter().map(Rc::from).collect(),
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let key = self.key(path)?;
            let told = self.head("stat", path, &key).await;
            let told = told.map_err(|failure| failure.error)?;
            self.remember(&key, told.as_ref());
            Ok(told.map(|told| told.meta))
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.file(path))
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
            let prefix = self.client.bucket.key_prefix(dir, "");
            let token = from.as_ref().map(|cursor| &*cursor.0);
            let page = self
                .page("list", &prefix, depth == Depth::One, token, None)
                .await?;
            let bucket = &self.client.bucket;
            let dirs = page.prefixes.iter();
            Ok(Listing {
                files: self.entries(&page),
                dirs: dirs.filter_map(|prefix| bucket.dir_path(prefix)).collect(),
                next: page.next.as_deref().map(|token| Cursor(Rc::from(token))),
            })
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            ranged: self.parts.get().then_some(self),
            within: self.objects.copies().then_some(self),
            search: Some(self),
            batch: Some(self),
            trees: Some(self),
            streams: self.objects.uploads().then_some(self),
            pause: Some(backoff),
            ..Extras::NONE
        }
    }
}

impl Search for S3 {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let pace = Pace::new(clock::now, timer::pause);
            let mut pages = Box::pin(self.pages("list", find.scope, &[], &pace));
            while let Some(entries) = pages.next().await {
                for entry in entries? {
                    if visit(&entry.path, &entry.meta).is_break() {
                        return Ok(());
                    }
                }
                pace.worked(ITEMS).await;
            }
            Ok(())
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.search(scan, visit))
    }
}

impl Batch for S3 {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let gets = paths
                .iter()
                .map(|path| Box::pin(self.file(path)) as Pending<'_, _>);
            bounded(self.client.width.now(), gets)
                .await
                .into_iter()
                .collect()
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let puts = files.iter().map(|(path, file)| {
                let put = self.put_file(path, file.clone(), PutMode::Overwrite);
                Box::pin(put) as Pending<'_, Meta>
            });
            bounded(self.client.width.now(), puts).await
        })
    }
}

impl Trees for S3 {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(self.remove_tree(root))
    }

    fn spares_new_files(&self) -> bool {
        true
    }
}

impl Ranged for S3 {
    fn part_bytes(&self) -> Option<u64> {
        Some(PART)
    }

    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        Box::pin(self.part(path, range))
    }
}

/// How long to wait before retry number `attempt` of a change that another writer has overtaken.
pub(super) fn backoff(attempt: u32) -> Duration {
    random::wait(10.0 * f64::from(1u32 << attempt.min(6)))
}
