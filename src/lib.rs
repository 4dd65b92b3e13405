//! One filesystem for AI agents, wherever JavaScript runs.
//!
//! Every call takes this path:
//!
//! ```text
//! agent ─► tool ─► policy ─► composite ─► backend::files ─► storage ─► bytes
//! ```
//!
//! - [`protocol`]: the operations an agent can call, the [`Backend`](protocol::Backend) trait.
//! - [`storage`]: what a store of bytes must implement, the [`Storage`](storage::Storage) trait.
//! - [`backend`]: [`Files`](backend::files::Files) implements the operations over any storage; each
//!   storage has a file of its own.
//! - [`composite`]: several backends as one tree.
//! - [`policy`]: access rules around a backend, one wrapper each.
//! - [`search`]: pure engines over bytes (lines, grep, glob, replace).
//! - [`tool`]: what a model sees: tool definitions, messages and results.
//! - [`path`], [`file`], [`error`], [`order`]: types and functions that all layers share.
//! - [`running`], [`cell`], [`lock`]: borrows and locks that are released when a trap ends a call.
//! - [`env`]: the few interfaces to the host, such as the clock.
//! - `wasm`: the JavaScript boundary. Only this module, `env` and the backends that talk to a host
//!   may use `js_sys` or `web_sys`.
//! - [`conformance`]: the behaviours that every backend must have.
//!
//! Dependencies go in one direction: `search` does not know any backend, `backend` does not know
//! any policy.
//! a policy.

pub mod backend;
pub mod cell;
pub mod composite;
pub mod conformance;
pub mod env;
pub mod error;
pub mod file;
pub mod lock;
pub mod order;
pub mod path;
pub mod policy;
pub mod protocol;
pub mod running;
pub mod search;
pub mod storage;
pub mod time;
pub mod tool;
mod winnow;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
