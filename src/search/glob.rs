//! The glob engine.
