//! Pseudo-random numbers, for jitter and for unique names. Not for secrets.

/// A number from 0 (inclusive) to 1 (exclusive).
#[cfg(target_arch = "wasm32")]
pub fn unit() -> f64 {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.unit();
    }
    js_sys::Math::random()
}

/// A number from 0 (inclusive) to 1 (exclusive).
#[cfg(not(target_arch = "wasm32"))]
pub fn unit() -> f64 {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.unit();
    }
    use std::hash::{BuildHasher, Hasher};
    // Every `RandomState` has different keys.
    let bits = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Sixteen random hexadecimal digits; collisions are very unlikely.
pub fn id() -> String {
    let half = || (unit() * 4_294_967_296.0) as u32;
    format!("{:08x}{:08x}", half(), half())
}
