//! One filesystem for AI agents, wherever JavaScript runs.
//!
//! Every call takes this path:
//!
//! ```text
//! agent ─► tool ─► layer (policy, composite) ─► files ─► storage ─► bytes
//! ```
//!
//! - [`protocol`]: the operations an agent can call, the [`Backend`](protocol::Backend) trait.
//! - [`storage`]: what a store of bytes must implement, the [`Storage`](storage::Storage) trait, and
//!   every storage.
//! - [`files`]: [`Files`](files::Files) implements the operations over any storage.
//! - [`layer`]: several backends as one tree, and access rules around a backend.
//! - [`pins`]: the state of a whole tree, named by its digest.
//! - [`side`]: what layers keep for themselves, in one format.
//! - `foreign`: a backend that somebody else wrote in JavaScript.
//! - [`remote`]: the files of a server, over HTTP.
//! - [`search`]: pure engines over bytes (lines, grep, glob, replace).
//! - [`tool`]: what a model sees: tool definitions, messages and results.
//! - [`core`]: types and functions that all of them share, such as paths and errors.
//! - [`env`]: the few interfaces to the host, such as the clock.
//! - [`boundary`]: descriptions of the options and calls that come from JavaScript.
//! - `wasm`: the JavaScript boundary; that of a component is a crate beside this one. Only this module, `env`, `foreign` and the storages that talk
//!   to a host may use `js_sys` or `web_sys`.
//! - [`conformance`]: the behaviours that every backend must have.
//!
//! A module imports only from the modules below it; `scripts/lib/arrows.mjs` has the order, and a
//! lint checks it.

// Tests that are shared with those in `tests/` name the crate as they do.
#[cfg(test)]
extern crate self as kitbag;

pub mod boundary;
pub mod conformance;
pub mod core;
pub mod env;
pub mod files;
#[cfg(host = "javascript")]
pub mod foreign;
pub mod layer;
pub mod pins;
pub mod protocol;
pub mod remote;
pub mod search;
pub mod side;
pub mod storage;
pub mod tool;

#[cfg(host = "javascript")]
pub mod wasm;
