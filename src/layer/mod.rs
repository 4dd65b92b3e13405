//! Backends around backends: several as one tree, rules, a shell. A layer knows the protocol and
//! nothing of what lies below it.

// A new operation must break the build wherever it could get past a layer.
#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        clippy::match_wildcard_for_single_variants
    )
)]

pub mod composite;
mod edited;
mod folding;
pub mod history;
pub mod ignoring;
pub mod indexed;
mod kit;
pub mod policy;
pub mod provenance;
pub mod sync;
#[cfg(test)]
mod tests;
pub mod turn;
mod winnow;
#[cfg(host = "javascript")]
pub mod with_shell;
