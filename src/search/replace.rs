//! The replace engine.
