//! `OpfsBackend`: files in the origin-private file system, or in a directory the user picked.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::env::dom::Herald;
use crate::files::Files;
use crate::storage::browser::CrashProtection;
use crate::storage::browser::opfs::{Opfs, Root};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(JsValue, Vec<String>, bool, bool, Function) -> u32,
}

chunk!("opfs", Functions = Functions { new });

/// Creates the backend and returns its handle. `directory` is a directory handle, or `undefined`
/// for the origin's own file system; `steps` are the directories below it. `tell` is called with
/// the paths of each change.
#[wasm_bindgen]
pub fn opfs_new(
    directory: JsValue,
    steps: Vec<String>,
    overwrite: bool,
    crash_protection: bool,
    tell: Function,
) -> u32 {
    (chunk().new)(directory, steps, overwrite, crash_protection, tell)
}

fn new(
    directory: JsValue,
    steps: Vec<String>,
    overwrite: bool,
    crash_protection: bool,
    tell: Function,
) -> u32 {
    let options = files_options(overwrite, false, -1.0);
    let root = if directory.is_undefined() {
        Root::Origin(steps)
    } else {
        Root::Given(directory, steps)
    };
    let protection = if crash_protection {
        CrashProtection::On
    } else {
        CrashProtection::Off
    };
    let storage = Opfs::new(root, protection, Herald::new(Some(tell)));
    handles::hold(Rc::new(Files::new(storage, options)))
}
