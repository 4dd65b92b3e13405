//! Files in S3-compatible object storage, or in R2.
//!
//! - `objects`: what a bucket can do; `http` and `r2` implement it, over signed requests and over
//!   the R2 binding of a Worker, which needs no keys.
//! - `bucket`, `request`, `sign`, `xml`, `date`, `note`, `answer`, `errors`: pure functions without I/O.
//! - `access`: keys and signing.
//! - `client`: timeouts, retries; `width`: how many requests at once.
//! - `probe`: which conditional requests the server supports.
//! - `cache`: bodies by ETag.
//! - `store`: the [`Storage`](crate::storage::Storage) itself; `listing`: its pages.
//! - `read`: one object, completely or in part.
//! - `search`: many objects, for grep.
//! - `write`: changing one object, and finding out whether a change happened if its response was
//!   lost.
//! - `copy`: moving and copying by the server.
//! - `late`: conditional puts that were given up and may still arrive.
//! - `remove`: deleting one object or a whole tree.
//! - `state`: the state of an object that a change replaces.

pub mod access;
pub mod answer;
pub mod bucket;
pub mod cache;
pub mod client;
mod copy;
pub mod date;
pub mod errors;
pub mod http;
mod late;
mod listing;
pub mod note;
pub mod objects;
pub mod probe;
#[cfg(host = "javascript")]
pub mod r2;
mod read;
mod remove;
pub mod request;
mod search;
pub mod sign;
pub mod state;
mod store;
#[cfg(any(test, feature = "simulation"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod upload;
mod width;
mod write;
pub mod xml;

pub use store::{S3, S3Options, Trust};
