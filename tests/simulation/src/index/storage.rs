//! A storage in memory that fails and waits as a test wants.

use std::cell::Cell;
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use kitbag::core::error::{Error, Kind};
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::protocol::{Capability, clipped};
use kitbag::storage::memory::Memory;
use kitbag::storage::{
    Cursor, Depth, Extras, File, Listing, Meta, NewFile, Part, PutMode, Ranged, Storage, Version,
};

/// Memory whose versions are unique, that lets other calls run before each of its own, and that
/// fails when it is told to.
#[derive(Clone, Default)]
pub struct Shared(pub Rc<Inner>);

#[derive(Default)]
pub struct Inner {
    pub memory: Memory,
    /// Calls until a put fails: before it stores, or after.
    pub fuse: Cell<Option<(u32, bool)>>,
    pub waits: Cell<bool>,
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

    fn extras(&self) -> Extras<'_> {
        Extras {
            ranged: Some(self),
            ..Extras::NONE
        }
    }
}

impl Ranged for Shared {
    fn part_bytes(&self) -> Option<u64> {
        Some(1024)
    }

    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        Box::pin(async move {
            others(self.0.waits.get()).await;
            Ok(self.0.memory.get(path).await?.map(|file| {
                let body = clipped(&file.body, 0, range.clone());
                Part {
                    file: File { body, ..file },
                    start: range.start,
                    lines: None,
                }
            }))
        })
    }
}

/// Runs a future to its end.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
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
