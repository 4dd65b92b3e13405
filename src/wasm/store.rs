//! `StoreBackend`: files in a LangGraph store.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::files::Files;
use crate::storage::sql::dialect::check_namespace;
use crate::storage::store::Items;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

type Made = std::result::Result<u32, JsValue>;

struct Functions {
    new: fn(JsValue, Vec<String>, bool, bool, bool) -> Made,
    share: fn(u32) -> u32,
}

chunk!("store", Functions = Functions { new, share });

/// Creates the backend and returns its handle. An invalid namespace throws a message.
#[wasm_bindgen]
pub fn store_new(
    store: JsValue,
    namespace: Vec<String>,
    overwrite: bool,
    v1: bool,
    raw_bytes: bool,
) -> Made {
    (chunk().new)(store, namespace, overwrite, v1, raw_bytes)
}

fn new(store: JsValue, namespace: Vec<String>, overwrite: bool, v1: bool, raw_bytes: bool) -> Made {
    let parts: Vec<&str> = namespace.iter().map(String::as_str).collect();
    check_namespace(&parts).map_err(|error| JsValue::from_str(&error.to_string()))?;
    let options = files_options(overwrite, v1, -1.0);
    let items = Items::new(store, namespace, raw_bytes);
    Ok(handles::hold(Rc::new(Files::new(items, options))))
}

/// Another handle to the same backend, so that all its users share one set of locks.
#[wasm_bindgen]
pub fn store_share(handle: u32) -> u32 {
    (chunk().share)(handle)
}

fn share(handle: u32) -> u32 {
    match handles::itself::<Files<Items>>(handle) {
        Ok(files) => handles::hold(files),
        // 0 is no valid handle: each call fails with the error for a closed backend.
        Err(_) => 0,
    }
}
