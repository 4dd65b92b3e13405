//! Backends around backends: several as one tree, rules, a shell. A layer knows the protocol and
//! nothing of what lies below it.

pub mod bugs;
pub mod composite;
mod creating;
pub mod history;
pub mod ignoring;
pub mod indexed;
mod parts;
pub mod policy;
pub mod provenance;
mod seal;
pub mod turn;
mod winnow;
#[cfg(target_arch = "wasm32")]
pub mod with_shell;
