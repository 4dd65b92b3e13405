//! How grep reads a cached storage: copies of small files come from the database, many neighbours
//! at once; files without a copy come from the storage, and are copied then if they are small. A
//! copy exists only while no change of its file is in progress, so every match that a search shows
//! was really in the file. Copies are stored between two batches of files.

use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::clock;
use crate::storage::browser::cached::ledger;
use crate::storage::browser::cached::row::{Row, to_copy};
use crate::storage::browser::cached::{Cached, Slow};
use crate::storage::browser::database::runs::{Run, runs};
use crate::storage::browser::parallel::in_parallel;
use crate::storage::{File, Flow, Meta, Scan, Scope};

/// Up to this many neighbours without a copy are fetched one by one; more of them are searched by
/// the storage itself.
const SINGLES: usize = 64;
/// Maximum number of neighbours without a copy that are searched, and copied, at once.
const BARE: usize = 1024;
/// Larger files are fetched when the visitor gets to them, and not before.
const LARGE: u64 = 4 * 1024 * 1024;
/// Number of pieces in progress.
const AHEAD: usize = 6;
/// In microseconds. A file that changed more recently could change again with the same time stamp.
const SETTLING: i64 = 5_000_000;

/// Consecutive files of a search.
pub(super) enum Piece {
    /// Files with copies.
    Copied(Run),
    /// Files without copies.
    Bare(Vec<Bare>),
}

/// A file without a copy.
pub(super) struct Bare {
    path: VPath,
    /// Its metadata, if it is settled.
    meta: Option<Meta>,
}

/// Files to show, in order.
enum Show {
    /// A file with its bytes.
    File(VPath, File),
    /// A large file, to be fetched.
    Large(VPath),
    /// Files to be searched by the storage.
    Many(Vec<Bare>),
}

/// Divides sorted files into pieces.
struct Cutter<'a> {
    root: &'a VPath,
    pieces: Vec<Piece>,
    copied: Vec<(VPath, Meta, bool)>,
    bare: Vec<Bare>,
}

impl Cutter<'_> {
    fn copied(&mut self, path: VPath, meta: Meta, wanted: bool) {
        if wanted {
            self.close_bare();
        }
        self.copied.push((path, meta, wanted));
    }

    fn bare(&mut self, path: VPath, meta: Option<Meta>) {
        self.close_copied();
        self.bare.push(Bare { path, meta });
        if self.bare.len() == BARE {
            self.close_bare();
        }
    }

    fn close_copied(&mut self) {
        let copied = std::mem::take(&mut self.copied);
        let runs = runs(self.root, copied).into_iter();
        self.pieces.extend(runs.map(Piece::Copied));
    }

    fn close_bare(&mut self) {
        let bare = std::mem::take(&mut self.bare);
        if !bare.is_empty() {
            self.pieces.push(Piece::Bare(bare));
        }
    }
}

impl<S: Slow> Cached<S> {
    /// The wanted files according to the cache; `None` if it cannot be used.
    pub(super) async fn pieces(&self, scan: &Scan<'_>) -> Option<Vec<Piece>> {
        let rows = self.rows(scan.scope).await?;
        let mut cutter = Cutter {
            root: &scan.scope.root,
            pieces: Vec::new(),
            copied: Vec::new(),
            bare: Vec::new(),
        };
        for (path, row) in rows {
            match row {
                Row::Settled { meta, copied: true } => {
                    let wanted = (scan.want)(&path, &meta);
                    cutter.copied(path, meta, wanted);
                }
                Row::Settled { meta, .. } => {
                    if (scan.want)(&path, &meta) {
                        cutter.bare(path, Some(meta));
                    }
                }
                Row::Open { .. } => {
                    if (scan.names)(&path) {
                        cutter.bare(path, None);
                    }
                }
            }
        }
        cutter.close_copied();
        cutter.close_bare();
        Some(cutter.pieces)
    }

    pub(super) async fn scan_pieces(
        &self,
        pieces: Vec<Piece>,
        scan: &Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let mut batches = stream::iter(pieces)
            .map(|piece| async {
                match piece {
                    Piece::Copied(run) => self.copied(run, scan).await,
                    Piece::Bare(files) if files.len() > SINGLES => {
                        Ok((vec![Show::Many(files)], Vec::new()))
                    }
                    Piece::Bare(files) => self.bare(files, scan).await,
                }
            })
            .buffered(AHEAD);
        // Stored here and not by the pieces: a piece is not polled while the visitor pauses, and its
        // transaction would end.
        let mut found = Vec::new();
        while let Some(batch) = batches.next().await {
            let (batch, more) = batch?;
            found.extend(more);
            for shown in batch {
                let flow = match shown {
                    Show::File(path, file) => visit(&path, &file),
                    Show::Large(path) => match self.storage.get(&path).await? {
                        Some(file) => visit(&path, &file),
                        None => Flow::Continue(()),
                    },
                    Show::Many(files) => self.many(files, scan, visit, &mut found).await?,
                };
                if flow.is_break() {
                    self.keep(found, scan).await;
                    return Ok(());
                }
            }
            if found.len() >= BARE {
                self.keep(std::mem::take(&mut found), scan).await;
            }
        }
        self.keep(found, scan).await;
        Ok(())
    }

    /// The wanted files of a run. Files whose copy no longer exists are fetched from the storage.
    async fn copied(&self, run: Run, scan: &Scan<'_>) -> Result<(Vec<Show>, Vec<ledger::Found>)> {
        let paths: Vec<&VPath> = run.files.iter().map(|(path, ..)| path).collect();
        let place = self.storage.place().await?;
        let copies = self.ledger.copies(&place, &paths).await.unwrap_or_default();
        let mut copies = copies.into_iter();
        let mut files = Vec::new();
        for (path, meta, wanted) in run.files {
            match copies.next().flatten() {
                _ if !wanted => {}
                Some(body) => files.push(Show::File(path, File { meta, body })),
                None => files.extend(self.bare(vec![Bare { path, meta: None }], scan).await?.0),
            }
        }
        Ok((files, Vec::new()))
    }

    /// The wanted ones of a few files, fetched from the storage, and those to copy.
    async fn bare(
        &self,
        files: Vec<Bare>,
        scan: &Scan<'_>,
    ) -> Result<(Vec<Show>, Vec<ledger::Found>)> {
        let is_large = |meta: &Meta| meta.size > LARGE;
        let is_large = |bare: &Bare| bare.meta.as_ref().is_some_and(is_large);
        let small = files.iter().filter(|bare| !is_large(bare));
        let gets = in_parallel(small.map(|bare| self.storage.get(&bare.path))).await;
        let mut gets = gets.into_iter();
        let mut fetched = Vec::new();
        for bare in &files {
            let path = &bare.path;
            if is_large(bare) {
                fetched.push(Show::Large(path.clone()));
                continue;
            }
            let file = gets.next().transpose()?.flatten();
            let file = file.filter(|file| (scan.want)(path, &file.meta));
            fetched.extend(file.map(|file| Show::File(path.clone(), file)));
        }
        let mut copies = Copies::of(files);
        for shown in &fetched {
            if let Show::File(path, file) = shown {
                copies.read(path, file);
            }
        }
        Ok((fetched, copies.found))
    }

    /// Lets the storage search many neighbours, and adds those to copy.
    async fn many(
        &self,
        files: Vec<Bare>,
        scan: &Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
        found: &mut Vec<ledger::Found>,
    ) -> Result<Flow> {
        let scope = around(scan.scope, &files);
        let sought = |path: &VPath| {
            let found = files.binary_search_by(|file| file.path.cmp(path));
            found.is_ok() && (scan.names)(path)
        };
        let part = Scan {
            scope: &scope,
            names: &sought,
            want: &|path, meta| sought(path) && (scan.want)(path, meta),
            by_name: true,
            literal: scan.literal,
            texts: scan.texts,
            query: scan.query,
            splits: scan.splits,
            is_behind: scan.is_behind,
        };
        let mut read = Vec::new();
        let mut flow = Flow::Continue(());
        let mut visit_and_copy = |path: &VPath, file: &File| {
            if to_copy(&file.body).is_some() {
                read.push((path.clone(), file.clone()));
            }
            flow = visit(path, file);
            flow
        };
        self.storage.scan(part, &mut visit_and_copy).await?;
        let mut copies = Copies::of(files);
        for (path, file) in &read {
            copies.read(path, file);
        }
        found.extend(copies.found);
        Ok(flow)
    }

    /// Stores copies, once the visitor has searched what it set aside. The search continues even if
    /// this fails.
    async fn keep(&self, found: Vec<ledger::Found>, scan: &Scan<'_>) {
        poll_fn(|_| match (scan.is_behind)() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
        if let Ok(place) = self.storage.place().await {
            let _ = self.ledger.copy(&place, found).await;
        }
    }
}

/// A narrower scope that contains all these files, which must be sorted.
fn around(scope: &Scope, files: &[Bare]) -> Scope {
    let (Some(first), Some(last)) = (files.first(), files.last()) else {
        return scope.clone();
    };
    let (first, last) = (first.path.parent(), last.path.parent());
    let mut root = first;
    while last.relative_to(&root).is_none() {
        root = root.parent();
    }
    match root.relative_to(&scope.root) {
        Some(_) => Scope::all(&root),
        None => scope.clone(),
    }
}

/// Collects files that are worth a copy: small ones whose content still matches their rows.
struct Copies {
    bare: std::iter::Peekable<std::vec::IntoIter<Bare>>,
    settled: i64,
    found: Vec<ledger::Found>,
}

impl Copies {
    fn of(files: Vec<Bare>) -> Copies {
        Copies {
            bare: files.into_iter().peekable(),
            settled: clock::now().micros().saturating_sub(SETTLING),
            found: Vec::new(),
        }
    }

    /// A file was read. Its path must come after all paths of previous calls.
    fn read(&mut self, path: &VPath, file: &File) {
        while self.bare.next_if(|bare| bare.path < *path).is_some() {}
        let Some(Bare { path, meta }) = self.bare.next_if(|bare| bare.path == *path) else {
            return;
        };
        let (size, modified) = (file.meta.size, file.meta.modified);
        let is_current = |meta: &Meta| {
            meta.size == size && meta.modified == modified && modified.micros() < self.settled
        };
        let body: Option<Bytes> = to_copy(&file.body);
        if let (Some(meta), Some(body)) = (meta.filter(is_current), body) {
            self.found.push(ledger::Found { path, meta, body });
        }
    }
}
