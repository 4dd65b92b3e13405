//! The lines engine.
