//! Numbers nobody can foresee well: for jitter and for names that must not meet. Not for secrets.

/// A number from 0 up to, but not including, 1.
#[cfg(target_arch = "wasm32")]
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// A number from 0 up to, but not including, 1.
#[cfg(not(target_arch = "wasm32"))]
pub fn unit() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    // Every `RandomState` has keys of its own.
    let bits = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Sixteen hexadecimal digits that hardly ever come twice.
pub fn id() -> String {
    let half = || (unit() * 4_294_967_296.0) as u32;
    format!("{:08x}{:08x}", half(), half())
}
