//! Memory: a sorted map from paths to bodies. Every future is ready at once, so `StateBackend` can return
//! results synchronously; only a search that may pause is pending in between. A directory is a range of keys, so a listing
//! seeks from one name to the next and never visits the files beneath a directory.

mod blocks;
mod sets;
mod storage;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::future::poll_fn;
use std::ops::Bound;
use std::task::Poll;

use futures_util::future::{LocalBoxFuture, ready};

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::file::GROWTH;
use crate::core::future::Pending;
use crate::core::path::{ByPath, VPath};
use crate::protocol::{Capability, Transfer};
use crate::storage::{
    Batch, Change, Cursor, Depth, Entry, Extras, File, Find, Flow, Listing, Meta, NewFile, PutMode,
    Removed, Scan, Scope, Search, Storage, Trees, Update, Version, Within, done,
};

use blocks::Blocks;
use sets::Wanted;

/// The default limit of the total size of all bodies: what wasm memory can hold in addition to one
/// temporary copy.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// Files in memory.
pub struct Memory {
    files: RefCell<ByPath<File>>,
    used: Cell<u64>,
    max_bytes: u64,
    last_version: Cell<u64>,
    /// What is known of the bodies.
    blocks: Blocks,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(DEFAULT_MAX_BYTES)
    }
}

impl Memory {
    /// An empty memory with a limit for the total size of all bodies.
    pub fn new(max_bytes: u64) -> Memory {
        Memory {
            files: RefCell::default(),
            used: Cell::new(0),
            max_bytes,
            last_version: Cell::new(0),
            blocks: Blocks::default(),
        }
    }

    /// Total size of all bodies in bytes.
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.borrow().len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fails if a change was interrupted, so that no partial change is visible. An interrupted
    /// search or read leaves nothing behind.
    pub fn whole(&self) -> Result<()> {
        if !self.files.is_torn() {
            return Ok(());
        }
        Err(Error::internal(
            "A change of this backend's files was broken off midway, so they may be half changed \
             and are not shown. Make a new backend, from the last snapshot() if there is one",
        ))
    }

    /// Stores a file synchronously.
    pub fn set(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        self.whole()?;
        let mut files = self.files.borrow_mut();
        let mut before = 0;
        // Looking for the file is nearly half of storing a small one, so it is looked for only where its version
        // matters, or where there is room only if it goes.
        let asks = matches!(mode, PutMode::Update(_)) || file.body.len() as u64 > self.left();
        if asks {
            let existing = files.get(path);
            match (&mode, existing) {
                (PutMode::Create, Some(_)) => return Err(Error::already_exists(path)),
                (PutMode::Update(version), now)
                    if now.and_then(|now| now.meta.version.as_ref()) != Some(version) =>
                {
                    return Err(Error::conflict(path));
                }
                _ => before = existing.map_or(0, |now| now.meta.size),
            }
        }
        let stored = self.taken_in(path, file, before)?;
        let meta = stored.meta.clone();
        let size = meta.size;
        if let Some(existing) = files.insert(path.clone(), Box::new(stored))
            && !asks
        {
            let is_refused = matches!(mode, PutMode::Create);
            let gone = if is_refused { size } else { existing.meta.size };
            self.used.set(self.used.get().saturating_sub(gone));
            if is_refused {
                files.insert(path.clone(), existing);
                return Err(Error::already_exists(path));
            }
        }
        self.blocks.forget(path);
        Ok(meta)
    }

    /// How many more bytes may be stored.
    fn left(&self) -> u64 {
        self.max_bytes.saturating_sub(self.used.get())
    }

    /// Prepares a file for storing in place of a file of `before` bytes; fails if the quota would
    /// be exceeded.
    fn taken_in(&self, path: &VPath, file: NewFile, before: u64) -> Result<File> {
        let size = file.body.len() as u64;
        let used = self.used.get().saturating_sub(before).saturating_add(size);
        if used > self.max_bytes {
            return Err(self.over(path, used));
        }
        let version = self.last_version.get().wrapping_add(1);
        self.last_version.set(version);
        self.used.set(used);
        let meta = Meta {
            size,
            created: Some(file.created),
            modified: file.modified,
            mime: Some(file.mime),
            format: file.format,
            texture: Some(file.texture),
            mode: None,
            version: Some(Version::Number(version)),
        };
        let body = file.body;
        Ok(File { meta, body })
    }

    /// Changes a file in place: the callback gets its body and may consume it, unless the quota could then
    /// be exceeded.
    fn change(&self, path: &VPath, change: &mut Change<'_>) -> Result<Option<Meta>> {
        self.whole()?;
        let mut files = self.files.borrow_mut();
        let Some(file) = files.get_mut(path) else {
            return Ok(None);
        };
        let held = (self.left() < GROWTH as u64).then(|| file.body.clone());
        let new = change(file)?;
        drop(held);
        **file = self.taken_in(path, new, file.meta.size)?;
        self.blocks.forget(path);
        Ok(Some(file.meta.clone()))
    }

    /// The file at `path`, synchronously.
    pub fn get_now(&self, path: &VPath) -> Option<File> {
        self.files.borrow().get(path).map(|file| (**file).clone())
    }

    /// Removes a file synchronously.
    pub fn remove(&self, path: &VPath) -> Option<File> {
        self.take_out(&mut self.files.borrow_mut(), path)
    }

    fn take_out(&self, files: &mut ByPath<File>, path: &VPath) -> Option<File> {
        self.blocks.forget(path);
        let gone = files.remove(path)?;
        let left = self.used.get().saturating_sub(gone.meta.size);
        self.used.set(left);
        Some(*gone)
    }

    fn transfer_now(&self, from: &VPath, to: &VPath, asked: &Transfer) -> Result<()> {
        let mut files = self.files.borrow_mut();
        let Some(file) = files.get(from) else {
            return Err(Error::not_found(from));
        };
        if !asked.overwrite && files.contains_key(to) {
            return Err(Error::already_exists(to));
        }
        let mut file = file.clone();
        let used = self.used.get();
        if asked.keeps && used.saturating_add(file.meta.size) > self.max_bytes {
            return Err(self.over(to, used.saturating_add(file.meta.size)));
        }
        let version = self.last_version.get().wrapping_add(1);
        self.last_version.set(version);
        file.meta.version = Some(Version::Number(version));
        if !asked.keeps {
            self.take_out(&mut files, from);
        }
        self.take_out(&mut files, to);
        self.used
            .set(self.used.get().saturating_add(file.meta.size));
        files.insert(to.clone(), file);
        Ok(())
    }

    fn over(&self, path: &VPath, used: u64) -> Error {
        Error::at(
            Kind::QuotaExceeded,
            "Cannot store '",
            path,
            format!(
                "': all files together would be {used} bytes, over the limit of {} (maxBytes). \
                 Delete files, or make the limit larger.",
                self.max_bytes
            ),
        )
    }

    /// Removes everything but the library's own files.
    pub fn clear(&self) {
        let mut files = self.files.borrow_mut();
        let gone: Vec<VPath> = files
            .keys()
            .filter(|path| !path.is_own())
            .cloned()
            .collect();
        for path in gone {
            self.take_out(&mut files, &path);
        }
    }

    /// Every file, in order.
    pub fn all(&self) -> Vec<(VPath, File)> {
        let files = self.files.borrow();
        files
            .iter()
            .map(|(path, file)| (path.clone(), (**file).clone()))
            .collect()
    }

    fn visit(&self, scope: &Scope, visit: &mut dyn FnMut(&VPath, &File) -> Flow) {
        self.visit_behind(None, scope, &[], visit);
    }

    /// Visits the files behind `last`, or all of them, except those that cannot match. Returns how many
    /// bytes were passed over.
    fn visit_behind(
        &self,
        last: Option<&VPath>,
        scope: &Scope,
        texts: &[&[u8]],
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> usize {
        let passed = Cell::new(0);
        let files = self.files.borrow();
        if last.is_none()
            && scope.prefix.is_empty()
            && !scope.root.is_root()
            && let Some(file) = files.get(&scope.root)
            && visit(&scope.root, file).is_break()
        {
            return passed.get();
        }
        let prefix = scope.key_prefix();
        let behind = behind(&prefix);
        let end = behind.as_deref();
        let mut from = prefix.as_str();
        let mut start = Bound::Included(from);
        if let Some(last) = last.filter(|last| last.as_str() >= from) {
            from = last.as_str();
            start = Bound::Excluded(from);
        }
        let stop = end.map_or(Bound::Unbounded, Bound::Excluded);
        let blocks = self.blocks.now();
        let wanted = Wanted::new(texts, &blocks.sets);
        for run in blocks::runs(&blocks, from, &wanted, &passed) {
            let first = run.first.map_or(start, Bound::Included);
            if end.is_some_and(|end| run.first.is_some_and(|first| first >= end)) {
                break;
            }
            for (path, file) in files.range::<str, _>((first, stop)) {
                if run.until.is_some_and(|until| path.as_str() >= until) {
                    break;
                }
                // If the end of the range is known, the prefix need not be compared.
                let inside = end.is_some() || path.as_str().starts_with(&prefix);
                if !inside || visit(path, file).is_break() {
                    return passed.get();
                }
            }
        }
        passed.get()
    }

    fn level(&self, dir: &VPath) -> Listing {
        let files = self.files.borrow();
        let prefix = dir.dir_prefix();
        let mut listing = Listing::default();
        let mut from = prefix.clone();
        loop {
            let range = files.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded));
            let mut skip_to = None;
            for (path, file) in range {
                let Some(rest) = path.as_str().strip_prefix(&prefix) else {
                    break;
                };
                match rest.split_once('/') {
                    None => listing.files.push(Entry {
                        path: path.clone(),
                        meta: file.meta.clone(),
                    }),
                    Some((name, _)) => {
                        if let Ok(dir) = dir.join(name) {
                            listing.dirs.push(dir);
                        }
                        // '0' is the byte after '/': the first key after that directory.
                        skip_to = Some(format!("{prefix}{name}0"));
                        break;
                    }
                }
            }
            match skip_to {
                Some(next) => from = next,
                None => return listing,
            }
        }
    }
}

/// The smallest string that is greater than every string that starts with `prefix`, if it is easy
/// to compute.
fn behind(prefix: &str) -> Option<String> {
    let (at, last) = prefix.char_indices().next_back()?;
    let next = u8::try_from(last).ok().filter(|last| *last < 127)? + 1;
    Some(format!("{}{}", prefix.get(..at)?, char::from(next)))
}
