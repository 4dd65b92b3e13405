//! Storages of a browser.

#[cfg(target_arch = "wasm32")]
pub mod indexed_db;
#[cfg(target_arch = "wasm32")]
pub mod opfs;
pub mod sheet;
