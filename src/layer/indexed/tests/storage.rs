//! A storage in memory that fails and waits as a test wants.

use std::cell::Cell;
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::core::error::{Error, Kind};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::Capability;
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Memory whose versions are unique, that lets other calls run before each of its own, and that
/// fails when it is told to.
#[derive(Clone, Default)]
pub(super) struct Shared(pub(super) Rc<Inner>);

#[derive(Default)]
pub(super) struct Inner {
    pub(super) memory: Memory,
    /// Calls until a put fails: before it stores, or after.
    pub(super) fuse: Cell<Option<(u32, bool)>>,
    pub(super) waits: Cell<bool>,
}

/// Lets other futures run once.
async fn others(wait: bool) {
    let mut waited = !wait;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Shared {
    fn broken(&self) -> Option<bool> {
        let (left, after) = self.0.fuse.get()?;
        self.0.fuse.set(match left {
            0 => None,
            _ => Some((left - 1, after)),
        });
        (left == 0).then_some(after)
    }
}

impl Storage for Shared {
    fn capability(&self) -> Capability {
        Capability {
            lists_versions: true,
            ..self.0.memory.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.0.memory.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            self.0.memory.get(path).await
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            let lost = || Error::new(Kind::Unavailable, "the connection is gone");
            match self.broken() {
                Some(false) => return Err(lost()),
                Some(true) => {
                    self.0.memory.put(path, file, mode).await?;
                    return Err(lost());
                }
                None => {}
            }
            self.0.memory.put(path, file, mode).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.0.memory.delete(path, version)
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        self.0.memory.list(dir, depth, from)
    }

    fn ranged(&self) -> Option<&dyn crate::storage::Ranged> {
        Some(self)
    }
}

impl crate::storage::Ranged for Shared {
    fn part_bytes(&self) -> u64 {
        1024
    }

    fn get_part<'a>(
        &'a self,
        path: &'a VPath,
        range: Range<u64>,
    ) -> Pending<'a, Option<crate::storage::Part>> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            Ok(self.0.memory.get(path).await?.map(|file| {
                let body = crate::protocol::clipped(&file.body, 0, range.clone());
                crate::storage::Part {
                    file: File { body, ..file },
                    start: range.start,
                    lines: None,
                }
            }))
        })
    }
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
