//! Backends over what the host lends: a storage of the caller's own, a disk, a shell.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::backend::custom::Custom;
use crate::backend::custom_values::capability_of;
use crate::backend::files::{Files, FilesOptions, WriteMode};
use crate::file::Format;
use crate::wasm::handles;

fn options(overwrite: bool, v1: bool, max_file_bytes: f64) -> FilesOptions {
    FilesOptions {
        write_mode: if overwrite {
            WriteMode::Overwrite
        } else {
            WriteMode::Create
        },
        format: if v1 { Format::V1 } else { Format::V2 },
        // A float-to-integer cast saturates.
        max_file_bytes: (max_file_bytes >= 0.0).then_some(max_file_bytes as u64),
    }
}

/// Every operation over a storage written in JavaScript. A limit below zero is none.
#[wasm_bindgen]
pub fn custom_new(
    object: JsValue,
    promises: &JsValue,
    writable: bool,
    overwrite: bool,
    v1: bool,
    max_file_bytes: f64,
) -> u32 {
    let storage = Custom::new(object, capability_of(promises, writable));
    let options = options(overwrite, v1, max_file_bytes);
    handles::hold(Rc::new(Files::new(storage, options)))
}
