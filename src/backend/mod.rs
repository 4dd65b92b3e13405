//! The places that keep files. [`files`] says what the operations mean; every other file here
//! says how one kind of place keeps bytes.

pub mod context_hub;
#[cfg(target_arch = "wasm32")]
pub mod custom;
#[cfg(target_arch = "wasm32")]
pub mod custom_values;
pub mod files;
#[cfg(target_arch = "wasm32")]
pub mod foreign;
pub mod graph_state;
#[cfg(target_arch = "wasm32")]
pub mod host_disk;
mod index_cache;
#[cfg(target_arch = "wasm32")]
pub mod indexed_db;
#[cfg(target_arch = "wasm32")]
pub mod opfs;
mod paging;
pub(crate) mod queue;
pub mod s3;
pub mod sandbox;
pub mod sheet;
pub mod sql;
pub mod state;
#[cfg(target_arch = "wasm32")]
pub mod store;
#[cfg(target_arch = "wasm32")]
pub mod with_shell;
