//! Pure engines over bytes. They take bytes and return values, without I/O; most have a naive twin
//! in the tests.

pub mod glob;
pub mod grep;
pub mod lines;
pub mod place;
pub mod replace;
pub mod scan;
