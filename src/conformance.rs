//! The behaviours every backend must show, as cases that any implementation runs. A case names
//! what it needs of the [`Capability`]; a backend that does not promise that much does not run
//! it. Each case gets an empty backend of its own, made to create and never overwrite.
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
mod searching;
mod words;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, join_all};

use crate::error::{Kind, Result};
use crate::path::VPath;
use crate::protocol::{
    Backend, Capability, Directories, Edit, GlobQuery, GrepQuery, Page, Reach, SharedBackend,
};

/// One behaviour.
pub struct Case {
    /// What it says, as a sentence with underscores.
    pub name: &'static str,
    /// Whether a backend that promises this much must show it.
    pub needs: fn(&Capability) -> bool,
    /// Shows it, or says what was seen instead.
    pub run: for<'a> fn(&'a dyn Backend) -> LocalBoxFuture<'a, Outcome>,
}

/// What a case came to.
pub type Outcome = std::result::Result<(), String>;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Report {
    /// Cases that held.
    pub passed: usize,
    /// Cases that the backend does not promise enough for.
    pub left_out: Vec<&'static str>,
    /// Cases that did not hold, a sentence each.
    pub failures: Vec<String>,
}

/// Runs every case that the backend's capability asks for, each on a fresh backend.
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
    report
}

/// Every case.
pub fn cases() -> Vec<Case> {
    [
        reading::reading(),
        changing::changing(),
        searching::searching(),
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

    use futures_util::FutureExt;

    use super::*;
    use crate::backend::files::{Files, FilesOptions};
    use crate::backend::state::Memory;
    use crate::storage::{
        Cursor, Depth, File, Listing, Meta, NewFile, Pending, PutMode, Storage, Version,
    };

    fn conforms(make: impl Fn() -> SharedBackend) -> Report {
        let report = run(async || Ok(make()))
            .now_or_never()
            .expect("memory answers at once");
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        report
    }

    #[test]
    fn memory_conforms() {
        let make = || Rc::new(Files::new(Memory::default(), FilesOptions::default()));
        assert!(conforms(|| make()).passed > 25);
    }

    /// Memory with nothing but the required methods, and pages of two, so that what the trait
    /// itself provides is shown as well.
    struct Bare(Memory);

    impl Storage for Bare {
        fn capability(&self) -> Capability {
            self.0.capability()
        }
        fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
            self.0.stat(path)
        }
        fn get<'a>(
            &'a self,
            path: &'a VPath,
            range: Option<std::ops::Range<u64>>,
        ) -> Pending<'a, Option<File>> {
            self.0.get(path, range)
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
