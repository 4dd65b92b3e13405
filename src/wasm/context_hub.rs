//! `ContextHubBackend`: files in a repository of LangSmith's Context Hub.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::boundary::store::HubGiven;
use crate::core::error::Result;
use crate::files::Files;
use crate::storage::context_hub::ContextHub;
use crate::storage::context_hub::host::HostHub;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("hub", Functions = Functions { new });

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn context_hub_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: HubGiven = read(len)?;
    let client = hosts.value(given.client);
    let storage = ContextHub::new(HostHub {
        client,
        repo: given.repo,
    });
    let options = files_options(given.write_mode);
    Ok(handles::hold(Rc::new(Files::new(storage, options))))
}
