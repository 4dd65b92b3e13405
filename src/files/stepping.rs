//! For tests: memory in which a process can end, and others run, before and after each step; and how
//! its calls are polled.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;

use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::files::{Files, FilesOptions};
use crate::protocol::{Capability, SharedBackend};
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

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

/// Memory without transactions.
#[derive(Default)]
struct Stepping(Memory);

impl Storage for Stepping {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.0.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            pause().await;
            self.0.get(path).await
        })
    }
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            pause().await;
            let answer = self.0.put(path, file, mode).await;
            pause().await;
            answer
        })
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            pause().await;
            let answer = self.0.delete(path, version).await;
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
        self.0.list(dir, depth, from)
    }
}

/// A backend over it.
pub fn stepping() -> SharedBackend {
    Rc::new(Files::new(Stepping::default(), FilesOptions::default()))
}
