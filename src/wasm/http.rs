//! `HttpBackend`: the files of a server.

use std::rc::Rc;
use std::time::Duration;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::http::HttpGiven;
use crate::boundary::read;
use crate::core::error::Result;
use crate::env::http::Fetch;
use crate::remote::Remote;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

/// The time limit of an attempt.
const LIMIT: Duration = Duration::from_secs(60);

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("http", Functions = Functions { new });

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn http_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: HttpGiven = read(len)?;
    let http = Rc::new(Fetch(hosts.function(given.send)));
    let limit = given.timeout_ms.unwrap_or(LIMIT);
    Ok(handles::hold(Rc::new(Remote::new(http, given.url, limit))))
}
