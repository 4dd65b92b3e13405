//! A storage that changes one file at a time, and fails when it is told to.

use super::*;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Memory without transactions.
#[derive(Default)]
pub(super) struct Single {
    pub(super) memory: Memory,
    /// The put that fails, counted down.
    pub(super) fails: Cell<Option<u32>>,
}

impl Storage for Single {
    fn capability(&self) -> Capability {
        self.memory.capability()
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.memory.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.memory.get(path)
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
            self.memory.put(path, file, mode).await
        })
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.memory.delete(path, version)
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
