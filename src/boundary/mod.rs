//! What crosses from JavaScript, described once: every option struct and every call with arguments is a
//! Rust type here. The macros give it a decoder for the packed message; a test prints the same
//! description as `ts/core/descriptions.ts`, from which TypeScript checks options and packs them.
//!
//! ```text
//! options! { struct SqlGiven { … } } ─► decoder here ◄─ message ─ ts/core/given.ts ◄─ descriptions.ts
//! ```
//!
//! Defaults, ranges and names are for TypeScript only and never get into the WebAssembly. Values of the
//! host, such as functions, lie in their order in one array beside the message. There is nothing here
//! that needs a host, so that the descriptions are compiled and tested natively.

pub mod args;
pub mod browser;
pub mod buffers;
pub mod disk;
pub mod files;
pub mod history;
pub mod http;
mod macros;
pub mod operations;
pub mod policy;
#[cfg(test)]
mod printed;
pub mod provenance;
pub mod reader;
pub mod room;
pub mod s3;
pub mod sql;
pub mod state;
pub mod store;
pub mod sync;
#[cfg(test)]
mod tables;
pub mod tools;
pub mod turn;
pub mod wrappers;

pub use reader::{Field, Handle, Host, Reader, read};
