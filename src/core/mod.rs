//! What all layers share: paths, errors, times, file contents, sorting, and cells and locks that
//! are released when a trap ends a call. Nothing here knows an operation.

pub mod bugs;
pub mod cell;
pub mod effort;
pub mod error;
pub mod file;
pub mod future;
pub mod hash;
pub mod links;
pub mod lock;
pub mod names;
pub mod order;
pub mod pace;
pub mod packed;
pub mod parts;
pub mod path;
pub(crate) mod queue;
pub mod recent;
pub mod running;
pub mod scan;
#[cfg(host = "javascript")]
pub mod slot;
pub mod sorted;
#[cfg(test)]
pub mod testing;
pub mod time;
pub mod unseen;
pub mod unsettled;
pub mod visible;
