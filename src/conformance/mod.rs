//! The behaviours that every backend must have, as cases that any implementation can run. Each case
//! states what it needs of the [`Capability`], and is skipped for backends without it. Each case
//! gets a new empty backend, configured to create files and never overwrite.
//!
//! Most cases are those of `kitbag/conformance`, replayed by `recorded.rs` in tests. Written in Rust
//! are only those that a recording cannot contain: concurrent calls, times, large files, and what a
//! `StateBackend` does not have.
//!
//! ```no_run
//! # async fn example(make: impl Fn() -> kitbag::protocol::SharedBackend) {
//! let report = kitbag::conformance::run(async || Ok(make())).await;
//! assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
//! # }
//! ```

mod batches;
mod changing;
mod racing;
mod reading;
#[cfg(test)]
mod recorded;
mod words;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, join_all};

use crate::core::error::{Kind, Result};
use crate::protocol::{Backend, Capability, Directories, GrepQuery, Page, Reach, SharedBackend};

/// One behaviour.
pub struct Case {
    /// The behaviour as a sentence, with underscores.
    pub name: &'static str,
    /// Whether a backend with this capability must pass the case.
    pub needs: fn(&Capability) -> bool,
    /// Runs the case; the error describes what was observed instead.
    pub run: for<'a> fn(&'a dyn Backend) -> LocalBoxFuture<'a, Outcome>,
}

/// The outcome of a case.
pub type Outcome = std::result::Result<(), String>;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of cases that passed.
    pub passed: usize,
    /// Cases that the backend's capability excludes.
    pub left_out: Vec<&'static str>,
    /// Cases that failed, one message each.
    pub failures: Vec<String>,
}

/// Runs every case that applies to the backend's capability, each on a new backend.
pub async fn run(make: impl AsyncFn() -> Result<SharedBackend>) -> Report {
    let mut report = Report::default();
    for case in cases() {
        let backend = match make().await {
            Ok(backend) => backend,
            Err(error) => {
                report
                    .failures
                    .push(format!("{}: no backend: {error:?}", case.name));
                continue;
            }
        };
        if !(case.needs)(&backend.capability()) {
            report.left_out.push(case.name);
            continue;
        }
        match (case.run)(&*backend).await {
            Ok(()) => report.passed += 1,
            Err(seen) => report.failures.push(format!("{}: {seen}", case.name)),
        }
    }
    #[cfg(test)]
    recorded::run(make, &mut report).await;
    report
}

/// All cases.
pub fn cases() -> Vec<Case> {
    [
        reading::reading(),
        changing::changing(),
        batches::batches(),
        racing::racing(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::core::future::Pending;
    use crate::core::path::VPath;
    use crate::core::testing::now;
    use crate::files::{Files, FilesOptions};
    use crate::storage::memory::Memory;
    use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

    fn conforms(make: impl Fn() -> SharedBackend) -> Report {
        let report = now(run(async || Ok(make())));
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        report
    }

    #[test]
    fn memory_conforms() {
        let make = || Rc::new(Files::new(Memory::default(), FilesOptions::default()));
        assert!(conforms(|| make()).passed > 110);
    }

    /// Memory with only the required methods, and pages of two, so that the provided methods of the
    /// trait are tested as well.
    struct Bare(Memory);

    impl Storage for Bare {
        fn capability(&self) -> Capability {
            self.0.capability()
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
            Box::pin(async move {
                let mut whole = self.0.list(dir, depth, None).await?;
                let start: usize = from.map_or(0, |cursor| cursor.0.parse().expect("ours"));
                let end = (start + 2).min(whole.files.len());
                let next = (end < whole.files.len()).then(|| Cursor(end.to_string().into()));
                let dirs = if start == 0 {
                    std::mem::take(&mut whole.dirs)
                } else {
                    Vec::new()
                };
                Ok(Listing {
                    files: whole.files[start..end].to_vec(),
                    dirs,
                    next,
                })
            })
        }
    }

    #[test]
    fn what_the_storage_trait_provides_conforms() {
        conforms(|| Rc::new(Files::new(Bare(Memory::default()), FilesOptions::default())));
    }
}
