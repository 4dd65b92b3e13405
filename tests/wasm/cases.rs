//! The core where it will live: as wasm, in Node (`tests/wasm/node.rs`) and in a browser
//! (`tests/wasm/browser.rs`). What is tested natively is not all repeated; here stands what may
//! differ in wasm, such as the clock, 32-bit sizes and SIMD.

#[cfg(test)]
#[path = "../../src/conformance/recorded.rs"]
mod recorded;

use std::rc::Rc;

use kitbag::conformance;
use kitbag::core::path::VPath;
use kitbag::core::scan;
use kitbag::env::clock;
use kitbag::files::{Files, FilesOptions};
use kitbag::protocol::SharedBackend;
use kitbag::storage::memory::Memory;
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

/// At the seams of what is read sixteen bytes at a time: vectors of 16, runs of 2,032.
#[wasm_bindgen_test]
fn newlines_and_foreign_bytes_are_seen_wherever_they_stand() {
    for length in (0..70usize).chain(2025..2040).chain(4060..4070) {
        for at in [0, 1, 15, 16, length / 2, length.saturating_sub(1)] {
            let mut text = vec![b'x'; length];
            assert_eq!((scan::newlines(&text), scan::is_ascii(&text)), (0, true));
            let Some(byte) = text.get_mut(at) else {
                continue;
            };
            *byte = b'\n';
            assert_eq!(scan::newlines(&text), 1, "{at} of {length}");
            text.fill(b'\n');
            assert_eq!(scan::newlines(&text), length);
            for foreign in [0x80, 0xff] {
                text.fill(0x7f);
                text.get_mut(at)
                    .into_iter()
                    .for_each(|byte| *byte = foreign);
                assert!(!scan::is_ascii(&text), "{at} of {length}");
                assert_eq!(scan::newlines(&text), 0);
            }
        }
    }
    let mixed: Vec<u8> = (0..100_003u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let plain = mixed.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(scan::newlines(&mixed), plain);
    assert!(plain > 100);
}

/// Characters of one to four bytes at the same seams.
#[wasm_bindgen_test]
fn units_of_utf_16_are_counted_wherever_their_characters_stand() {
    for letter in [
        "a",
        "\u{7f}",
        "\u{80}",
        "\u{7ff}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
    ] {
        for length in (0..70usize).chain(2010..2040).chain(4050..4070) {
            let before = "x".repeat(length);
            for text in [
                letter.repeat(length),
                format!("{before}{letter}"),
                format!("{before}{letter}y"),
            ] {
                let units = text.encode_utf16().count();
                assert_eq!(
                    scan::utf16_units(text.as_bytes()),
                    units,
                    "{letter:?} {length}"
                );
            }
        }
    }
}

#[wasm_bindgen_test]
async fn memory_conforms() {
    let make = async || {
        let memory = Memory::default();
        let backend: SharedBackend = Rc::new(Files::new(memory, FilesOptions::default()));
        Ok(backend)
    };
    let mut report = conformance::run(make).await;
    recorded::run(make, &mut report).await;
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed > 100, "only {} cases ran", report.passed);
}
