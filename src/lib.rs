//! One filesystem for AI agents, wherever JavaScript runs.
//!
//! A call always travels the same way:
//!
//! ```text
//! agent ─► tool ─► policy ─► composite ─► backend::files ─► storage ─► bytes
//! ```
//!
//! - [`protocol`]: what an agent can ask, the [`Backend`](protocol::Backend) trait.
//! - [`storage`]: what a place that keeps bytes must do, the [`Storage`](storage::Storage) trait.
//! - [`backend`]: [`Files`](backend::files::Files) gives the operations their meaning over any
//!   storage; one further file for each place.
//! - [`composite`]: several backends as one tree.
//! - [`policy`]: rules around a backend, a wrapper each.
//! - [`search`]: pure engines over bytes (lines, grep, glob, replace).
//! - [`tool`]: what a model sees: the tools, their words, their answers.
//! - [`path`], [`file`], [`error`], [`order`]: what all of them share.
//! - [`running`], [`cell`], [`lock`]: calls that a trap may end, and what they leave free.
//! - [`env`]: the few seams to the world outside, such as the clock.
//! - `wasm`: the JavaScript boundary; the only room, beside `env` and the backends that talk to
//!   a host, that may name `js_sys` or `web_sys`.
//! - [`conformance`]: the behaviours every backend must show.
//!
//! Layers look one way only: nothing in `search` knows a backend, nothing in `backend` knows
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
