//! `FilesystemBackend` and `LocalShellBackend`: a folder of the host, with or without a shell.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::file;
use crate::core::path::VPath;
use crate::files::Files;
use crate::layer::with_shell::{HostShell, WithShell};
use crate::storage::custom_values::capability_of;
use crate::storage::disk::HostDisk;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(JsValue, &JsValue, bool, Option<String>, Option<Function>) -> u32,
}

chunk!("disk", Functions = Functions { new });

/// Creates a backend over a folder of the host's disk; with an id and a callback, it also runs
/// commands.
#[wasm_bindgen]
pub fn disk_new(
    object: JsValue,
    promises: &JsValue,
    overwrite: bool,
    id: Option<String>,
    execute: Option<Function>,
) -> u32 {
    (chunk().new)(object, promises, overwrite, id, execute)
}

fn new(
    object: JsValue,
    promises: &JsValue,
    overwrite: bool,
    id: Option<String>,
    execute: Option<Function>,
) -> u32 {
    let storage = HostDisk::new(object, capability_of(promises, true));
    let files = Files::new(storage, files_options(overwrite, false, -1.0));
    match (id, execute) {
        (Some(id), Some(execute)) => {
            let shell = HostShell::new(&id, execute);
            handles::hold(Rc::new(WithShell::new(files, shell)))
        }
        _ => handles::hold(Rc::new(files)),
    }
}

/// Whether a file's name alone shows that it is not text.
#[wasm_bindgen]
pub fn is_binary_name(name: &str) -> bool {
    VPath::parse(name).is_ok_and(|path| file::is_binary_name(&path))
}
