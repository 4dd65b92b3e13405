//! Files in object storage that speaks S3, over any [`Http`](crate::env::http::Http).
//!
//! - `request`, `sign`, `xml`, `answer`, `errors`: bytes and text in, values out; no I/O.
//! - `access`, `permits`, `client`: who signs, how many at once, when to try again.
//! - `probe`: what the server does with conditions.
//! - `cache`: bodies by ETag.
//! - `store`: reading and listing, the [`Storage`](crate::storage::Storage) itself.
//! - `write`: changing one object, and finding out what became of a change whose answer was lost.
//! - `remove`: deleting, one object or a whole tree.

pub mod access;
pub mod answer;
pub mod cache;
pub mod client;
pub mod errors;
pub mod permits;
pub mod probe;
mod remove;
pub mod request;
pub mod sign;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod write;
pub mod xml;

pub use store::{S3, S3Options, Trust};
