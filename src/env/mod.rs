//! Interfaces to the host. Everything that differs between native builds and JavaScript hosts is
//! here and nowhere else.

#[cfg(target_arch = "wasm32")]
pub mod abort;
pub mod clock;
#[cfg(target_arch = "wasm32")]
pub mod dom;
pub mod folding;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod http;
#[cfg(target_arch = "wasm32")]
pub mod locks;
pub mod pass;
pub mod random;
#[cfg(feature = "simulation")]
pub mod simulated;
pub mod timer;
