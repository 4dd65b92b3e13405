//! Changes of a cached storage. A change does not begin if its start cannot be recorded. Recording
//! its end may fail, since an open row is always safe. Every recorded change holds a shared lock of
//! its files. So a holder of the exclusive lock knows that no change is in progress, and that the
//! current state of a file is final: rows that stayed open although nobody is changing their files
//! (a tab died, two changes overlapped) are closed then.

use std::future::Future;

use bytes::Bytes;

use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::clock;
use crate::env::locks::{self, Held, Wish};
use crate::storage::browser::cached::ledger::{Ended, Outcome};
use crate::storage::browser::cached::row::{Row, to_copy};
use crate::storage::browser::cached::{Cached, Slow};
use crate::storage::browser::parallel::in_parallel;
use crate::storage::{Entry, Find, Flow, Meta, NewFile, Removed, Scope};

/// Maximum number of changes that are recorded in one transaction.
const BATCH: usize = 500;

/// Maximum number of rows that one search closes.
const CLOSED: usize = 1024;

/// Microseconds after which the last request of a dead tab has certainly been executed or dropped.
const LANDING: i64 = 5_000_000;

impl<S: Slow> Cached<S> {
    /// Runs a change of one file and records its start and end. The change also returns the bytes
    /// to copy if it succeeds.
    pub(super) async fn recorded<T>(
        &self,
        path: &VPath,
        change: impl Future<Output = (Result<T>, Option<Bytes>)>,
    ) -> Result<T> {
        let place = self.storage.place().await?;
        self.begin_if_empty(&place).await;
        let _changing = self.open(&place, std::slice::from_ref(path)).await?;
        let (answer, body) = change.await;
        let body = body.filter(|_| answer.is_ok());
        let outcome = outcome_of(self.storage.stat(path).await);
        let path = path.clone();
        let ended = vec![Ended {
            path,
            outcome,
            body,
        }];
        self.close(&place, ended).await;
        answer
    }

    /// Stores and records many files.
    pub(super) async fn put_recorded(&self, files: Vec<(VPath, NewFile)>) -> Vec<Result<Meta>> {
        let mut answers = Vec::with_capacity(files.len());
        for batch in files.chunks(BATCH) {
            let paths: Vec<VPath> = batch.iter().map(|(path, _)| path.clone()).collect();
            let put = self.storage.put_many(batch.to_vec());
            let body = |at: usize| batch.get(at).and_then(|(_, file)| to_copy(&file.body));
            answers.extend(self.recorded_all(&paths, body, put).await);
        }
        answers
    }

    /// Deletes everything at and below `root`, and records it.
    pub(super) async fn delete_recorded(&self, root: &VPath) -> Removed {
        let mut removed = Removed::default();
        let paths = match self.paths(&Scope::all(root)).await {
            Ok(paths) => paths,
            Err(error) => {
                removed.error = Some(error);
                return removed;
            }
        };
        for batch in paths.chunks(BATCH) {
            let delete = in_parallel(batch.iter().map(|path| self.storage.delete(path, None)));
            let answers: Vec<Result<bool>> = self.recorded_all(batch, |_| None, delete).await;
            for (path, answer) in batch.iter().zip(answers) {
                match answer {
                    Ok(true) => removed.paths.push(path.clone()),
                    Ok(false) => {}
                    Err(error) => {
                        removed.error.get_or_insert(error);
                    }
                }
            }
        }
        match self.storage.remove_directories(root).await {
            Ok(gone) => removed.directories = gone,
            Err(error) => {
                removed.error.get_or_insert(error);
            }
        }
        removed
    }

    /// Runs a change of several files, which returns one result for each, and records its start and
    /// end. `body` returns the bytes to copy of a file, by index.
    async fn recorded_all<T>(
        &self,
        paths: &[VPath],
        body: impl Fn(usize) -> Option<Bytes>,
        change: impl Future<Output = Vec<Result<T>>>,
    ) -> Vec<Result<T>> {
        let opened = async {
            let place = self.storage.place().await?;
            self.begin_if_empty(&place).await;
            let changing = self.open(&place, paths).await?;
            Ok::<_, Error>((place, changing))
        };
        let (place, _changing) = match opened.await {
            Ok(opened) => opened,
            Err(error) => return paths.iter().map(|_| Err(error.clone())).collect(),
        };
        let answers = change.await;
        let outcomes = self.outcomes(paths).await;
        let ended = paths.iter().zip(outcomes).enumerate();
        let ended = ended.map(|(at, (path, outcome))| Ended {
            path: path.clone(),
            outcome,
            body: body(at).filter(|_| answers.get(at).is_some_and(Result::is_ok)),
        });
        self.close(&place, ended.collect()).await;
        answers
    }

    /// The states of these files in the storage.
    pub(super) async fn outcomes(&self, paths: &[VPath]) -> Vec<Outcome> {
        let looks = in_parallel(paths.iter().map(|path| self.storage.stat(path))).await;
        looks.into_iter().map(outcome_of).collect()
    }

    /// Records that changes of these files begin.
    async fn open(&self, place: &str, paths: &[VPath]) -> Result<Option<Held>> {
        let changing = locks::take(&self.ledger.lock(place), Wish::Together).await?;
        let paths: Vec<&VPath> = paths.iter().collect();
        self.ledger.open(place, &paths).await?;
        Ok(changing)
    }

    /// Records that changes are over; without copies if there is no room for them.
    async fn close(&self, place: &str, mut ended: Vec<Ended>) {
        let closed = self.ledger.close(place, ended.clone()).await;
        if closed.is_err() && ended.iter().any(|ended| ended.body.is_some()) {
            for ended in &mut ended {
                ended.body = None;
            }
            let _ = self.ledger.close(place, ended).await;
        }
    }

    /// Closes those of the rows that were left open, unless a change is in progress; returns
    /// whether any row was closed.
    pub(super) async fn mend(&self, place: &str, rows: &[(VPath, Row)]) -> Result<bool> {
        let landed = Time::from_micros(clock::now().micros().saturating_sub(LANDING));
        let left = rows.iter().filter_map(|(path, row)| match row {
            Row::Open { since } => (*since < landed).then_some(path),
            Row::Settled { .. } => None,
        });
        let left: Vec<VPath> = left.take(CLOSED).cloned().collect();
        if left.is_empty() {
            return Ok(false);
        }
        let Some(_alone) = locks::take(&self.ledger.lock(place), Wish::IfFree).await? else {
            return Ok(false);
        };
        let outcomes = self.outcomes(&left).await;
        let seen = left.into_iter().zip(outcomes);
        let seen = seen.map(|(path, outcome)| Ended {
            path,
            outcome,
            body: None,
        });
        self.ledger.mend(place, seen.collect(), landed).await
    }

    /// Begins to record files while there are none, so that every file gets a copy.
    async fn begin_if_empty(&self, place: &str) {
        let begin = async {
            if self.ledger.is_new(place).await? {
                let names = self.storage.names(&VPath::root()).await?;
                if names.files.is_empty() && names.dirs.is_empty() {
                    self.begin(place).await?;
                }
            }
            Ok::<(), Error>(())
        };
        // After a failure, it can still be done later.
        let _ = begin.await;
    }

    /// Lists all files; returns whether the result was stored.
    pub(super) async fn begin(&self, place: &str) -> Result<bool> {
        let Some(number) = self.ledger.begin(place).await? else {
            return Ok(false);
        };
        let mut files = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            let (path, meta) = (path.clone(), meta.clone());
            files.push(Entry { path, meta });
            Flow::Continue(())
        };
        let everything = Scope::all(&VPath::root());
        self.storage.walk(&everything, &mut collect).await?;
        self.ledger.complete(place, number, files).await
    }

    /// The paths in scope, without looking at the files: a search by name that wants none of them.
    async fn paths(&self, scope: &Scope) -> Result<Vec<VPath>> {
        let paths = crate::core::cell::RefCell::new(Vec::new());
        let want = &|path: &VPath| {
            paths.borrow_mut().push(path.clone());
            false
        };
        let find = Find { scope, want };
        self.storage
            .find(find, &mut |_, _| Flow::Continue(()))
            .await?;
        Ok(paths.replace(Vec::new()))
    }
}

fn outcome_of(seen: Result<Option<Meta>>) -> Outcome {
    match seen {
        Ok(Some(Meta { size, modified, .. })) => Outcome::File { size, modified },
        Ok(None) => Outcome::Gone,
        Err(_) => Outcome::Unknown,
    }
}
