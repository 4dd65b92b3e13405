//! Runs kitbag in a simulated world: the real router, rules, file operations and storages over
//! simulated stores, with several clients at once. Time, order, delays, faults, lost answers,
//! cancelled calls and crashes all come from one seed, so that a history can be had again.
//!
//! Each module uses only those above it: `rng`, `world`, `body`, `history`, `stores` (with `wire`
//! and `watch`), `scenario`, `client`, `calls`, `checker`, `run`.

pub mod body;
pub mod calls;
pub mod checker;
pub mod client;
pub mod history;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod shown;
pub mod stores;
pub mod watch;
pub mod wire;
pub mod world;
