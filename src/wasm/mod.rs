//! The JavaScript boundary: parse, call, convert. There is no logic here.
//!
//! JavaScript holds numbers, not objects: a *handle* for a backend ([`handles`]), a *buffer* for
//! incoming bytes ([`buffers`](crate::boundary::buffers)), a *task* for a call that is still running ([`task`]). One call is
//! one message: arguments are written into scratch memory,
//! [`boundary`](crate::boundary) describes them and [`call`] parses those of operations, and the packed
//! reply is left in memory ([`reply`]) for a few lines of JavaScript to unpack. No objects are
//! built field by field across the boundary.

pub mod audits;
mod batch;
pub mod call;
mod chunk;
pub mod composite;
pub mod context_hub;
pub mod custom;
pub mod disk;
pub mod foreign;
pub mod handles;
mod heap;
pub mod history;
pub mod http;
pub mod ignoring;
pub mod indexed;
pub mod indexed_db;
pub mod machine;
pub mod names;
pub mod opfs;
mod options;
pub mod panic;
pub mod parts;
pub mod policy;
pub mod provenance;
pub mod regex;
pub mod reply;
pub mod s3;
pub mod sandbox;
pub mod sql;
pub mod state;
pub mod store;
pub mod sync;
pub mod task;
pub mod tools;
pub mod turn;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::env::timer;

/// Called once, before anything else: `wake(task)` must poll that task soon, and
/// `panicked(message)` receives the message of a panic just before it traps. `load_regex()` loads
/// the chunk `regex`, if that is possible, and returns whether it is loaded. `pause()` returns a
/// promise that is resolved after other work of the host.
#[wasm_bindgen]
pub fn boot(
    wake: js_sys::Function,
    panicked: js_sys::Function,
    load_regex: js_sys::Function,
    pause: js_sys::Function,
) {
    timer::set_pause(pause);
    task::set_waker(wake);
    regex::set_loader(load_regex);
    panic::set_listener(panicked);
}

/// The version of this build.
#[wasm_bindgen]
pub fn version() -> String {
    String::from(env!("CARGO_PKG_VERSION"))
}
