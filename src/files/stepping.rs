//! For tests: memory in which a process can end, and others run, before and after each step; and how
//! its calls are polled.

use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::files::{Files, FilesOptions};
use crate::protocol::{Capability, SharedBackend};
use crate::storage::memory::Memory;
use crate::storage::{
    Alteration, Cursor, Depth, Extras, File, Listing, Meta, NewFile, PutMode, Storage, Together,
    Version,
};

/// The most polls that a call of a test needs.
const POLLS: usize = 1_000_000;

/// Lets others run.
pub async fn pause() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        // What waits inside another future is polled again only if it was woken.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls once.
pub fn polled<T>(future: &mut LocalBoxFuture<'_, T>) -> Option<T> {
    let context = &mut Context::from_waker(Waker::noop());
    match future.as_mut().poll(context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Polls to the end; `None` if there is none.
pub fn ended<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future: LocalBoxFuture<'_, T> = Box::pin(future);
    (0..POLLS).find_map(|_| polled(&mut future))
}

/// What the memory has for changes of several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// Nothing.
    #[default]
    Single,
    /// One step for all.
    Together,
    /// The same, and names of its states.
    Moments,
}

/// Memory whose calls take their time.
#[derive(Default)]
struct Stepping {
    memory: Memory,
    steps: Steps,
    /// How many changes were made.
    moment: Cell<u64>,
    /// The change of several files whose answer is lost, counted down.
    loses: Cell<Option<usize>>,
}

impl Stepping {
    fn changed(&self) {
        self.moment.set(self.moment.get() + 1);
    }

    fn name(&self) -> Option<Rc<str>> {
        let named = self.steps == Steps::Moments;
        named.then(|| Rc::from(self.moment.get().to_string()))
    }

    fn is_lost(&self) -> bool {
        let left = self.loses.get();
        self.loses.set(left.and_then(|left| left.checked_sub(1)));
        left == Some(0)
    }

    async fn alter(&self, changes: Vec<Alteration>) -> Result<bool> {
        for one in &changes {
            let meta = self.memory.stat(&one.path).await?;
            if meta.and_then(|meta| meta.version) != one.was {
                return Ok(false);
            }
        }
        for one in changes {
            match one.file {
                Some(file) => {
                    self.memory
                        .put(&one.path, file, PutMode::Overwrite)
                        .await
                        .map(drop)?;
                }
                None => {
                    self.memory.delete(&one.path, None).await?;
                }
            }
        }
        self.changed();
        Ok(true)
    }
}

impl Together for Stepping {
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        self.name()?;
        Some(Box::pin(async move {
            pause().await;
            Ok(self.name().unwrap_or_default())
        }))
    }

    fn change<'a>(
        &'a self,
        changes: Vec<Alteration>,
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool> {
        Box::pin(async move {
            pause().await;
            if moment.is_some() && moment != self.name() {
                return Ok(false);
            }
            let answer = self.alter(changes).await;
            pause().await;
            match self.is_lost() {
                true => Err(Error::new(Kind::Unavailable, "The answer was lost")),
                false => answer,
            }
        })
    }
}

impl Storage for Stepping {
    fn capability(&self) -> Capability {
        self.memory.capability()
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.memory.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            pause().await;
            self.memory.get(path).await
        })
    }
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            pause().await;
            let answer = self.memory.put(path, file, mode).await;
            self.changed();
            pause().await;
            answer
        })
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            pause().await;
            let answer = self.memory.delete(path, version).await;
            self.changed();
            pause().await;
            answer
        })
    }
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        self.memory.list(dir, depth, from)
    }
    fn extras(&self) -> Extras<'_> {
        Extras {
            together: (self.steps != Steps::Single).then_some(self),
            ..Extras::NONE
        }
    }
}

/// A backend over it.
pub fn stepping() -> SharedBackend {
    stepping_with(Steps::Single, None)
}

/// A backend over memory that has this for changes of several files; the answer to one of these
/// changes, counted from 0, is lost.
pub fn stepping_with(steps: Steps, loses: Option<usize>) -> SharedBackend {
    let storage = Stepping {
        steps,
        loses: Cell::new(loses),
        ..Stepping::default()
    };
    Rc::new(Files::new(storage, FilesOptions::default()))
}
