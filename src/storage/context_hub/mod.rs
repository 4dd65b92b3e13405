//! Files in a repo of LangSmith's Context Hub, where every change is a commit on top of the
//! previous one. The tree is pulled once, on first use, and reads are served from it. Changes that
//! are made at nearly the same time become one commit. If another writer committed first, the tree
//! is pulled again and every change is re-evaluated against it: a create that came too late is
//! refused, and an edit is applied to the new text.
//!
//! [`hub`] is the interface of a repo, which `host` implements with the host's client. [`tree`]
//! holds the files and evaluates changes; this module batches and pushes them.

#[cfg(host = "javascript")]
pub mod host;
pub mod hub;
mod together;
pub mod tree;

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{FutureExt, LocalBoxFuture, Shared};

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::lock::Mutex;
use crate::core::path::VPath;
use crate::env::{clock, random, timer};
use crate::protocol::{Capability, Reach};
use crate::storage::context_hub::hub::Hub;
use crate::storage::context_hub::tree::{Change, Intent, Outcome, Tree};
use crate::storage::{
    Batch, Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, PutMode, Removed, Scan,
    Scope, Search, Storage, Trees, Version, provided,
};

/// How long a commit waits for more changes. It waits again if a change arrived meanwhile …
const GATHER: Duration = Duration::from_millis(4);
/// … up to this many times.
const GATHERINGS: u32 = 32;
/// How often a commit is retried after a conflict with another writer.
const REBASES: u32 = 40;
/// A writer that met conflicts lets at most this many others go first …
const RIVALS: u32 = 8;
/// … and waits at most this long for each of them.
const PATIENCE: Duration = Duration::from_millis(60);

/// A repo as a storage.
pub struct ContextHub<H>(Rc<Inner<H>>);

struct Inner<H> {
    hub: H,
    tree: RefCell<Option<Tree>>,
    /// Held during the first pull, so that concurrent calls pull only once.
    pulling: Mutex<()>,
    /// Source of version numbers. It only counts up, even if the tree is dropped.
    versions: Rc<std::cell::Cell<u64>>,
    /// Whether a change was just refused because another writer was first. The next commit then
    /// skips the wait for more changes; otherwise writers without conflicts would always win.
    hurry: std::cell::Cell<bool>,
    /// Number of conflicts with other writers since our last commit.
    met: std::cell::Cell<u32>,
    /// How long the next commit waits, so that writers who lost to the last one go first. Without
    /// this wait the winner is the first to try again and wins again.
    courtesy: std::cell::Cell<Duration>,
    /// Held during a commit.
    pushing: Mutex<()>,
    gathering: RefCell<Option<Gathered>>,
    last: RefCell<Option<Work>>,
}

type Outcomes = Rc<Vec<Result<Outcome>>>;
type Work = Shared<LocalBoxFuture<'static, Outcomes>>;

/// Changes that will become one commit.
struct Gathered {
    changes: Rc<RefCell<Vec<Change>>>,
    work: Work,
}

impl<H: Hub + 'static> ContextHub<H> {
    /// A storage over the files of that repo.
    pub fn new(hub: H) -> ContextHub<H> {
        ContextHub(Rc::new(Inner {
            hub,
            tree: RefCell::renewable(|| None),
            pulling: Mutex::new(()),
            versions: Rc::new(std::cell::Cell::new(0)),
            hurry: std::cell::Cell::new(false),
            met: std::cell::Cell::new(0),
            courtesy: std::cell::Cell::new(Duration::ZERO),
            pushing: Mutex::new(()),
            gathering: RefCell::new(None),
            last: RefCell::new(None),
        }))
    }

    /// Reads from the tree; pulls it first if necessary.
    async fn look<T>(&self, look: impl FnOnce(&Tree) -> T) -> Result<T> {
        self.0.loaded().await?;
        self.0.looked(look)
    }

    /// Adds changes to the next commit and waits for it. A caller that stops waiting does not
    /// affect the others: they drive the same shared future.
    async fn commit(&self, changes: Vec<Change>) -> Vec<Result<Outcome>> {
        if changes.is_empty() {
            return Vec::new();
        }
        let count = changes.len();
        let (work, at) = Inner::joined(&self.0, changes);
        let outcomes = work.await;
        (at..at.saturating_add(count))
            .map(|at| match outcomes.get(at) {
                Some(outcome) => outcome.clone(),
                None => Err(Error::internal("A commit told nothing of a change in it")),
            })
            .collect()
    }

    async fn commit_one(&self, change: Change) -> Result<Outcome> {
        let mut outcomes = self.commit(vec![change]).await;
        outcomes
            .pop()
            .unwrap_or_else(|| Err(Error::internal("A commit told nothing of a change in it")))
    }

    async fn files(&self, scope: &Scope) -> Result<Vec<(VPath, File)>> {
        self.look(|tree| tree.in_scope(scope)).await
    }
}

impl<H: Hub + 'static> Inner<H> {
    fn looked<T>(&self, look: impl FnOnce(&Tree) -> T) -> Result<T> {
        match &*self.tree.borrow() {
            Some(tree) => Ok(look(tree)),
            None => Err(Error::new(
                Kind::Unavailable,
                "The repo's files are not known after a failed commit; repeat the call",
            )),
        }
    }

    async fn pull(&self) -> Result<()> {
        let pulled = self.hub.pull().await?;
        let mut tree = self.tree.borrow_mut();
        let before = tree.take();
        *tree = Some(Tree::pulled(pulled, before, &self.versions));
        Ok(())
    }

    async fn loaded(&self) -> Result<()> {
        if self.tree.borrow().is_some() {
            return Ok(());
        }
        let _turn = self.pulling.lock().await;
        if self.tree.borrow().is_some() {
            return Ok(());
        }
        self.pull().await
    }

    /// Adds changes to the open batch, or starts a new one.
    fn joined(inner: &Rc<Inner<H>>, changes: Vec<Change>) -> (Work, usize) {
        let mut gathering = inner.gathering.borrow_mut();
        let batch = gathering.get_or_insert_with(|| {
            let gathered = Rc::new(RefCell::new(Vec::new()));
            let before = inner.last.borrow_mut().take();
            let work = Inner::work(inner.clone(), gathered.clone(), before)
                .boxed_local()
                .shared();
            *inner.last.borrow_mut() = Some(work.clone());
            Gathered {
                changes: gathered,
                work,
            }
        });
        let mut gathered = batch.changes.borrow_mut();
        let at = gathered.len();
        gathered.extend(changes);
        (batch.work.clone(), at)
    }

    /// Processes one batch: waits for the previous batch, gathers changes for a moment, then
    /// commits.
    async fn work(
        inner: Rc<Inner<H>>,
        gathered: Rc<RefCell<Vec<Change>>>,
        before: Option<Work>,
    ) -> Outcomes {
        // If a commit is still in progress, waiting for it leaves enough time to gather.
        match before.filter(|before| before.peek().is_none()) {
            Some(before) => drop(before.await),
            None if inner.hurry.replace(false) => {}
            None => {
                let courtesy = inner.courtesy.take();
                if !courtesy.is_zero() {
                    timer::sleep(courtesy).await;
                }
                let mut count = gathered.borrow().len();
                for _ in 0..GATHERINGS {
                    timer::sleep(GATHER).await;
                    let now = gathered.borrow().len();
                    if now == count {
                        break;
                    }
                    count = now;
                }
            }
        }
        let _turn = inner.pushing.lock().await;
        // From here on, changes go into the next batch.
        *inner.gathering.borrow_mut() = None;
        let changes = std::mem::take(&mut *gathered.borrow_mut());
        Rc::new(inner.pushed(&changes).await)
    }

    async fn pushed(&self, changes: &[Change]) -> Vec<Result<Outcome>> {
        let mut attempt = 0;
        loop {
            match self.pushed_once(changes, None).await {
                Ok(outcomes) => return outcomes,
                Err(error) if error.kind() == Kind::Conflict && attempt < REBASES => {
                    self.met.set(self.met.get().saturating_add(1));
                    timer::sleep(backoff(attempt)).await;
                    attempt += 1;
                    if let Err(error) = self.pull().await {
                        return self.failed(changes, &error);
                    }
                }
                Err(error) => return self.failed(changes, &error),
            }
        }
    }

    /// The state of the repo is unknown after a failure, so the next call pulls again.
    fn failed(&self, changes: &[Change], error: &Error) -> Vec<Result<Outcome>> {
        self.tree.replace(None);
        changes.iter().map(|_| Err(error.clone())).collect()
    }

    /// Commits on top of the newest commit, or only on top of `moment`, and then all changes or none.
    async fn pushed_once(
        &self,
        changes: &[Change],
        moment: Option<Rc<str>>,
    ) -> Result<Vec<Result<Outcome>>> {
        self.loaded().await?;
        let (judged, parent) =
            self.looked(|tree| (tree.judge(changes, &self.versions), tree.commit()))?;
        if let Some(moment) = moment {
            if moment != parent.clone().unwrap_or_default() {
                return Err(Error::new(
                    Kind::Conflict,
                    "Another commit was made meanwhile",
                ));
            }
            if let Some(Err(error)) = judged.outcomes.iter().find(|outcome| outcome.is_err()) {
                return Err(error.clone());
            }
        }
        let late = |outcome: &Result<Outcome>| matches!(outcome, Err(error) if error.kind() == Kind::Conflict);
        if judged.outcomes.iter().any(late) {
            self.hurry.set(true);
        }
        if judged.commit.is_empty() {
            return Ok(judged.outcomes);
        }
        let began = clock::now().micros();
        let pushed = self.hub.push(&judged.commit, parent).await?;
        let took = u64::try_from(clock::now().micros().saturating_sub(began)).unwrap_or(0);
        let each = Duration::from_micros(took).min(PATIENCE);
        self.courtesy.set(each * self.met.take().min(RIVALS));
        let is_named = pushed.is_some();
        if let Some(tree) = &mut *self.tree.borrow_mut() {
            tree.apply(judged.files, pushed.unwrap_or_default());
        }
        // The commit succeeded, but the client did not return its hash.
        if !is_named && self.pull().await.is_err() {
            self.tree.replace(None);
        }
        Ok(judged.outcomes)
    }
}

/// How long to wait before a commit is retried: a random time whose maximum grows with each
/// attempt.
fn backoff(attempt: u32) -> Duration {
    random::wait(4.0 * f64::from(attempt.min(12)) + 1.0)
}

impl<H: Hub + 'static> Storage for ContextHub<H> {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            keeps_binary: false,
            notes: vec![
                "Every change is a commit; reads show the tree as it was when this instance last \
                 pulled or committed"
                    .into(),
                "The Hub keeps no times: a file's are those at which this instance first saw it \
                 so"
                .into(),
            ],
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(self.look(|tree| tree.get(path).map(|file| file.meta)))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.look(|tree| tree.get(path)))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            let change = Change {
                path: path.clone(),
                intent: Intent::Put(file, mode),
            };
            match self.commit_one(change).await? {
                Outcome::Stored(meta) => Ok(meta),
                Outcome::Removed(_) => Err(Error::internal("A put was answered as a removal")),
            }
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            let change = Change {
                path: path.clone(),
                intent: Intent::Delete(version),
            };
            match self.commit_one(change).await? {
                Outcome::Removed(paths) => Ok(!paths.is_empty()),
                Outcome::Stored(_) => Err(Error::internal("A removal was answered as a put")),
            }
        })
    }

    fn list<'a>(&'a self, dir: &'a VPath, depth: Depth, _: Option<Cursor>) -> Pending<'a, Listing> {
        Box::pin(async move {
            let files = self.files(&Scope::all(dir)).await?;
            Listing::of_files(
                dir,
                depth,
                files.into_iter().map(|(path, file)| (path, file.meta)),
            )
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            together: Some(self),
            search: Some(self),
            batch: Some(self),
            trees: Some(self),
            ..Extras::NONE
        }
    }
}

impl<H: Hub + 'static> Search for ContextHub<H> {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for (path, file) in self.files(find.scope).await? {
                if visit(&path, &file.meta).is_break() {
                    break;
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
        Box::pin(async move {
            for (path, file) in self.files(scan.scope).await? {
                if (scan.want)(&path, &file.meta) && visit(&path, &file).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

impl<H: Hub + 'static> Batch for ContextHub<H> {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        provided::get_each(self, paths)
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let changes = files.into_iter().map(|(path, file)| Change {
                path,
                intent: Intent::Put(file, PutMode::Overwrite),
            });
            let outcomes = self.commit(changes.collect()).await;
            outcomes
                .into_iter()
                .map(|outcome| match outcome? {
                    Outcome::Stored(meta) => Ok(meta),
                    Outcome::Removed(_) => Err(Error::internal("A put was answered as a removal")),
                })
                .collect()
        })
    }
}

impl<H: Hub + 'static> Trees for ContextHub<H> {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let change = Change {
                path: root.clone(),
                intent: Intent::DeleteTree,
            };
            match self.commit_one(change).await {
                Ok(Outcome::Removed(paths)) => Removed {
                    paths,
                    ..Removed::default()
                },
                Ok(Outcome::Stored(_)) => Removed::default(),
                Err(error) => Removed::failed(error),
            }
        })
    }
}

#[cfg(test)]
mod tests;
