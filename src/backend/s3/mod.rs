//! Files in object storage that speaks S3, over any [`Http`](crate::env::http::Http).
//!
//! - `bucket`, `request`, `sign`, `xml`, `answer`, `errors`: bytes and text in, values out; no I/O.
//! - `access`, `client`: who signs, how many at once, when to try again.
//! - `probe`: what the server does with conditions.
//! - `cache`: bodies by ETag.
//! - `store`: listing, and the [`Storage`](crate::storage::Storage) itself.
//! - `read`: one object, whole or a part of it.
//! - `search`: many objects, for grep.
//! - `write`: changing one object, and finding out what became of a change whose answer was lost.
//! - `remove`: deleting, one object or a whole tree.
//! - `r2`: the same over the binding of a Worker, which needs no keys.

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
