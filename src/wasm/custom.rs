//! `CustomBackend`: a storage written in JavaScript.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::files::Files;
use crate::storage::custom::Custom;
use crate::storage::custom_values::capability_of;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(JsValue, &JsValue, bool, bool, bool, f64) -> u32,
}

chunk!("custom", Functions = Functions { new });

/// Creates a backend over a storage written in JavaScript. A negative limit means no limit.
#[wasm_bindgen]
pub fn custom_new(
    object: JsValue,
    promises: &JsValue,
    writable: bool,
    overwrite: bool,
    v1: bool,
    max_file_bytes: f64,
) -> u32 {
    (chunk().new)(object, promises, writable, overwrite, v1, max_file_bytes)
}

fn new(
    object: JsValue,
    promises: &JsValue,
    writable: bool,
    overwrite: bool,
    v1: bool,
    max_file_bytes: f64,
) -> u32 {
    let storage = Custom::new(object, capability_of(promises, writable));
    let options = files_options(overwrite, v1, max_file_bytes);
    handles::hold(Rc::new(Files::new(storage, options)))
}
