//! `StoreBackend`: files in a LangGraph store.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::backend::files::{Files, FilesOptions, WriteMode};
use crate::backend::sql::dialect::check_namespace;
use crate::backend::store::Items;
use crate::file::Format;
use crate::wasm::handles;

/// A new one. A namespace that cannot be is thrown as a sentence.
#[wasm_bindgen]
pub fn store_new(
    store: JsValue,
    namespace: Vec<String>,
    overwrite: bool,
    v1: bool,
    raw_bytes: bool,
) -> std::result::Result<u32, JsValue> {
    let parts: Vec<&str> = namespace.iter().map(String::as_str).collect();
    check_namespace(&parts).map_err(|error| JsValue::from_str(&error.to_string()))?;
    let options = FilesOptions {
        write_mode: if overwrite {
            WriteMode::Overwrite
        } else {
            WriteMode::Create
        },
        format: if v1 { Format::V1 } else { Format::V2 },
        max_file_bytes: None,
    };
    let items = Items::new(store, namespace, raw_bytes);
    Ok(handles::hold(Rc::new(Files::new(items, options))))
}

/// Another handle of the same backend, so that all who use it take turns together.
#[wasm_bindgen]
pub fn store_share(handle: u32) -> u32 {
    match handles::itself::<Files<Items>>(handle) {
        Ok(files) => handles::hold(files),
        // Nothing stands behind 0: each call answers that the backend was closed.
        Err(_) => 0,
    }
}
