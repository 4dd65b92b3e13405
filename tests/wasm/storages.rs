//! The conformance suite on the browser's own storages, in the browser (suite `wasm-chrome`).

#![cfg(target_arch = "wasm32")]

#[cfg(test)]
#[path = "../../src/conformance/recorded.rs"]
mod recorded;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use kitbag::conformance;
use kitbag::env::dom::Herald;
use kitbag::env::random;
use kitbag::files::{Files, FilesOptions};
use kitbag::protocol::SharedBackend;
use kitbag::storage::browser::indexed_db::{IndexedDb, Options};
use kitbag::storage::browser::opfs::{Opfs, Root};
use kitbag::storage::browser::{CrashProtection, Durability};
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
    let make = |name| -> SharedBackend {
        let root = Root::Origin(vec![name]);
        let storage = Opfs::new(root, CrashProtection::Off, Herald::new(None));
        Rc::new(Files::new(storage, FilesOptions::default()))
    };
    conforms(make, 100).await;
}
