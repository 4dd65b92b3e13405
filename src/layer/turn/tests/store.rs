//! A storage that changes one file at a time and lets others run before and after each step.

use std::task::Poll;

use super::*;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Lets other clients run.
pub(super) async fn pause() {
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

/// Memory without transactions. With `steps`, other clients run before and after each call.
#[derive(Default)]
pub(super) struct Single {
    pub(super) memory: Memory,
    pub(super) steps: bool,
    /// The put that fails, counted down.
    pub(super) fails: Cell<Option<u32>>,
}

impl Single {
    async fn step<T>(&self, call: Pending<'_, T>) -> Result<T> {
        if self.steps {
            pause().await;
        }
        let answer = call.await;
        if self.steps {
            pause().await;
        }
        answer
    }
}

impl Storage for Single {
    fn capability(&self) -> Capability {
        self.memory.capability()
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.memory.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            if self.steps {
                pause().await;
            }
            self.memory.get(path).await
        })
    }
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            match self.fails.get() {
                Some(0) => {
                    self.fails.set(None);
                    return Err(Error::new(Kind::QuotaExceeded, "There is no room"));
                }
                left => self.fails.set(left.map(|left| left - 1)),
            }
            // Made when it runs, not when it is asked for.
            let put = Box::pin(async move { self.memory.put(path, file, mode).await });
            self.step(put).await
        })
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        let delete = Box::pin(async move { self.memory.delete(path, version).await });
        Box::pin(self.step(delete))
    }
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        self.memory.list(dir, depth, from)
    }
}

/// A backend without transactions, which answers at once.
pub(super) fn single() -> Rc<Files<Single>> {
    Rc::new(Files::new(Single::default(), FilesOptions::default()))
}

/// The same, where other clients run in the midst of calls.
pub(super) fn stepping() -> Rc<Files<Single>> {
    let single = Single {
        steps: true,
        ..Single::default()
    };
    Rc::new(Files::new(single, FilesOptions::default()))
}
