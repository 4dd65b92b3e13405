//! Runs kitbag in a simulated world: the real router, rules, file operations and storages over
//! simulated stores, with several clients at once. Time, order, delays, faults, lost answers,
//! cancelled calls and crashes all come from one seed, so that a history can be had again.
//!
//! Each module uses only those above it.

pub mod body;
pub mod history;
#[cfg(not(target_arch = "wasm32"))]
pub mod many;
pub mod rng;
pub mod scenario;
pub mod world;

pub mod watch;
pub mod wire;

pub mod stores;

pub mod client;

pub mod calls;
pub mod checker;

pub mod run;

pub mod json;
pub mod shown;

#[cfg(target_arch = "wasm32")]
pub mod page;
