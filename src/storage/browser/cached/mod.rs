//! A cache in IndexedDB for a storage that takes long to answer about each file, and to which only
//! backends with this cache write (exclusive mode). It wraps the storage: sizes and times of all
//! files, and the bytes of small ones, are kept in a database ([`ledger`]). The storage itself is
//! authoritative: `read` always asks it, and what the cache does not know is looked up there.
//! [`changes`] records changes, [`names`] answers `ls` and `glob`, [`grep`] searches in copies.

mod changes;
mod grep;
mod ledger;
mod names;
mod row;

use std::rc::Rc;

use futures_util::future::{LocalBoxFuture, ready};

use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::Capability;
use crate::storage::browser::CrashProtection;
use crate::storage::browser::cached::ledger::Ledger;
use crate::storage::browser::cached::row::to_copy;
use crate::storage::{
    Change, Cursor, Depth, File, Find, Flow, Listing, Meta, NewFile, PutMode, Ranged, Removed,
    Scan, Scope, Storage, Together, Version, Within,
};

/// A storage that can be cached: one whose metadata of a file is its size and its time.
pub trait Slow: Storage {
    /// A name for these files, the same in all tabs.
    fn place(&self) -> Pending<'_, Rc<str>>;

    /// The names directly inside a directory, in byte order, without looking at the files.
    fn names<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Names>;

    /// Removes the directories that remain at and below `root` after their files were deleted, if
    /// they are empty; returns whether `root` is gone.
    fn remove_directories<'a>(&'a self, _root: &'a VPath) -> Pending<'a, bool> {
        Box::pin(ready(Ok(false)))
    }
}

/// The names in a directory, in byte order.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Its files.
    pub files: Vec<VPath>,
    /// Its directories.
    pub dirs: Vec<VPath>,
}

/// A storage with a cache.
pub struct Cached<S> {
    storage: S,
    ledger: Ledger,
}

impl<S: Slow> Cached<S> {
    /// Caches that storage in the database of that name, which is opened on first use.
    pub fn new(storage: S, database: &'static str, protection: CrashProtection) -> Cached<S> {
        Cached {
            storage,
            ledger: Ledger::new(database, protection),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Slow> Storage for Cached<S> {
    fn capability(&self) -> Capability {
        let mut capability = self.storage.capability();
        capability.notes.push(
            "This backend was told that only backends like it write here (exclusive): ls, glob and grep answer from what they have noted, and small files are copied to IndexedDB"
                .into(),
        );
        capability
    }

    fn is_immediate(&self) -> bool {
        false
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.storage.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.storage.get(path)
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            let body = to_copy(&file.body);
            let put = async { (self.storage.put(path, file, mode).await, body) };
            self.recorded(path, put).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            let delete = async { (self.storage.delete(path, version).await, None) };
            self.recorded(path, delete).await
        })
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        match (depth, from) {
            (Depth::One, None) => Box::pin(self.list_names(dir)),
            (depth, from) => self.storage.list(dir, depth, from),
        }
    }

    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        let want = &|_: &VPath| true;
        self.find(Find { scope, want }, visit)
    }

    fn find<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let Some(known) = self.known(find.scope, find.want).await else {
                return self.storage.find(find, visit).await;
            };
            for entry in known {
                if visit(&entry.path, &entry.meta).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn ranged(&self) -> Option<&dyn Ranged> {
        self.storage.ranged()
    }

    /// A recorded change must have its bytes, so files are read and put.
    fn within(&self) -> Option<&dyn Within> {
        None
    }

    /// No storage that is cached has this.
    fn together(&self) -> Option<&dyn Together> {
        None
    }

    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        self.storage.get_many(paths)
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            match self.pieces(&scan).await {
                Some(pieces) => self.scan_pieces(pieces, &scan, visit).await,
                None => self.storage.scan(scan, visit).await,
            }
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<crate::core::error::Result<Meta>>> {
        Box::pin(self.put_recorded(files))
    }

    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let update = async {
                let mut body = None;
                let mut noting = |file: &mut File| {
                    let new = change(file)?;
                    body = to_copy(&new.body);
                    Ok(new)
                };
                let answer = self.storage.update(path, &mut noting).await;
                (answer, body)
            };
            self.recorded(path, update).await
        })
    }

    fn pause(&self, attempt: u32) -> LocalBoxFuture<'_, ()> {
        self.storage.pause(attempt)
    }

    fn prune<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        self.storage.prune(root)
    }

    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(self.delete_recorded(root))
    }

    fn delete_found<'a>(
        &'a self,
        root: &'a VPath,
        _found: Vec<VPath>,
    ) -> LocalBoxFuture<'a, Removed> {
        Box::pin(self.delete_recorded(root))
    }
}
