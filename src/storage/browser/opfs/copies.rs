//! How grep reads a tree that has a ledger: copies of small files come from the database, many
//! neighbours at once; files without a copy are read themselves, and files from before the ledger
//! are copied at that time. A copy exists only while no change of its file is in progress, so every
//! match that a search shows was really in the file.

use futures_util::StreamExt;
use futures_util::stream;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::clock;
use crate::storage::browser::database::runs::{Run, runs};
use crate::storage::browser::opfs::ledger;
use crate::storage::browser::opfs::row::{Row, to_copy};
use crate::storage::browser::opfs::search::{AHEAD, READS, Wanted, loaded, show_all};
use crate::storage::browser::opfs::tree::{self, Found};
use crate::storage::browser::opfs::{Opfs, is_reserved};
use crate::storage::{File, Flow, Meta, PARALLEL, Scan};

/// Up to this many files without a copy are looked up one by one; for more of them the tree is
/// listed.
const SOUGHT: usize = 64;

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
        if self.bare.len() == READS {
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

/// The files of the tree in order, if it was listed for files without a copy.
type Listed = Option<Vec<tree::Entry>>;

impl Opfs {
    /// The wanted files according to the ledger; `None` if the ledger cannot be used.
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
        let bare = pieces.iter().map(|piece| match piece {
            Piece::Copied(_) => 0,
            Piece::Bare(files) => files.len(),
        });
        let listed: Listed = if bare.sum::<usize>() > SOUGHT {
            Some(self.files_in(scan.scope).await?)
        } else {
            None
        };
        let listed = &listed;
        let mut batches = stream::iter(pieces)
            .map(|piece| async move {
                match piece {
                    Piece::Copied(run) => self.copied(run, scan).await,
                    Piece::Bare(files) => self.bare(files, listed, scan).await,
                }
            })
            .buffered(AHEAD);
        show_all(&mut batches, visit).await
    }

    /// The wanted files of a run. Files whose copy no longer exists are read themselves.
    async fn copied(&self, run: Run, scan: &Scan<'_>) -> Result<Vec<Wanted>> {
        let paths: Vec<&VPath> = run.files.iter().map(|(path, ..)| path).collect();
        let copies = match self.ledger().await? {
            Some((ledger, tree)) => ledger.copies(&tree, &paths).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let mut copies = copies.into_iter();
        let mut files = Vec::new();
        for (path, meta, wanted) in run.files {
            let copy = copies.next().flatten();
            match copy {
                _ if !wanted => {}
                Some(body) => files.push(Wanted::Here(path, File { meta, body })),
                None => {
                    let bare = Bare { path, meta: None };
                    files.extend(self.bare(vec![bare], &None, scan).await?);
                }
            }
        }
        Ok(files)
    }

    async fn bare(
        &self,
        files: Vec<Bare>,
        listed: &Listed,
        scan: &Scan<'_>,
    ) -> Result<Vec<Wanted>> {
        let entries: Vec<tree::Entry> = match listed {
            Some(listed) => files
                .iter()
                .filter_map(|Bare { path, .. }| {
                    let at = listed.binary_search_by(|entry| entry.path.cmp(path)).ok()?;
                    listed.get(at).cloned()
                })
                .collect(),
            None => {
                let sought = stream::iter(&files).map(|Bare { path, .. }| self.sought(path));
                let found: Vec<_> = sought.buffered(PARALLEL).collect().await;
                let found: Result<Vec<_>> = found.into_iter().collect();
                found?.into_iter().flatten().collect()
            }
        };
        let wanted = loaded(&entries, scan.want).await?;
        if let Some((ledger, tree)) = self.ledger().await? {
            // The search continues even if copying fails.
            let _ = ledger.copy(&tree, worth_copying(files, &wanted)).await;
        }
        Ok(wanted)
    }

    async fn sought(&self, path: &VPath) -> Result<Option<tree::Entry>> {
        if is_reserved(path) {
            return Ok(None);
        }
        let Found::File(handle) = self.tree.find(path).await? else {
            return Ok(None);
        };
        Ok(Some(tree::Entry {
            path: path.clone(),
            handle,
            is_dir: false,
        }))
    }
}

/// The files whose content still matches their rows.
fn worth_copying(files: Vec<Bare>, read: &[Wanted]) -> Vec<ledger::Found> {
    let settled = clock::now().micros().saturating_sub(SETTLING);
    let mut read = read.iter().peekable();
    let mut worth = Vec::new();
    for Bare { path, meta } in files {
        let Some(Wanted::Here(_, file)) = read.next_if(|wanted| *wanted.path() == path) else {
            continue;
        };
        let Some(meta) = meta.filter(|meta| {
            let (size, modified) = (file.meta.size, file.meta.modified);
            meta.size == size && meta.modified == modified && modified.micros() < settled
        }) else {
            continue;
        };
        if let Some(body) = to_copy(&file.body) {
            worth.push(ledger::Found { path, meta, body });
        }
    }
    worth
}
