//! `IndexedDbBackend`: files in IndexedDB.

use std::rc::Rc;
use std::time::Duration;

use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::env::dom::Herald;
use crate::files::Files;
use crate::storage::browser::CrashProtection;
use crate::storage::browser::database::connection::Durability;
use crate::storage::browser::indexed_db::{IndexedDb, Options};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(String, String, bool, bool, bool, f64, Function) -> u32,
}

chunk!("idb", Functions = Functions { new });

/// Creates the backend and returns its handle. `tell` is called with the paths of each change.
#[wasm_bindgen]
pub fn indexed_db_new(
    database: String,
    namespace: String,
    overwrite: bool,
    strict: bool,
    crash_protection: bool,
    open_timeout_ms: f64,
    tell: Function,
) -> u32 {
    (chunk().new)(
        database,
        namespace,
        overwrite,
        strict,
        crash_protection,
        open_timeout_ms,
        tell,
    )
}

fn new(
    database: String,
    namespace: String,
    overwrite: bool,
    strict: bool,
    crash_protection: bool,
    open_timeout_ms: f64,
    tell: Function,
) -> u32 {
    let files = files_options(overwrite, false, -1.0);
    let options = Options {
        database,
        namespace,
        durability: if strict {
            Durability::Strict
        } else {
            Durability::Relaxed
        },
        // A float-to-integer cast saturates.
        patience: Duration::from_millis(open_timeout_ms as u64),
        protection: if crash_protection {
            CrashProtection::On
        } else {
            CrashProtection::Off
        },
    };
    let storage = IndexedDb::new(&options, Herald::new(Some(tell)));
    handles::hold(Rc::new(Files::new(storage, files)))
}
