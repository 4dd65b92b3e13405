//! Objects as files: reading, listing, and what the storage promises.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, join};
use futures_util::lock::Mutex;
use futures_util::{Stream, StreamExt, stream};

use super::access::Wire;
use super::answer::{self, Note, Page, Told};
use super::cache::{Cache, Cached};
use super::client::{Client, Retry};
use super::errors::Failure;
use super::probe::{self, Conditions};
use super::request::{Ask, Bucket};
use super::xml::Broken;
use crate::backend::queue::Queue;
use crate::env::{random, timer};
use crate::error::Result;
use crate::path::VPath;
use crate::protocol::{Capability, Directories, Reach};
use crate::storage::{
    Cursor, Depth, Entry, File, Flow, Listing, Meta, NewFile, Pending, PutMode, Removed, Scan,
    Scope, Storage, Version,
};

/// How it is known what the server does with conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Tried out at the first write.
    #[default]
    Probe,
    /// It does what the standard says.
    Standard,
    /// It ignores them.
    Nothing,
}

/// How a bucket is used.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// Requests at once.
    pub concurrency: usize,
    /// Bytes of bodies to keep; 0 for none.
    pub cache_bytes: usize,
    /// How patiently requests are repeated.
    pub retry: Retry,
    /// How it is known what the server does with conditions.
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

/// One PUT takes no more than this.
const MAX_FILE: u64 = 5 * 1024 * 1024 * 1024;
/// Notes of files read lately, which a write names as what came before it.
const NOTES: usize = 128;

/// A bucket, or a directory of it, as a place for files.
pub struct S3 {
    pub(super) client: Client,
    pub(super) cache: Cache,
    pub(super) queue: Queue,
    concurrency: usize,
    conditions: Cell<Option<Conditions>>,
    probing: Mutex<()>,
    notes: RefCell<VecDeque<(String, String, Note)>>,
    warn: Box<dyn Fn(&str)>,
}

impl S3 {
    /// A place in `bucket`; `warn` is told what its owner should know.
    pub fn new(
        bucket: Bucket,
        wire: Rc<dyn Wire>,
        options: S3Options,
        warn: Box<dyn Fn(&str)>,
    ) -> S3 {
        let concurrency = options.concurrency.max(1);
        S3 {
            client: Client::new(bucket, wire, concurrency, options.retry),
            cache: Cache::new(options.cache_bytes),
            queue: Queue::default(),
            concurrency,
            conditions: Cell::new(match options.trust {
                Trust::Probe => None,
                Trust::Standard => Some(Conditions::STANDARD),
                Trust::Nothing => Some(Conditions::NONE),
            }),
            probing: Mutex::new(()),
            notes: RefCell::default(),
            warn,
        }
    }

    pub(super) fn key(&self, path: &VPath) -> Result<String> {
        self.client.bucket.key(path)
    }

    /// What the server does with conditions, tried out if that is not known yet.
    pub(super) async fn conditions(&self) -> Result<Conditions> {
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let _turn = self.probing.lock().await;
        if let Some(known) = self.conditions.get() {
            return Ok(known);
        }
        let found = probe::probe(&self.client)
            .await
            .map_err(|failure| failure.error)?;
        self.conditions.set(Some(found));
        if let Some(warning) = found.warning() {
            (self.warn)(warning);
        }
        Ok(found)
    }

    /// What is known already of what the server does with conditions.
    pub(super) fn known_conditions(&self) -> Conditions {
        self.conditions.get().unwrap_or(Conditions::NONE)
    }

    /// Keeps in mind what was beside a state of an object that was read.
    pub(super) fn remember(&self, key: &str, told: &Told) {
        let Some(note) = &told.note else { return };
        let mut notes = self.notes.borrow_mut();
        notes.retain(|(known, ..)| known != key);
        if notes.len() >= NOTES {
            notes.pop_front();
        }
        notes.push_back((key.to_owned(), told.tag.clone(), note.clone()));
    }

    /// What was beside that state of an object, where it was read lately.
    pub(super) fn recall(&self, key: &str, tag: &str) -> Option<Note> {
        let notes = self.notes.borrow();
        let known = notes.iter().rev().find(|(k, t, _)| k == key && t == tag);
        known.map(|(.., note)| note.clone())
    }

    /// What is known of an object.
    pub(super) async fn head(
        &self,
        operation: &'static str,
        path: &VPath,
        key: &str,
    ) -> Result<Option<Told>, Failure> {
        let about = self.client.about(operation, Some(path));
        let answer = self
            .client
            .send(about, &Ask::head(key), |response| {
                let size = response
                    .header("content-length")
                    .and_then(|size| size.trim().parse().ok())
                    .unwrap_or(0);
                answer::told(&response, size)
            })
            .await;
        match answer {
            Ok(told) => Ok(Some(told)),
            Err(failure) if failure.is_missing() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// An object whole, from the cache if the server says that it is the same still.
    async fn fetch(&self, path: &VPath, key: &str) -> Result<Option<Cached>> {
        let known = self.cache.get(key);
        let ask = Ask::get(key, known.as_ref().map(|known| known.told.tag.as_str()));
        let mut odd: Option<String> = None;
        let about = self.client.about("read", Some(path));
        let answer = self
            .client
            .send(about, &ask, |response| {
                if response.status == 304 {
                    return known
                        .clone()
                        .ok_or(Broken("nothing was asked to be compared"));
                }
                let mut told = answer::told(&response, response.body.len() as u64)?;
                if let Some(note) = &mut told.note {
                    let digest = answer::digest(&response.body);
                    if !note.digest.is_empty() && note.digest != digest {
                        // Another tool may have changed the object and kept what we wrote beside
                        // it. An ETag that is the body's digest proves that; one that can be no
                        // digest leaves it to a second look, which no accident passes.
                        let proven = answer::is_md5(&told.tag, &response.body);
                        let seen = odd.replace(digest.clone()) == Some(digest);
                        if !proven.unwrap_or(seen) {
                            return Err(Broken("its bytes are not those that were written"));
                        }
                        told.meta.texture = None;
                    }
                }
                Ok(Cached {
                    told: Rc::new(told),
                    body: response.body,
                })
            })
            .await;
        match answer {
            Ok(found) => {
                self.remember(key, &found.told);
                self.cache.put(key, found.clone());
                Ok(Some(found))
            }
            Err(failure) if failure.is_missing() => {
                self.cache.forget(key);
                Ok(None)
            }
            Err(failure) => Err(failure.error),
        }
    }

    async fn file(&self, path: &VPath) -> Result<Option<File>> {
        let key = self.key(path)?;
        Ok(self.fetch(path, &key).await?.map(as_file))
    }

    /// A file of a listing made just now: no request if the very state it names is here.
    async fn listed_file(&self, path: &VPath, meta: &Meta) -> Result<Option<File>> {
        let key = self.key(path)?;
        if let Some(Version::Tag(tag)) = &meta.version
            && let Some(found) = self.cache.state(&key, tag)
        {
            return Ok(Some(as_file(found)));
        }
        Ok(self.fetch(path, &key).await?.map(as_file))
    }

    async fn part(&self, path: &VPath, range: Range<u64>) -> Result<Option<File>> {
        let key = self.key(path)?;
        if self.cache.get(&key).is_some() || range.is_empty() {
            let whole = self.file(path).await?;
            return Ok(whole.map(|file| cut(file, &range)));
        }
        let about = self.client.about("read", Some(path));
        let ask = Ask::get_range(&key, range.start, range.end);
        let answer = self
            .client
            .send(about, &ask, |response| {
                if response.status != 206 {
                    let told = answer::told(&response, response.body.len() as u64)?;
                    return Ok((true, told, response.body));
                }
                let size = answer::whole_size(&response).ok_or(Broken(
                    "it does not tell the whole size (in a page, the bucket's CORS rules must \
                     expose the header Content-Range)",
                ))?;
                let wanted = range.end.min(size).saturating_sub(range.start);
                if response.body.len() as u64 != wanted {
                    return Err(Broken("it is not the part that was asked for"));
                }
                Ok((false, answer::told(&response, size)?, response.body))
            })
            .await;
        match answer {
            Ok((whole, told, body)) => {
                self.remember(&key, &told);
                let file = File {
                    meta: told.meta,
                    body,
                };
                Ok(Some(if whole { cut(file, &range) } else { file }))
            }
            // Past the end: nothing of it, but it is there.
            Err(failure) if failure.status == 416 => Ok(self
                .head("read", path, &key)
                .await
                .map_err(|failure| failure.error)?
                .map(|told| File {
                    meta: told.meta,
                    body: Bytes::new(),
                })),
            Err(failure) if failure.is_missing() => Ok(None),
            Err(failure) => Err(failure.error),
        }
    }

    /// A page of keys that start with `prefix`.
    pub(super) async fn page(
        &self,
        operation: &'static str,
        prefix: &str,
        one_level: bool,
        token: Option<&str>,
    ) -> Result<Page> {
        let about = self.client.about(operation, None);
        let ask = Ask::list(prefix, one_level, token);
        self.client
            .send(about, &ask, |response| {
                let page = answer::page(&response.body)?;
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

    fn entries(&self, page: &Page) -> Vec<Entry> {
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

    /// Every file in scope, a page at a time. The first page and the file that may stand at the
    /// root of the scope are asked for together.
    fn pages<'a>(
        &'a self,
        operation: &'static str,
        scope: &'a Scope,
    ) -> impl Stream<Item = Result<Vec<Entry>>> + 'a {
        enum Next {
            First,
            Page(String),
            End,
        }
        let prefix = self.client.bucket.key_prefix(&scope.root, &scope.prefix);
        let root_file = scope.prefix.is_empty() && !scope.root.is_root();
        stream::unfold(Next::First, move |next| {
            let prefix = prefix.clone();
            async move {
                let first = matches!(next, Next::First);
                let token = match next {
                    Next::First => None,
                    Next::Page(token) => Some(token),
                    Next::End => return None,
                };
                let page = self.page(operation, &prefix, false, token.as_deref());
                let root = async {
                    if first && root_file {
                        self.stat(&scope.root).await
                    } else {
                        Ok(None)
                    }
                };
                let (page, root) = join(page, root).await;
                let answer = root.and_then(|root| Ok((root, page?)));
                let (root, page) = match answer {
                    Ok(answer) => answer,
                    Err(error) => return Some((Err(error), Next::End)),
                };
                let mut entries = Vec::with_capacity(page.objects.len().saturating_add(1));
                entries.extend(root.map(|meta| Entry {
                    path: scope.root.clone(),
                    meta,
                }));
                entries.extend(self.entries(&page));
                let next = page.next.map_or(Next::End, Next::Page);
                Some((Ok(entries), next))
            }
        })
    }
}

fn as_file(found: Cached) -> File {
    File {
        meta: found.told.meta.clone(),
        body: found.body,
    }
}

fn cut(file: File, range: &Range<u64>) -> File {
    let len = file.body.len();
    let at = |place: u64| usize::try_from(place).unwrap_or(len).min(len);
    let (start, end) = (at(range.start), at(range.end));
    File {
        meta: file.meta,
        body: file.body.slice(start..end.max(start)),
    }
}

impl Storage for S3 {
    fn capability(&self) -> Capability {
        let known = self.conditions.get().unwrap_or(Conditions::STANDARD);
        let reach = |honoured: bool| {
            if honoured {
                Reach::Storage
            } else {
                Reach::Instance
            }
        };
        Capability {
            create: reach(known.create),
            update: reach(known.update),
            max_file_bytes: Some(MAX_FILE),
            directories: Directories::Implied,
            notes: known.warning().into_iter().map(Rc::from).collect(),
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let key = self.key(path)?;
            let told = self.head("stat", path, &key).await;
            let told = told.map_err(|failure| failure.error)?;
            if let Some(told) = &told {
                self.remember(&key, told);
            }
            Ok(told.map(|told| told.meta))
        })
    }

    fn get<'a>(&'a self, path: &'a VPath, range: Option<Range<u64>>) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            match range {
                Some(range) => self.part(path, range).await,
                None => self.file(path).await,
            }
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
            let prefix = self.client.bucket.key_prefix(dir, "");
            let token = from.as_ref().map(|cursor| &*cursor.0);
            let page = self
                .page("list", &prefix, depth == Depth::One, token)
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

    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut pages = Box::pin(self.pages("list", scope));
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

    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let answers: Vec<_> = stream::iter(paths)
                .map(|path| self.file(path))
                .buffered(self.concurrency)
                .collect()
                .await;
            answers.into_iter().collect()
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let Scan { scope, want, .. } = scan;
            // More are begun than may be under way, so that one slow body holds up nobody.
            let ahead = self.concurrency.saturating_mul(4);
            let mut files = Box::pin(
                self.pages("search", scope)
                    .flat_map(|page| {
                        let entries: Vec<Result<Entry>> = match page {
                            Ok(entries) => entries
                                .into_iter()
                                .filter(|entry| want(&entry.path, &entry.meta))
                                .map(Ok)
                                .collect(),
                            Err(error) => vec![Err(error)],
                        };
                        stream::iter(entries)
                    })
                    .map(|entry| async move {
                        let Entry { path, meta } = entry?;
                        let file = self.listed_file(&path, &meta).await?;
                        Ok(file.map(|file| (path, file)))
                    })
                    .buffered(ahead),
            );
            while let Some(found) = files.next().await {
                let found: Option<(VPath, File)> = found?;
                if let Some((path, file)) = found
                    && visit(&path, &file).is_break()
                {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(
            stream::iter(files)
                .map(move |(path, file)| async move {
                    self.put_file(&path, file, PutMode::Overwrite).await
                })
                .buffered(self.concurrency)
                .collect(),
        )
    }

    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(self.remove_tree(root))
    }

    fn pause(&self, attempt: u32) -> LocalBoxFuture<'_, ()> {
        let most = 10.0 * f64::from(1u32 << attempt.min(6));
        let millis = most * random::unit();
        timer::sleep(Duration::from_secs_f64(millis / 1000.0))
    }
}
