//! A storage that changes one file at a time and lets others run before and after each step.

use std::rc::Rc;
use std::task::Poll;

use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::files::{Files, FilesOptions};
use kitbag::protocol::{Capability, SharedBackend};
use kitbag::storage::memory::Memory;
use kitbag::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Lets other clients run.
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

/// Memory without transactions. Other clients run before and after each call.
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

/// A backend without transactions, where other clients run in the midst of calls.
pub fn stepping() -> SharedBackend {
    Rc::new(Files::new(Stepping::default(), FilesOptions::default()))
}
