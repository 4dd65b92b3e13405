//! Pure engines over bytes. No engine here knows where bytes come from; each takes them and
//! returns values, and each has a naive twin in its tests.

pub mod glob;
pub mod grep;
pub mod lines;
pub mod place;
pub mod replace;
pub mod scan;
