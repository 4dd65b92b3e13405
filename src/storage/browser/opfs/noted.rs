//! How changes and name searches of an [`Opfs`] use the ledger. Without a ledger, a change is just
//! made, and a search looks at the files. A change does not begin if its start cannot be recorded.
//! Recording its end may fail, since an open row is always safe. [`copies`](super::copies)
//! describes how grep uses the ledger.

use std::future::Future;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::env::locks::Held;
use crate::storage::browser::opfs::ledger::{Ended, Ledger, Outcome};
use crate::storage::browser::opfs::row::Row;
use crate::storage::browser::opfs::tree::{self, Found};
use crate::storage::browser::opfs::{Opfs, is_reserved, known, many, mend};
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Entry, Meta, PARALLEL, Scope};

/// Maximum number of changes that are recorded in one transaction.
const BATCH: usize = 500;

impl Opfs {
    /// The ledger and the name of its tree, if there is one. It is used only in the origin-private
    /// file system, which the user cannot access directly.
    pub(super) async fn ledger(&self) -> Result<Option<(&Ledger, String)>> {
        let Some(ledger) = &self.ledger else {
            return Ok(None);
        };
        let base = self.tree.base().await?;
        Ok(base.private.then_some((ledger, base.name)))
    }

    /// Runs a change of one file and records its start and end. `body` is the new content, if the
    /// change writes. The caller holds the file's lock.
    pub(super) async fn noting<T>(
        &self,
        path: &VPath,
        body: Option<Bytes>,
        change: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        // The directory of temporary files is not part of the tree; changes in it are refused.
        let Some((ledger, tree)) = self.ledger().await?.filter(|_| !is_reserved(path)) else {
            return change.await;
        };
        self.begin_in_empty(ledger, &tree).await;
        let _changing = open(ledger, &tree, std::slice::from_ref(path)).await?;
        let answer = change.await;
        let ended = Ended {
            path: path.clone(),
            outcome: self.outcome(path).await,
            body: body.filter(|_| answer.is_ok()),
        };
        close(ledger, &tree, vec![ended]).await;
        answer
    }

    /// Runs and records a change of each of these files, by index. `body` returns the new content
    /// for an index, if the change writes. Each change takes its own lock.
    pub(super) async fn noting_all<T, F>(
        &self,
        paths: &[VPath],
        body: impl Fn(usize) -> Option<Bytes>,
        change: impl Fn(usize) -> F,
    ) -> Vec<Result<T>>
    where
        F: Future<Output = Result<T>>,
    {
        let mut answers = Vec::with_capacity(paths.len());
        let ledger = match self.ledger().await {
            Ok(ledger) => ledger,
            Err(error) => return paths.iter().map(|_| Err(error.clone())).collect(),
        };
        if let Some((ledger, tree)) = &ledger {
            self.begin_in_empty(ledger, tree).await;
        }
        for (number, batch) in paths.chunks(BATCH).enumerate() {
            let _changing = match &ledger {
                None => None,
                Some((ledger, tree)) => match open(ledger, tree, batch).await {
                    Ok(changing) => changing,
                    Err(error) => {
                        answers.extend(batch.iter().map(|_| Err(error.clone())));
                        continue;
                    }
                },
            };
            let first = number * BATCH;
            let done: Vec<(Result<T>, Outcome)> = stream::iter(batch.iter().enumerate())
                .map(|(at, path)| {
                    let answer = change(first + at);
                    async move {
                        let answer = answer.await;
                        let outcome = match self.ledger {
                            Some(_) => self.outcome(path).await,
                            None => Outcome::Unknown,
                        };
                        (answer, outcome)
                    }
                })
                .buffered(PARALLEL)
                .collect()
                .await;
            let mut ended = Vec::new();
            for (at, (path, (answer, outcome))) in batch.iter().zip(done).enumerate() {
                ended.push(Ended {
                    path: path.clone(),
                    outcome,
                    body: body(first + at).filter(|_| answer.is_ok()),
                });
                answers.push(answer);
            }
            if let Some((ledger, tree)) = &ledger {
                close(ledger, tree, ended).await;
            }
        }
        answers
    }

    /// The state of a file after a change.
    pub(super) async fn outcome(&self, path: &VPath) -> Outcome {
        if is_reserved(path) {
            return Outcome::Gone;
        }
        let handle = match self.tree.find(path).await {
            Ok(Found::File(handle)) => handle,
            Ok(_) => return Outcome::Gone,
            Err(_) => return Outcome::Unknown,
        };
        match tree::snapshot(&handle).await {
            Ok(seen) => Outcome::File {
                size: seen.size,
                modified: seen.modified,
            },
            Err(_) => Outcome::Unknown,
        }
    }

    /// The rows in scope; `None` if there is no ledger or it cannot be used now. A ledger that does
    /// not exist yet is created, and rows that were left open are closed.
    pub(super) async fn rows(&self, scope: &Scope) -> Option<Vec<(VPath, Row)>> {
        let (ledger, tree) = self.ledger().await.ok()??;
        let rows = ledger.rows(&tree, scope).await.ok()?;
        let changed = match &rows {
            None => self.begin_ledger(ledger, &tree).await.ok()?,
            // Open rows do not prevent a search.
            Some(rows) => self.mend(ledger, &tree, rows).await.unwrap_or_default(),
        };
        if changed {
            return ledger.rows(&tree, scope).await.ok()?;
        }
        rows
    }

    /// The metadata of the wanted files from the ledger, if it can be used.
    pub(super) async fn noted(
        &self,
        scope: &Scope,
        want: &dyn Fn(&VPath) -> bool,
    ) -> Option<Vec<Entry>> {
        let mut wanted = self.rows(scope).await?;
        wanted.retain(|(path, _)| want(path));
        let looks = wanted.into_iter().map(|(path, row)| async move {
            match row {
                Row::Settled { meta, .. } => Ok(Some(Entry { path, meta })),
                Row::Open { .. } => {
                    let meta = match self.outcome(&path).await {
                        Outcome::File { size, modified } => Meta::of(size, modified),
                        Outcome::Gone => return Ok(None),
                        Outcome::Unknown => return Err(()),
                    };
                    Ok(Some(Entry { path, meta }))
                }
            }
        });
        let seen: Vec<std::result::Result<Option<Entry>, ()>> =
            stream::iter(looks).buffered(PARALLEL).collect().await;
        let seen: std::result::Result<Vec<Option<Entry>>, ()> = seen.into_iter().collect();
        Some(seen.ok()?.into_iter().flatten().collect())
    }

    /// The first sheets of a directory; `None` if the ledger cannot be used.
    pub(super) async fn beginning_of(&self, dir: &VPath) -> Option<Vec<Sheet>> {
        let (ledger, tree) = self.ledger().await.ok()??;
        ledger.beginning_of(&tree, dir).await.ok()?
    }

    /// Divides the files of a directory, in order, into settled files and files that must still be
    /// looked at. `beginning` may already contain some of their rows.
    pub(super) async fn settled_among(
        &self,
        files: Vec<tree::Entry>,
        beginning: Option<Vec<Sheet>>,
    ) -> (Vec<Entry>, Vec<tree::Entry>) {
        let Some(sheets) = beginning else {
            return (Vec::new(), files);
        };
        let row = |path| sheets.iter().find(|sheet| sheet.reaches(path))?.get(path);
        let last = sheets.last();
        let reached = |entry: &tree::Entry| last.is_some_and(|sheet| sheet.reaches(&entry.path));
        let (near, far) = files.split_at(files.partition_point(reached));
        let mut metas: Vec<Option<Meta>> = near
            .iter()
            .map(|entry| Row::read(row(&entry.path)?).settled())
            .collect();
        if !far.is_empty()
            && let Ok(Some((ledger, tree))) = self.ledger().await
        {
            let paths = far.iter().map(|entry| &entry.path);
            let further = ledger.settled(&tree, paths).await.ok().flatten();
            metas.extend(further.unwrap_or_default());
        }
        let mut metas = metas.into_iter();
        let (mut settled, mut others) = (Vec::new(), Vec::new());
        for entry in files {
            match metas.next().flatten() {
                Some(meta) => settled.push(Entry {
                    path: entry.path,
                    meta,
                }),
                None => others.push(entry),
            }
        }
        (settled, others)
    }

    /// Creates the ledger of a tree that is still empty, so that every file gets a copy.
    async fn begin_in_empty(&self, ledger: &Ledger, tree: &str) {
        let begin = async {
            if ledger.is_new(tree).await? && self.is_empty().await? {
                self.begin_ledger(ledger, tree).await?;
            }
            Ok::<(), Error>(())
        };
        // After a failure, the ledger can still be created later.
        let _ = begin.await;
    }

    async fn is_empty(&self) -> Result<bool> {
        let base = self.tree.base().await?;
        let root = VPath::root();
        let entries = many::entries(&root, &base.handle).await;
        let entries = entries.map_err(|thrown| tree::failed(&root, thrown))?;
        Ok(entries.is_empty())
    }

    /// Lists the whole tree; returns whether the result was stored.
    async fn begin_ledger(&self, ledger: &Ledger, tree: &str) -> Result<bool> {
        let Some(number) = ledger.begin(tree).await? else {
            return Ok(false);
        };
        let mut files = Vec::new();
        for batch in self
            .files_in(&Scope::all(&VPath::root()))
            .await?
            .chunks(many::LOOKS)
        {
            for (entry, seen) in batch.iter().zip(many::snapshots(batch).await?) {
                if let Some(seen) = seen {
                    files.push(Entry {
                        path: entry.path.clone(),
                        meta: known(&seen),
                    });
                }
            }
        }
        ledger.complete(tree, number, files).await
    }
}

/// Records that changes of these files begin.
async fn open(ledger: &Ledger, tree: &str, paths: &[VPath]) -> Result<Option<Held>> {
    let changing = mend::changing(tree).await?;
    let paths: Vec<&VPath> = paths.iter().collect();
    ledger.open(tree, &paths).await?;
    Ok(changing)
}

/// Records that changes are over; without copies if there is no room for them.
async fn close(ledger: &Ledger, tree: &str, mut ended: Vec<Ended>) {
    let closed = ledger.close(tree, ended.clone()).await;
    if closed.is_err() && ended.iter().any(|ended| ended.body.is_some()) {
        for ended in &mut ended {
            ended.body = None;
        }
        let _ = ledger.close(tree, ended).await;
    }
}
