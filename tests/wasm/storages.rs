//! The conformance suite on the browser's own storages, in the browser (suite `wasm-chrome`).

#![cfg(target_arch = "wasm32")]

#[cfg(test)]
#[path = "../../src/conformance/recorded.rs"]
mod recorded;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use kitbag::conformance;
use kitbag::core::error::Result;
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::env::dom::Herald;
use kitbag::env::random;
use kitbag::files::{Files, FilesOptions};
use kitbag::protocol::{BackendExt, Capability, GrepQuery, SharedBackend};
use kitbag::storage::browser::CrashProtection;
use kitbag::storage::browser::cached::{Cached, Names, Slow};
use kitbag::storage::browser::database::connection::Durability;
use kitbag::storage::browser::indexed_db::{IndexedDb, Options};
use kitbag::storage::browser::opfs::{Opfs, Root};
use kitbag::storage::memory::Memory;
use kitbag::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// Runs every case, each in a place of its own.
async fn conforms(make: impl Fn(String) -> SharedBackend, least: usize) {
    let run = random::id();
    let count = Cell::new(0);
    let fresh = async || {
        count.set(count.get() + 1);
        Ok(make(format!("{run}-{}", count.get())))
    };
    let mut report = conformance::run(&fresh).await;
    recorded::run(&fresh, &mut report).await;
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed >= least, "only {} cases ran", report.passed);
}

#[wasm_bindgen_test]
async fn indexed_db_conforms() {
    let make = |namespace| -> SharedBackend {
        let options = Options {
            database: "conformance".into(),
            namespace,
            durability: Durability::Relaxed,
            patience: Duration::from_secs(10),
            protection: CrashProtection::Off,
        };
        let storage = IndexedDb::new(&options, Herald::new(None));
        Rc::new(Files::new(storage, FilesOptions::default()))
    };
    conforms(make, 100).await;
}

#[wasm_bindgen_test]
async fn opfs_conforms() {
    for exclusive in [false, true] {
        let make = |name| -> SharedBackend {
            let root = Root::Origin(vec![name]);
            let off = CrashProtection::Off;
            let storage = Opfs::new(root, off, Herald::new(None));
            if exclusive {
                let cached = Cached::new(storage, "conformance-cache", off);
                return Rc::new(Files::new(cached, FilesOptions::default()));
            }
            Rc::new(Files::new(storage, FilesOptions::default()))
        };
        conforms(make, 100).await;
    }
}

/// Files in memory that count how often somebody asks for the metadata or the bytes of one.
struct Counted {
    files: Memory,
    place: String,
    looks: Rc<Cell<usize>>,
}

impl Counted {
    fn look(&self) {
        self.looks.set(self.looks.get() + 1);
    }
}

impl Storage for Counted {
    fn capability(&self) -> Capability {
        self.files.capability()
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.look();
        self.files.stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.look();
        self.files.get(path)
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        self.files.put(path, file, mode)
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.files.delete(path, version)
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        self.files.list(dir, depth, from)
    }
}

impl Slow for Counted {
    fn place(&self) -> Pending<'_, Rc<str>> {
        Box::pin(async { Ok(self.place.as_str().into()) })
    }

    fn names<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Names> {
        Box::pin(async move {
            let Listing { files, dirs, .. } = self.files.list(dir, Depth::One, None).await?;
            let files = files.into_iter().map(|entry| entry.path).collect();
            Ok(Names { files, dirs })
        })
    }
}

fn cached_memory(place: String, looks: &Rc<Cell<usize>>) -> SharedBackend {
    let files = Counted {
        files: Memory::new(u64::MAX),
        place,
        looks: looks.clone(),
    };
    let cached = Cached::new(files, "conformance-memory", CrashProtection::Off);
    Rc::new(Files::new(cached, FilesOptions::default()))
}

#[wasm_bindgen_test]
async fn a_cache_conforms_over_a_storage_that_is_not_of_the_browser() {
    conforms(|place| cached_memory(place, &Rc::default()), 26).await;
}

/// The number of matches of a search, and how often it asked the storage.
async fn search_of_a_cache() -> Result<(usize, usize)> {
    let looks = Rc::default();
    let files = cached_memory(random::id(), &looks);
    let path = VPath::parse("/a/b.txt")?;
    for uploaded in files.upload(vec![(path, "needle\n".into())]).await {
        uploaded?;
    }
    looks.set(0);
    let found = files.grep(&GrepQuery::literal("needle")).await?;
    Ok((found.matches.rows.len(), looks.get()))
}

#[wasm_bindgen_test]
async fn a_cache_searches_without_asking_its_storage() {
    assert!(matches!(search_of_a_cache().await, Ok((1, 0))));
}
