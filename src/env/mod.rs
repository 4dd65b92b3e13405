//! Interfaces to the host. What differs between native builds, JavaScript and a component is in
//! [`platform`]; what only JavaScript has is in the modules behind `host = "javascript"`.

#[cfg(host = "javascript")]
pub mod abort;
pub mod clock;
#[cfg(host = "javascript")]
pub mod dom;
pub mod folding;
#[cfg(host = "javascript")]
pub mod host;
pub mod http;
#[cfg(host = "javascript")]
pub mod locks;
pub mod pass;
pub mod platform;
pub mod random;
#[cfg(feature = "simulation")]
pub mod simulated;
pub mod timer;
