//! Memory whose versions are unique, so that an index takes part.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::Capability;
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

#[derive(Clone, Default)]
pub(super) struct Shared(Rc<Memory>);

impl Storage for Shared {
    fn capability(&self) -> Capability {
        Capability {
            lists_versions: true,
            ..self.0.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.0.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.0.get(path)
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        self.0.put(path, file, mode)
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.0.delete(path, version)
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
