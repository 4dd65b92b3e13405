//! Seams to the world outside: what differs between a host and a browser stands here and
//! nowhere else.

#[cfg(target_arch = "wasm32")]
pub mod abort;
pub mod clock;
#[cfg(target_arch = "wasm32")]
pub mod dom;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod http;
#[cfg(target_arch = "wasm32")]
pub mod locks;
pub mod random;
pub mod timer;
