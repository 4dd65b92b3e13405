//! `StoreBackend`: files in a LangGraph store.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::store::{Binary, StoreGiven};
use crate::core::error::Result;
use crate::files::{Files, FilesOptions};
use crate::storage::sql::dialect::check_namespace;
use crate::storage::store::Items;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
    share: fn(u32) -> u32,
}

chunk!("store", Functions = Functions { new, share });

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn store_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: StoreGiven = read(len)?;
    let parts: Vec<&str> = given.namespace.iter().map(String::as_str).collect();
    check_namespace(&parts)?;
    let options = FilesOptions {
        write_mode: given.write_mode,
        format: given.file_format,
        max_file_bytes: None,
    };
    let raw = given.binary == Binary::Raw;
    let items = Items::new(hosts.value(given.store), given.namespace, raw);
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
