//! Seams to the world outside: what differs between a host and a browser stands here and
//! nowhere else.

pub mod clock;
pub mod http;
pub mod random;
pub mod timer;
