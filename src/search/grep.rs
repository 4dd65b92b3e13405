//! The grep engine.
