//! Memory whose versions are unique, so that an index takes part.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::Capability;
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

#[derive(Clone, Default)]
pub(super) struct Shared(Rc<Memory>, Rc<Cell<usize>>);

impl Shared {
    /// How many listings of a directory of files there were.
    pub fn levels(&self) -> usize {
        self.1.get()
    }
}

impl Storage for Shared {
    fn capability(&self) -> Capability {
        Capability {
            lists_versions: true,
            ..self.0.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            turn().await;
            self.0.stat(path).await
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            turn().await;
            self.0.get(path).await
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            turn().await;
            self.0.put(path, file, mode).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            turn().await;
            self.0.delete(path, version).await
        })
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        if depth == Depth::One && !dir.is_own() {
            self.1.set(self.1.get() + 1);
        }
        Box::pin(async move {
            turn().await;
            self.0.list(dir, depth, from).await
        })
    }
}

/// Lets the other calls go on, as a storage on a network does.
async fn turn() {
    let mut waited = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        match std::mem::replace(&mut waited, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// Runs a future to its end.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return value;
        }
    }
}
