//! Random numbers of the host: for versions and names that several writers choose at the same time,
//! and for jitter.

/// 64 random bits, from the host's generator for cryptography: two writers never choose the same.
#[cfg(target_arch = "wasm32")]
pub fn bits() -> u64 {
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
        fn fill(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
    }

    let mut bytes = [0; 8];
    match fill(&mut bytes) {
        Ok(_) => u64::from_le_bytes(bytes),
        // A host without such a generator.
        Err(_) => {
            let half = || (unit() * 4_294_967_296.0) as u64;
            half() << 32 | half()
        }
    }
}

/// 64 random bits.
#[cfg(not(target_arch = "wasm32"))]
pub fn bits() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // Every `RandomState` has different keys.
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

/// A number from 0 (inclusive) to 1 (exclusive), for jitter.
#[cfg(target_arch = "wasm32")]
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// A number from 0 (inclusive) to 1 (exclusive), for jitter.
#[cfg(not(target_arch = "wasm32"))]
pub fn unit() -> f64 {
    (bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// Sixteen random hexadecimal digits.
pub fn id() -> String {
    format!("{:016x}", bits())
}
