//! The origin-private file system, or any directory that the user picked: real directories and real
//! files, and no extra metadata is needed to read them. Size and modification time are those of the
//! file; creation time and a given type are not kept, and the capability says so. A change is made
//! under a Web Lock for that file, so it is atomic for every tab and worker that uses this backend.
//! [`replace`] describes atomic replacement, [`search`] searches, [`many`] batched reads, and
//! [`torn_log`] crash protection.

mod handle;
mod many;
mod replace;
mod search;
mod torn_log;
mod tree;

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use wasm_bindgen::JsValue;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::env::clock;
use crate::env::dom::Herald;
use crate::env::host;
use crate::env::locks::{self, Held, Wish};
use crate::protocol::{Capability, Directories, Reach, Transfer, unsupported};
use crate::storage::browser::CrashProtection;
use crate::storage::browser::opfs::handle::{call, is};
use crate::storage::browser::opfs::replace::Aside;
use crate::storage::browser::opfs::tree::{ASIDE, Found, Snapshot, Tree, failed, find_in};
use crate::storage::browser::parallel::in_parallel;
use crate::storage::{
    Batch, Change, Cursor, Depth, Entry, Extras, File, Find, Flow, Listing, Meta, NewFile, Part,
    PutMode, Ranged, Removed, Scan, Scope, Search, Storage, Trees, Update, Version, Within,
    provided,
};

pub use tree::Root;

/// Browsers round times of files to milliseconds, and clocks are set back by less than this.
const SETTLED_MICROS: i64 = 2_000_000;

/// Files of a directory tree.
pub struct Opfs {
    tree: Tree,
    aside: Aside,
    herald: Herald,
    protection: CrashProtection,
}

impl Opfs {
    /// The files beneath that root. The browser is not called yet.
    pub fn new(root: Root, protection: CrashProtection, herald: Herald) -> Opfs {
        Opfs {
            tree: Tree::new(root, protection),
            aside: Aside::new(),
            herald,
            protection,
        }
    }

    /// Waits for the exclusive lock of a file. Without Web Locks, only the per-path queue of this
    /// instance protects it.
    async fn alone_with(&self, path: &VPath) -> Result<Option<Held>> {
        let base = self.tree.base().await?;
        let name = format!("kitbag:opfs:{}{path}", base.name.trim_end_matches('/'));
        locks::take(&name, Wish::Wait).await
    }

    /// The file at a path, with its bytes or a part of them.
    async fn file(&self, path: &VPath, range: Option<&Range<u64>>) -> Result<Option<File>> {
        if is_reserved(path) {
            return Ok(None);
        }
        let handle = match self.tree.find(path).await? {
            Found::File(handle) => handle,
            Found::Directory => return Err(Error::is_directory(path)),
            Found::Nothing => return Ok(None),
        };
        match tree::read(&handle, range).await {
            Ok((seen, body)) => Ok(Some(File {
                meta: known(&seen),
                body,
            })),
            Err(thrown) if is(&thrown, "NotFoundError") => Ok(None),
            Err(thrown) => Err(failed(path, thrown)),
        }
    }

    /// The entries of a directory, in order; empty if it does not exist.
    async fn entries_of(&self, dir: &VPath) -> Result<Vec<tree::Entry>> {
        let handle = match self.tree.directory(dir).await? {
            Some(handle) if !is_reserved(dir) => handle,
            _ => return Ok(Vec::new()),
        };
        match many::entries(dir, &handle).await {
            Err(thrown) if is(&thrown, "NotFoundError") => Ok(Vec::new()),
            entries => entries.map_err(|thrown| failed(dir, thrown)),
        }
    }

    /// Replaces a file; the caller holds the lock.
    async fn exchange(&self, path: &VPath, body: &Bytes, mode: &PutMode) -> Result<Meta> {
        if is_reserved(path) {
            return Err(Error::at(
                Kind::InvalidPath,
                "'",
                path,
                format!("' cannot be used: '{ASIDE}' is where unfinished files stand"),
            ));
        }
        let mut again = true;
        loop {
            let base = self.tree.base().await?;
            let parent = self.tree.make_directory(&path.parent()).await?;
            let exists = match (find_in(&parent, path).await?, mode) {
                (Found::Directory, _) => return Err(Error::is_directory(path)),
                (Found::File(_), PutMode::Create) => return Err(Error::already_exists(path)),
                (Found::Nothing, PutMode::Update(_)) => return Err(Error::conflict(path)),
                (Found::File(_), _) => true,
                (Found::Nothing, _) => false,
            };
            let put = self.aside.put(&base, &parent, path, exists, body).await;
            match put {
                Ok(()) => break,
                // The directory was removed during the write, or all of the storage was cleared.
                Err(error) if again && error.was_thrown("NotFoundError") => {
                    again = false;
                    self.tree.forget();
                }
                Err(error) => return Err(error),
            }
        }
        // Reading the size and time back would cost half as much as the write.
        let meta = Meta::of(body.len() as u64, clock::now());
        self.herald.changed([path]);
        Ok(meta)
    }

    /// Moves a file where the host has a way for that; the caller holds the locks of both paths.
    async fn rename(&self, from: &VPath, to: &VPath, asked: &Transfer) -> Result<()> {
        let handle = match self.tree.find(from).await? {
            Found::File(handle) if !is_reserved(from) && !is_reserved(to) => handle,
            Found::Directory => return Err(Error::is_directory(from)),
            _ => return Err(Error::not_found(from)),
        };
        if asked.keeps || host::method(&handle, "move").is_none() {
            return Err(unsupported("move"));
        }
        let parent = self.tree.make_directory(&to.parent()).await?;
        match find_in(&parent, to).await? {
            Found::Directory => return Err(Error::is_directory(to)),
            Found::File(_) if !asked.overwrite => return Err(Error::already_exists(to)),
            _ => {}
        }
        let arguments = [parent, JsValue::from_str(to.name())];
        let moved = call(&handle, "move", &arguments).await;
        // Some hosts have it for some files only; nothing was moved then.
        moved.map_err(|_| unsupported("move"))?;
        self.herald.changed([from, to]);
        Ok(())
    }

    /// Removes a file; the caller holds the lock.
    async fn remove(&self, path: &VPath) -> Result<bool> {
        let Some(parent) = self.tree.directory(&path.parent()).await? else {
            return Ok(false);
        };
        match find_in(&parent, path).await? {
            Found::File(_) if !is_reserved(path) => {}
            _ => return Ok(false),
        }
        let name = JsValue::from_str(path.name());
        match call(&parent, "removeEntry", &[name]).await {
            Ok(_) => {
                self.herald.changed([path]);
                Ok(true)
            }
            Err(thrown) if is(&thrown, "NotFoundError") => Ok(false),
            Err(thrown) => Err(failed(path, thrown)),
        }
    }

    /// Removes the directories that remain after their files were deleted; only empty ones can be
    /// removed.
    async fn remove_empty(&self, root: &VPath) -> Result<bool> {
        let Some(handle) = self.tree.directory(root).await? else {
            return Ok(false);
        };
        let mut open = vec![(root.clone(), handle)];
        let mut found = Vec::new();
        while let Some((path, handle)) = open.pop() {
            let inside = many::entries(&path, &handle).await;
            for entry in inside.map_err(|thrown| failed(&path, thrown))? {
                if entry.is_dir {
                    open.push((entry.path, entry.handle));
                }
            }
            found.push(path);
        }
        let mut gone = false;
        // Every directory comes before its children in `found`.
        for path in found.iter().rev().filter(|path| !path.is_root()) {
            let Some(parent) = self.tree.directory(&path.parent()).await? else {
                continue;
            };
            let name = JsValue::from_str(path.name());
            gone = match call(&parent, "removeEntry", &[name]).await {
                Ok(_) => path == root,
                // Others have removed it, or put a file there.
                Err(thrown)
                    if is(&thrown, "NotFoundError") || is(&thrown, "InvalidModificationError") =>
                {
                    false
                }
                Err(thrown) => return Err(failed(path, thrown)),
            };
        }
        Ok(gone)
    }
}

/// Whether a path leads into the directory of temporary files.
fn is_reserved(path: &VPath) -> bool {
    path.segments().any(|segment| segment == ASIDE)
}

fn known(seen: &Snapshot) -> Meta {
    Meta::of(seen.size, seen.modified)
}

impl Within for Opfs {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            // In one order everywhere, which prevents deadlocks.
            let _first = self.alone_with(from.min(to)).await?;
            let _second = self.alone_with(from.max(to)).await?;
            self.rename(from, to, asked).await
        })
    }
}

impl Storage for Opfs {
    fn capability(&self) -> Capability {
        let reach = if locks::available() {
            Reach::Storage
        } else {
            Reach::Instance
        };
        let mut notes = vec![
            "created_at, a type given with a file and the v1 form are not kept; the type follows from name and content".into(),
            "Writers that do not go through an OpfsBackend take no Web Lock and are not seen".into(),
            "In a directory that the user picked, a new file is empty for a moment before its content stands".into(),
        ];
        if self.protection == CrashProtection::Off {
            notes.push(
                "If Chromium as a whole is killed while it writes, files that were changed between its next two starts can be lost; crashProtection prevents it"
                    .into(),
            );
        }
        if reach == Reach::Instance {
            notes.push(
                "There are no Web Locks here: only calls of this one backend wait for each other"
                    .into(),
            );
        }
        Capability {
            create: reach,
            update: reach,
            directories: Directories::Real,
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            notes,
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            if is_reserved(path) {
                return Ok(None);
            }
            let Found::File(handle) = self.tree.find(path).await? else {
                return Ok(None);
            };
            match tree::snapshot(&handle).await {
                Ok(seen) => Ok(Some(known(&seen))),
                Err(thrown) if is(&thrown, "NotFoundError") => Ok(None),
                Err(thrown) => Err(failed(path, thrown)),
            }
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(self.file(path, None))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            let _alone = self.alone_with(path).await?;
            self.exchange(path, &file.body, &mode).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, _: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            let _alone = self.alone_with(path).await?;
            self.remove(path).await
        })
    }

    fn list<'a>(&'a self, dir: &'a VPath, depth: Depth, _: Option<Cursor>) -> Pending<'a, Listing> {
        Box::pin(async move {
            let mut listing = Listing::default();
            let files = match depth {
                Depth::All => self.files_in(&Scope::all(dir)).await?,
                Depth::One => {
                    let entries = self.entries_of(dir).await?;
                    let (dirs, files): (Vec<_>, Vec<_>) =
                        entries.into_iter().partition(|entry| entry.is_dir);
                    listing.dirs = dirs.into_iter().map(|entry| entry.path).collect();
                    files
                }
            };
            for batch in files.chunks(many::LOOKS) {
                let seen = many::snapshots(batch).await?;
                let there = batch.iter().zip(seen).filter_map(|(entry, seen)| {
                    Some(Entry {
                        path: entry.path.clone(),
                        meta: known(&seen?),
                    })
                });
                listing.files.extend(there);
            }
            Ok(listing)
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            search: Some(self),
            ranged: Some(self),
            batch: Some(self),
            update: Some(self),
            trees: Some(self),
            ..Extras::NONE
        }
    }
}

impl Ranged for Opfs {
    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        Box::pin(async move {
            let file = self.file(path, Some(&range)).await?;
            Ok(file.map(|file| Part {
                start: range.start.min(file.meta.size),
                file,
                lines: None,
            }))
        })
    }

    /// Its size and time, once no change can follow within the same millisecond.
    fn version(&self, meta: &Meta) -> Option<Version> {
        let (size, changed) = (meta.size, meta.modified.micros());
        let age = clock::now().micros().saturating_sub(changed);
        (age > SETTLED_MICROS).then(|| Version::Tag(format!("{changed}-{size}").into()))
    }
}

impl Search for Opfs {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.look_at(find.scope, find.want, visit))
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(self.scan_files(scan, visit))
    }
}

impl Batch for Opfs {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        provided::get_each(self, paths)
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let puts = files.iter();
            let puts = puts.map(|(path, file)| self.put(path, file.clone(), PutMode::Overwrite));
            in_parallel(puts).await
        })
    }
}

impl Update for Opfs {
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        Box::pin(async move {
            let _alone = self.alone_with(path).await?;
            let Some(mut file) = self.file(path, None).await? else {
                return Ok(None);
            };
            let new = change(&mut file)?;
            let put = self.exchange(path, &new.body, &PutMode::Overwrite);
            put.await.map(Some)
        })
    }
}

impl Trees for Opfs {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let files = match self.files_in(&Scope::all(root)).await {
                Ok(files) => files,
                Err(error) => return Removed::failed(error),
            };
            let paths: Vec<VPath> = files.into_iter().map(|entry| entry.path).collect();
            let deletions = paths.iter().map(|path| self.delete(path, None));
            let answers = in_parallel(deletions).await;
            let mut removed = Removed::of(paths.iter().cloned().zip(answers));
            match self.remove_empty(root).await {
                Ok(gone) => removed.directories = gone,
                Err(error) => {
                    removed.error.get_or_insert(error);
                }
            }
            removed
        })
    }

    fn prune<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            // Directories that stay behind are empty.
            let _ = self.remove_empty(root).await;
        })
    }
}
