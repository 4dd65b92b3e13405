//! Files in a repo of LangSmith's Context Hub, where every change is a commit over the one
//! before. The tree is pulled once, when it is first needed; reads are answered from it. Changes
//! that come close together become one commit; where another writer committed first, the tree is
//! pulled anew and every change is judged again on what is there now, so that a create that came
//! too late is refused and an edit is made again on the fresh text.
//!
//! [`tree`] holds the files and judges changes; here they are gathered and pushed. How a client
//! is called is `host`'s business.

#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod tree;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{FutureExt, LocalBoxFuture, Shared};

use crate::backend::context_hub::tree::{Change, Intent, Outcome, Tree};
use crate::cell::RefCell;
use crate::env::{clock, random, timer};
use crate::error::{Error, Kind, Result};
use crate::lock::Mutex;
use crate::path::VPath;
use crate::protocol::{Capability, Reach};
use crate::storage::{
    Cursor, Depth, File, Flow, Listing, Meta, NewFile, Pending, PutMode, Removed, Scan, Scope,
    Storage, Version,
};

/// A commit waits for more changes to take along, as long as one came in so short a time …
const GATHER: Duration = Duration::from_millis(4);
/// … and so many times at most.
const GATHERINGS: u32 = 32;
/// Times a commit is made again over another writer's.
const REBASES: u32 = 40;
/// A writer that met others lets so many of them go first at most …
const RIVALS: u32 = 8;
/// … and waits no longer for each than this.
const PATIENCE: Duration = Duration::from_millis(60);

/// What a repo holds, as pulled.
#[derive(Clone, Debug, Default)]
pub struct Pulled {
    /// The files' texts by key, without a leading `/`.
    pub files: BTreeMap<String, Bytes>,
    /// Keys of entries that are other repos, linked in.
    pub links: Vec<String>,
    /// The commit, where there is one.
    pub commit: Option<Rc<str>>,
}

/// Changes of one commit: texts by key, `None` for a deletion.
pub type Changes = BTreeMap<String, Option<Bytes>>;

/// A repo that can be pulled, and committed to.
pub trait Hub {
    /// The newest commit; empty where the repo does not exist.
    fn pull(&self) -> Pending<'_, Pulled>;

    /// Commits over `parent`, and tells the new commit where that is known. `conflict` where
    /// `parent` is not the newest any more.
    fn push<'a>(
        &'a self,
        changes: &'a Changes,
        parent: Option<Rc<str>>,
    ) -> Pending<'a, Option<Rc<str>>>;
}

/// A repo as a storage.
pub struct ContextHub<H>(Rc<Inner<H>>);

struct Inner<H> {
    hub: H,
    tree: RefCell<Option<Tree>>,
    /// Held while the tree is pulled for the first time, so that it is pulled once.
    pulling: Mutex<()>,
    /// Versions count up, whatever becomes of the tree.
    versions: Rc<std::cell::Cell<u64>>,
    /// Whether a change was just refused because another writer was there first. Whoever repeats
    /// it goes ahead without gathering, or those who never meet anyone would always win.
    hurry: std::cell::Cell<bool>,
    /// Commits of others that were met since the last one of ours.
    met: std::cell::Cell<u32>,
    /// How long the next change waits, so that those who lost to the last one come first: without
    /// that, whoever wins is soonest back and wins again.
    courtesy: std::cell::Cell<Duration>,
    gathering: RefCell<Option<Batch>>,
    last: RefCell<Option<Work>>,
}

type Outcomes = Rc<Vec<Result<Outcome>>>;
type Work = Shared<LocalBoxFuture<'static, Outcomes>>;

/// Changes that will be one commit.
struct Batch {
    changes: Rc<RefCell<Vec<Change>>>,
    work: Work,
}

impl<H: Hub + 'static> ContextHub<H> {
    /// The files of that repo.
    pub fn new(hub: H) -> ContextHub<H> {
        ContextHub(Rc::new(Inner {
            hub,
            tree: RefCell::renewable(|| None),
            pulling: Mutex::new(()),
            versions: Rc::new(std::cell::Cell::new(0)),
            hurry: std::cell::Cell::new(false),
            met: std::cell::Cell::new(0),
            courtesy: std::cell::Cell::new(Duration::ZERO),
            gathering: RefCell::new(None),
            last: RefCell::new(None),
        }))
    }

    /// Looks at the tree, pulled before if need be.
    async fn look<T>(&self, look: impl FnOnce(&Tree) -> T) -> Result<T> {
        self.0.loaded().await?;
        self.0.looked(look)
    }

    /// Puts changes into the next commit and waits for it. Whoever gives up waiting takes
    /// nothing from the others: they drive the same work.
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

    /// Adds changes to the batch that is being gathered, or begins one.
    fn joined(inner: &Rc<Inner<H>>, changes: Vec<Change>) -> (Work, usize) {
        let mut gathering = inner.gathering.borrow_mut();
        let batch = gathering.get_or_insert_with(|| {
            let gathered = Rc::new(RefCell::new(Vec::new()));
            let before = inner.last.borrow_mut().take();
            let work = Inner::work(inner.clone(), gathered.clone(), before)
                .boxed_local()
                .shared();
            *inner.last.borrow_mut() = Some(work.clone());
            Batch {
                changes: gathered,
                work,
            }
        });
        let mut gathered = batch.changes.borrow_mut();
        let at = gathered.len();
        gathered.extend(changes);
        (batch.work.clone(), at)
    }

    /// One batch: after the one before, and a moment to gather, a commit.
    async fn work(
        inner: Rc<Inner<H>>,
        gathered: Rc<RefCell<Vec<Change>>>,
        before: Option<Work>,
    ) -> Outcomes {
        // A commit still under way is time enough to gather.
        match before.filter(|before| before.peek().is_none()) {
            Some(before) => drop(before.await),
            None if inner.hurry.replace(false) => {}
            None => {
                let courtesy = inner.courtesy.take();
                if !courtesy.is_zero() {
                    timer::sleep(courtesy).await;
                }
                let mut count = 0;
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
        // From here on, changes go into the next batch.
        *inner.gathering.borrow_mut() = None;
        let changes = std::mem::take(&mut *gathered.borrow_mut());
        Rc::new(inner.pushed(&changes).await)
    }

    async fn pushed(&self, changes: &[Change]) -> Vec<Result<Outcome>> {
        let mut attempt = 0;
        loop {
            match self.pushed_once(changes).await {
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

    /// Nobody knows what is there now; the next call pulls.
    fn failed(&self, changes: &[Change], error: &Error) -> Vec<Result<Outcome>> {
        self.tree.replace(None);
        changes.iter().map(|_| Err(error.clone())).collect()
    }

    async fn pushed_once(&self, changes: &[Change]) -> Result<Vec<Result<Outcome>>> {
        self.loaded().await?;
        let (judged, parent) =
            self.looked(|tree| (tree.judge(changes, &self.versions), tree.commit()))?;
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
        match pushed {
            Some(commit) => {
                if let Some(tree) = &mut *self.tree.borrow_mut() {
                    tree.apply(judged.files, commit);
                }
            }
            // The commit is made, but nobody said its name.
            None => {
                if let Some(tree) = &mut *self.tree.borrow_mut() {
                    tree.apply(judged.files, Rc::from(""));
                }
                if self.pull().await.is_err() {
                    self.tree.replace(None);
                }
            }
        }
        Ok(judged.outcomes)
    }
}

/// How long to wait before a commit is made again: a little, then more, and not all alike.
fn backoff(attempt: u32) -> Duration {
    let most = 4.0 * f64::from(attempt.min(12)) + 1.0;
    Duration::from_secs_f64(random::unit() * most / 1000.0)
}

impl<H: Hub + 'static> Storage for ContextHub<H> {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            ranged_reads: false,
            native_search: true,
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

    fn get<'a>(&'a self, path: &'a VPath, _: Option<Range<u64>>) -> Pending<'a, Option<File>> {
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

    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for (path, file) in self.files(scope).await? {
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
                Err(error) => Removed {
                    error: Some(error),
                    ..Removed::default()
                },
            }
        })
    }
}

#[cfg(test)]
mod tests;
