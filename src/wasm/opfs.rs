//! `OpfsBackend`: files in the origin-private file system, or in a directory the user picked.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::browser::OpfsGiven;
use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::core::error::Result;
use crate::env::dom::Herald;
use crate::files::Files;
use crate::storage::browser::opfs::{Opfs, Root};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("opfs", Functions = Functions { new });

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn opfs_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: OpfsGiven = read(len)?;
    let root = match given.directory {
        Some(directory) => Root::Given(hosts.value(directory), given.steps),
        None => Root::Origin(given.steps),
    };
    let herald = Herald::new(Some(hosts.function(given.tell)));
    let storage = Opfs::new(root, given.crash_protection, herald);
    let files = files_options(given.write_mode);
    Ok(handles::hold(Rc::new(Files::new(storage, files))))
}
