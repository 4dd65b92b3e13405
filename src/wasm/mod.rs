//! The JavaScript boundary: parse, call, convert. No logic lives here.
//!
//! JavaScript holds numbers, not objects: a *handle* stands for a backend ([`handles`]), a
//! *buffer* for bytes on their way in ([`buffers`]), a *task* for a call that is still running
//! ([`task`]). One call is one message: arguments are written into scratch memory, [`call`]
//! reads them, and the answer is left packed in memory ([`reply`]) for a few lines of JavaScript
//! to unfold. Nothing is built field by field across the boundary.

pub mod args;
pub mod buffers;
pub mod call;
#[cfg(feature = "agent")]
pub mod composite;
#[cfg(feature = "lent")]
pub mod context_hub;
pub mod handles;
mod heap;
#[cfg(feature = "storages")]
pub mod indexed_db;
#[cfg(feature = "lent")]
pub mod lent;
#[cfg(feature = "storages")]
pub mod opfs;
pub mod panic;
#[cfg(feature = "agent")]
pub mod policy;
pub mod reply;
#[cfg(feature = "storages")]
pub mod s3;
#[cfg(feature = "lent")]
pub mod sql;
#[cfg(feature = "agent")]
pub mod state;
#[cfg(feature = "lent")]
pub mod store;
pub mod task;
#[cfg(feature = "agent")]
pub mod tools;

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once, before anything else: `wake(task)` must poll that task soon, and
/// `panicked(message)` is told what a panic said just before it traps.
#[wasm_bindgen]
pub fn boot(wake: js_sys::Function, panicked: js_sys::Function) {
    task::set_waker(wake);
    panic::set_listener(panicked);
}

/// The version of this build.
#[wasm_bindgen]
pub fn version() -> String {
    String::from(env!("CARGO_PKG_VERSION"))
}
