//! Pure engines over bytes. They take bytes and return values, without I/O; each is compared
//! with a naive twin in its tests.

pub mod alike;
pub mod diff;
pub mod effort;
pub mod glob;
pub mod grams;
pub mod grep;
pub mod ignore;
pub mod lines;
pub mod matches;
pub mod merge;
pub mod patience;
pub mod place;
pub mod query;
pub mod regex;
pub mod replace;
pub mod required;
pub mod scope;
pub mod sieve;
pub mod sorted;
