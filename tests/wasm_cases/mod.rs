//! The core where it will live: as wasm, in Node (`tests/wasm_node.rs`) and in a browser
//! (`tests/wasm_browser.rs`). What is tested natively is not all repeated; here stands what may
//! differ in wasm, such as the clock, 32-bit sizes and SIMD.

use std::rc::Rc;

use kitbag::backend::files::{Files, FilesOptions};
use kitbag::backend::state::Memory;
use kitbag::conformance;
use kitbag::env::clock;
use kitbag::path::VPath;
use kitbag::protocol::SharedBackend;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_clock_tells_a_time_after_this_was_written() {
    let now = clock::now();
    assert!(now.micros() > 1_700_000_000_000_000);
}

#[wasm_bindgen_test]
fn paths_are_read_as_they_are_natively() {
    let parsed = VPath::parse("//a/./b/");
    assert_eq!(parsed.ok().as_ref().map(VPath::as_str), Some("/a/b"));
    assert!(VPath::parse("/a/../b").is_err());
}

#[wasm_bindgen_test]
async fn memory_conforms() {
    let make = async || {
        let memory = Memory::default();
        let backend: SharedBackend = Rc::new(Files::new(memory, FilesOptions::default()));
        Ok(backend)
    };
    let report = conformance::run(make).await;
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed > 25, "only {} cases ran", report.passed);
}
