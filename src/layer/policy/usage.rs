//! The ledger of a quota: what is stored, and what is reserved by calls in progress. Space is
//! reserved before a call and settled after it, so two concurrent calls can never both take the
//! last of it. If an outcome is unknown, the ledger is reset and counted again when it is needed, but
//! not before the host has finished what calls that were given up have left to it.

use std::ops::Bound;

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::lock::Mutex;
use crate::core::path::{ByPath, VPath};
use crate::core::unsettled::{self, Unsettled};
use crate::env::timer;
use crate::protocol::{Backend, BackendExt, EntryInfo, files_beneath};

/// The limits of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Total size of all files in bytes.
    pub max_bytes: Option<u64>,
    /// Number of files.
    pub max_files: Option<u64>,
    /// Size of one file in bytes.
    pub max_file_bytes: Option<u64>,
}

/// How many files are read at a time if their sizes are not listed.
const READ_AT_ONCE: usize = 16;

/// Counts files that a backend lists without their sizes, by reading them.
async fn measure(raw: &dyn Backend, paths: &[VPath], counted: &mut Counted) -> Result<()> {
    for batch in paths.chunks(READ_AT_ONCE) {
        for (path, answer) in batch.iter().zip(raw.download(batch).await) {
            match answer {
                Ok(body) => counted.set(path, body.len() as u64),
                // Deleted meanwhile.
                Err(error) if error.is_no_file() => {}
                Err(error) => {
                    return Err(Error::at(
                        error.kind(),
                        "The quota could not be counted: the backend does not list the size of '",
                        path,
                        format!("', and reading it failed: {error}"),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// How often a count is restarted because files changed meanwhile.
const RECOUNTS: usize = 32;

pub(super) struct Ledger {
    /// Counted again if a trap interrupted a mutation.
    books: RefCell<Books>,
    counting: Mutex<()>,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger {
            books: RefCell::renewable(Books::default),
            counting: Mutex::default(),
        }
    }
}

type Sizes = ByPath<u64>;

#[derive(Default)]
struct Books {
    counted: Option<Counted>,
    /// What the calls in progress will store, by path.
    in_progress: Sizes,
    /// The sum of what these reserve, beyond what is counted.
    reserved: Reserved,
    /// What calls that were given up may still store.
    left: Vec<Unsettled>,
    /// Incremented by everything that may change what is stored.
    changes: u64,
}

#[derive(Default)]
struct Counted {
    sizes: Sizes,
    bytes: u64,
}

/// Space that is reserved: what a file needs beyond what is counted at its path.
#[derive(Clone, Copy, Default)]
struct Reserved {
    bytes: u64,
    files: u64,
}

impl Reserved {
    fn of(size: u64, before: Option<u64>) -> Reserved {
        Reserved {
            bytes: size.saturating_sub(before.unwrap_or(0)),
            files: u64::from(before.is_none()),
        }
    }

    fn add(&mut self, other: Reserved) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files = self.files.saturating_add(other.files);
    }
}

impl Books {
    /// Forgets a call in progress. What is counted at its path is still what it was when the space
    /// was reserved or last counted, since the call holds the lock of that path.
    fn end(&mut self, path: &VPath) {
        if let Some(size) = self.in_progress.remove(path)
            && let Some(counted) = &self.counted
        {
            let reserved = Reserved::of(*size, counted.size(path));
            self.reserved.bytes = self.reserved.bytes.saturating_sub(reserved.bytes);
            self.reserved.files = self.reserved.files.saturating_sub(reserved.files);
        }
    }

    fn count(&mut self, counted: Counted) {
        self.reserved = Reserved::default();
        for (path, size) in &self.in_progress {
            let reserved = Reserved::of(**size, counted.size(path));
            self.reserved.add(reserved);
        }
        self.counted = Some(counted);
    }
}

impl Counted {
    fn size(&self, path: &VPath) -> Option<u64> {
        self.sizes.get(path).map(|size| **size)
    }

    fn set(&mut self, path: &VPath, size: u64) {
        let before = self.sizes.insert(path.clone(), Box::new(size));
        let before = before.map_or(0, |size| *size);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(size);
    }
}

/// Space reserved for one file. If it is dropped without being settled, for example when its call
/// is cancelled, the ledger is reset, because the state of the file is unknown.
pub(super) struct Reservation<'a> {
    ledger: &'a Ledger,
    path: VPath,
    size: u64,
    settled: bool,
}

impl Ledger {
    /// Counts what is stored, unless that is known.
    pub(super) async fn count(&self, raw: &dyn Backend) -> Result<()> {
        if self.books.borrow().counted.is_some() {
            return Ok(());
        }
        let _alone = self.counting.lock().await;
        self.settle().await?;
        for _ in 0..RECOUNTS {
            let changes = {
                let books = self.books.borrow();
                if books.counted.is_some() {
                    return Ok(());
                }
                books.changes
            };
            let mut counted = Counted::default();
            let mut unsized_files = Vec::new();
            for info in files_beneath(raw, &VPath::root()).await? {
                match info.entry {
                    EntryInfo::File {
                        size: Some(size), ..
                    } => counted.set(&info.path, size),
                    EntryInfo::File { size: None, .. } => unsized_files.push(info.path),
                    EntryInfo::Directory => {}
                }
            }
            measure(raw, &unsized_files, &mut counted).await?;
            let mut books = self.books.borrow_mut();
            if books.changes == changes {
                books.count(counted);
                return Ok(());
            }
        }
        Err(Error::new(
            Kind::Unavailable,
            "The quota could not be counted: files change faster than they can be counted",
        ))
    }

    /// Waits for what calls that were given up have left to the host.
    async fn settle(&self) -> Result<()> {
        loop {
            let work = {
                let mut books = self.books.borrow_mut();
                books.left.retain(|work| !work.is_settled());
                books.left.first().cloned()
            };
            let Some(work) = work else { return Ok(()) };
            if !work.wait(timer::sleep).await {
                return Err(Error::new(
                    Kind::Unavailable,
                    "The quota could not be counted: an earlier change was given up, but the \
                     storage has not finished it and may still make it. Try again when the \
                     storage answers.",
                ));
            }
        }
    }

    /// Reserves space for a file of that size at a path. The caller has counted, and holds the lock
    /// of that path.
    pub(super) fn reserve(
        &self,
        limits: &Limits,
        path: &VPath,
        size: u64,
    ) -> Result<Reservation<'_>> {
        let over = |what: String| {
            Error::at(
                Kind::QuotaExceeded,
                "Cannot store '",
                path,
                format!("': {what}. Delete files, or ask the operator for more."),
            )
            .decided_by("quota")
        };
        if let Some(max) = limits.max_file_bytes
            && size > max
        {
            return Err(Error::at(
                Kind::QuotaExceeded,
                "Cannot store '",
                path,
                format!("': it would be {size} bytes, over the limit of {max} for one file"),
            )
            .decided_by("quota"));
        }
        let mut books = self.books.borrow_mut();
        let Some(counted) = &books.counted else {
            return Err(Error::internal("A quota was used before it was counted"));
        };
        let reserved = Reserved::of(size, counted.size(path));
        let Reserved { bytes, files } = reserved;
        let all_bytes = counted
            .bytes
            .saturating_add(books.reserved.bytes)
            .saturating_add(bytes);
        let all_files = (counted.sizes.len() as u64)
            .saturating_add(books.reserved.files)
            .saturating_add(files);
        if let Some(max) = limits.max_bytes
            && bytes > 0
            && all_bytes > max
        {
            return Err(over(format!(
                "all files together would be {all_bytes} bytes, over the quota of {max}"
            )));
        }
        if let Some(max) = limits.max_files
            && files > 0
            && all_files > max
        {
            return Err(over(format!(
                "there would be {all_files} files, over the quota of {max}"
            )));
        }
        books.reserved.add(reserved);
        books.in_progress.insert(path.clone(), Box::new(size));
        Ok(Reservation {
            ledger: self,
            path: path.clone(),
            size,
            settled: false,
        })
    }

    /// Records that a file, or a directory with everything below, was deleted.
    pub(super) fn removed(&self, path: &VPath) {
        let mut books = self.books.borrow_mut();
        books.changes = books.changes.wrapping_add(1);
        let Some(counted) = &mut books.counted else {
            return;
        };
        let prefix = path.dir_prefix();
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let beneath = counted.sizes.range::<str, _>(from).next();
        if beneath.is_some_and(|(first, _)| first.as_str().starts_with(&prefix)) {
            // Others may have written there at the same time.
            books.counted = None;
        } else if let Some(size) = counted.sizes.remove(path) {
            counted.bytes = counted.bytes.saturating_sub(*size);
        }
    }

    /// Resets the ledger: what is stored is unknown.
    pub(super) fn forget(&self) {
        let mut books = self.books.borrow_mut();
        books.changes = books.changes.wrapping_add(1);
        books.counted = None;
        books.left.retain(|work| !work.is_settled());
        unsettled::each_of_this_call(&mut |_, work| books.left.push(work.clone()));
    }
}

impl Reservation<'_> {
    /// Settles the reservation, given the result of the write.
    pub(super) fn settle<T>(mut self, path: &VPath, answer: &Result<T>) {
        match answer {
            Ok(_) => {
                let mut books = self.ledger.books.borrow_mut();
                books.changes = books.changes.wrapping_add(1);
                books.end(path);
                if let Some(counted) = &mut books.counted {
                    counted.set(path, self.size);
                }
                self.settled = true;
            }
            // The write may have happened despite these errors.
            Err(error) => {
                self.settled = !matches!(
                    error.kind(),
                    Kind::Unavailable | Kind::Timeout | Kind::Internal
                );
            }
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        {
            let mut books = self.ledger.books.borrow_mut();
            books.end(&self.path);
        }
        if !self.settled && !has(Bug::QuotaForgetful) {
            self.ledger.forget();
        }
    }
}
