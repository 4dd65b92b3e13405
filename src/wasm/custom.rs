//! `CustomBackend`: a storage written in JavaScript.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::disk::CustomGiven;
use crate::boundary::read;
use crate::core::error::Result;
use crate::files::{Files, FilesOptions};
use crate::storage::custom::Custom;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("custom", Functions = Functions { new });

/// Creates a backend over a storage written in JavaScript; replies with its handle.
#[wasm_bindgen]
pub fn custom_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: CustomGiven = read(len)?;
    let options = FilesOptions {
        write_mode: given.write_mode,
        format: given.file_format,
        max_file_bytes: given.max_file_bytes,
    };
    let capability = given.promises.capability(given.writes);
    let storage = Custom::new(hosts.value(given.storage), capability);
    Ok(handles::hold(Rc::new(Files::new(storage, options))))
}
