//! Objects as files: reading, listing, and the guarantees of the storage.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join};
use futures_util::{Stream, StreamExt, stream};

use super::answer::{Page, Told};
use super::bucket::Bucket;
use super::cache::Cache;
use super::client::{Client, Retry};
use super::late::LatePuts;
use super::note::{Note, PART};
use super::objects::{Objects, Query};
use super::probe::{self, Conditions};
use super::state::Base;
use super::xml::Broken;
use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::{Pending, bounded, together};
use crate::core::lock::Mutex;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::env::random;
use crate::protocol::{Capability, Directories, Reach};
use crate::storage::{
    Batch, Cursor, Depth, Entry, Extras, File, Find, Flow, Listing, Meta, NewFile, Part, PutMode,
    Ranged, Removed, Scan, Scope, Search, Storage, Trees, Version,
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
    /// Maximum number of parallel requests.
    pub concurrency: usize,
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
            concurrency: 16,
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
    pub(super) concurrency: usize,
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
        let concurrency = options.concurrency.max(1);
        S3 {
            objects,
            client: Client::new(bucket, concurrency, options.retry),
            cache: Cache::new(options.cache_bytes),
            queue: Queue::default(),
            concurrency,
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

    /// A page of the keys that start with `prefix`.
    pub(super) async fn page(
        &self,
        operation: &'static str,
        prefix: &str,
        one_level: bool,
        token: Option<&str>,
        after: Option<&str>,
    ) -> Result<Page> {
        let about = self.client.about(operation, None);
        let query = Query {
            prefix,
            one_level,
            token,
            after,
        };
        let mut list = || self.objects.list(query);
        self.client
            .send(about, &mut list, |page: Page| {
                let keys = page.objects.iter().map(|object| &object.key);
                if keys
                    .chain(&page.prefixes)
                    .any(|key| !key.starts_with(prefix))
                {
                    return Err(Broken("the listing has keys that were not asked for"));
                }
                Ok(page)
            })
            .await
            .map_err(|failure| failure.error)
    }

    pub(super) fn entries(&self, page: &Page) -> Vec<Entry> {
        let bucket = &self.client.bucket;
        let objects = page.objects.iter();
        objects
            .filter_map(|object| {
                Some(Entry {
                    path: bucket.file_path(&object.key)?,
                    meta: object.meta(),
                })
            })
            .collect()
    }

    /// Every file in scope, a page at a time. The first page and the file that may exist at the root
    /// of the scope are requested in parallel; with `splits`, so are the first pages of the parts
    /// between them.
    pub(super) fn pages<'a>(
        &'a self,
        operation: &'static str,
        scope: &'a Scope,
        splits: &'a [VPath],
    ) -> impl Stream<Item = Result<Vec<Entry>>> + 'a {
        let prefix = self.client.bucket.key_prefix(&scope.root, &scope.prefix);
        let keys = splits.iter().filter_map(|path| self.key(path).ok());
        let mut keys: Vec<String> = keys.filter(|key| key.starts_with(&prefix)).collect();
        order::sort(&mut keys);
        let listing = Walk {
            waiting: Vec::new(),
            ends: keys.into_iter().map(Some).chain([None]).collect(),
            start: None,
            root: scope.prefix.is_empty() && !scope.root.is_root(),
        };
        stream::unfold(listing, move |mut walk| {
            let prefix = prefix.clone();
            async move {
                let root = async {
                    match std::mem::take(&mut walk.root) {
                        true => self.stat(&scope.root).await,
                        false => Ok(None),
                    }
                };
                let pages = async {
                    if !walk.waiting.is_empty() {
                        return;
                    }
                    let count = self.concurrency.min(walk.ends.len());
                    let mut asked: Vec<LocalBoxFuture<'_, Stretch>> = Vec::new();
                    for end in walk.ends.drain(..count) {
                        let start = std::mem::replace(&mut walk.start, end.clone());
                        let prefix = &prefix;
                        asked.push(Box::pin(async move {
                            let after = start.as_deref();
                            let page = self.page(operation, prefix, false, None, after).await;
                            Stretch {
                                page: Some(page),
                                token: None,
                                start,
                                end,
                            }
                        }));
                    }
                    walk.waiting = together(asked).await;
                    // The next one is taken from the end.
                    walk.waiting.reverse();
                };
                let (root, ()) = join(root, pages).await;
                let mut here = walk.waiting.pop()?;
                let page = match here.page.take() {
                    Some(page) => page,
                    None => {
                        let token = here.token.as_deref();
                        self.page(operation, &prefix, false, token, None).await
                    }
                };
                let (root, mut page) = match root.and_then(|root| Ok((root, page?))) {
                    Ok(answer) => answer,
                    Err(error) => {
                        walk.waiting.clear();
                        walk.ends.clear();
                        return Some((Err(error), walk));
                    }
                };
                let last = page.objects.last();
                let is_over = last.is_some_and(|one| here.end.as_ref() <= Some(&one.key));
                let is_over = is_over && here.end.is_some();
                page.objects.retain(|one| {
                    let is_before = here.start.as_ref().is_some_and(|start| one.key <= *start);
                    !is_before && here.end.as_ref().is_none_or(|end| one.key <= *end)
                });
                here.token = page
                    .next
                    .take()
                    .filter(|_| !is_over && !has(Bug::PageSkipped));
                if here.token.is_some() {
                    walk.waiting.push(here);
                }
                let mut entries = Vec::with_capacity(page.objects.len().saturating_add(1));
                entries.extend(root.map(|meta| Entry {
                    path: scope.root.clone(),
                    meta,
                }));
                entries.extend(self.entries(&page));
                Some((Ok(entries), walk))
            }
        })
    }
}

/// A listing in progress.
struct Walk {
    /// Parts whose first page was requested, the next one last.
    waiting: Vec<Stretch>,
    /// Where the other parts end; the last one has no end.
    ends: Vec<Option<String>>,
    /// Where the next part begins.
    start: Option<String>,
    /// Whether there may be a file at the root of the scope.
    root: bool,
}

/// A part of a listing: after `start`, up to and with `end`.
struct Stretch {
    start: Option<String>,
    end: Option<String>,
    /// The next page, if it was requested.
    page: Option<Result<Page>>,
    /// Where the next page begins otherwise.
    token: Option<String>,
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
            let mut pages = Box::pin(self.pages("list", find.scope, &[]));
            while let Some(entries) = pages.next().await {
                for entry in entries? {
                    if visit(&entry.path, &entry.meta).is_break() {
                        return Ok(());
                    }
                }
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
            bounded(self.concurrency, gets).await.into_iter().collect()
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
            bounded(self.concurrency, puts).await
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
