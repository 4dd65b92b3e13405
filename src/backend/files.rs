//! The operations, once.
