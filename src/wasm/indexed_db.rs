//! `IndexedDbBackend`: files in IndexedDB.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::browser::IndexedDbGiven;
use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::core::error::Result;
use crate::env::dom::Herald;
use crate::files::Files;
use crate::storage::browser::indexed_db::{IndexedDb, Options};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("idb", Functions = Functions { new });

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn indexed_db_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: IndexedDbGiven = read(len)?;
    let options = Options {
        database: given.database,
        namespace: given.namespace,
        durability: given.durability,
        patience: given.open_timeout_ms,
        protection: given.crash_protection,
    };
    let storage = IndexedDb::new(&options, Herald::new(Some(hosts.function(given.tell))));
    let files = files_options(given.write_mode);
    Ok(handles::hold(Rc::new(Files::new(storage, files))))
}
