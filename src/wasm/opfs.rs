//! `OpfsBackend`: files in the origin-private file system, or in a directory the user picked.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::env::dom::Herald;
use crate::files::Files;
use crate::storage::browser::CrashProtection;
use crate::storage::browser::cached::Cached;
use crate::storage::browser::opfs::{Opfs, Root};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

/// The database of the cache, for all directories of an origin.
const CACHE: &str = "kitbag-opfs";

struct Functions {
    new: fn(JsValue, Vec<String>, bool, bool, bool, Function) -> u32,
}

chunk!("opfs", Functions = Functions { new });

/// Creates the backend and returns its handle. `directory` is a directory handle, or `undefined`
/// for the origin's own file system; `steps` are the directories below it; `exclusive` is the
/// caller's promise that only backends with this option write there. `tell` is called with the
/// paths of each change.
#[wasm_bindgen]
pub fn opfs_new(
    directory: JsValue,
    steps: Vec<String>,
    overwrite: bool,
    exclusive: bool,
    crash_protection: bool,
    tell: Function,
) -> u32 {
    (chunk().new)(
        directory,
        steps,
        overwrite,
        exclusive,
        crash_protection,
        tell,
    )
}

fn new(
    directory: JsValue,
    steps: Vec<String>,
    overwrite: bool,
    exclusive: bool,
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
    if exclusive {
        let cached = Cached::new(storage, CACHE, protection);
        return handles::hold(Rc::new(Files::new(cached, options)));
    }
    handles::hold(Rc::new(Files::new(storage, options)))
}
