//! Files in S3-compatible object storage, over any [`Http`](crate::env::http::Http).
//!
//! - `bucket`, `request`, `sign`, `xml`, `answer`, `errors`: pure functions without I/O.
//! - `access`, `client`: signing, concurrency, retries.
//! - `probe`: which conditional requests the server supports.
//! - `cache`: bodies by ETag.
//! - `store`: listing, and the [`Storage`](crate::storage::Storage) itself.
//! - `read`: one object, completely or in part.
//! - `search`: many objects, for grep.
//! - `write`: changing one object, and finding out whether a change happened if its response was
//!   lost.
//! - `remove`: deleting one object or a whole tree.
//! - `r2`: the same over the R2 binding of a Worker, which needs no keys.

pub mod access;
pub mod answer;
pub mod bucket;
pub mod cache;
pub mod client;
pub mod errors;
pub mod probe;
#[cfg(target_arch = "wasm32")]
pub mod r2;
mod read;
mod remove;
pub mod request;
mod search;
pub mod sign;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod write;
pub mod xml;

pub use store::{S3, S3Options, Trust};
