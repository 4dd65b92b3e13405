//! Random numbers of the host: for versions and names that several writers choose at the same time,
//! and for jitter.

use std::time::Duration;

/// 64 random bits, from the host's generator for cryptography: two writers never choose the same.
pub fn bits() -> u64 {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return of_halves(|| host.unit());
    }
    platform::bits()
}

/// A number from 0 (inclusive) to 1 (exclusive), for jitter.
pub fn unit() -> f64 {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.unit();
    }
    platform::unit()
}

/// A random time of at most so many milliseconds, for calls that collided.
pub fn wait(most: f64) -> Duration {
    Duration::from_secs_f64(unit() * most / 1000.0)
}

/// Sixteen random hexadecimal digits.
pub fn id() -> String {
    format!("{:016x}", bits())
}

/// 64 bits of two numbers from 0 (inclusive) to 1 (exclusive).
#[cfg(any(target_arch = "wasm32", feature = "simulation"))]
fn of_halves(unit: impl Fn() -> f64) -> u64 {
    let half = || (unit() * 4_294_967_296.0) as u64;
    half() << 32 | half()
}

#[cfg(target_arch = "wasm32")]
mod platform {
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
        fn fill(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
    }

    pub fn bits() -> u64 {
        let mut bytes = [0; 8];
        match fill(&mut bytes) {
            Ok(_) => u64::from_le_bytes(bytes),
            // A host without such a generator.
            Err(_) => super::of_halves(unit),
        }
    }

    pub fn unit() -> f64 {
        js_sys::Math::random()
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod platform {
    use std::hash::{BuildHasher, Hasher};

    pub fn bits() -> u64 {
        // Every `RandomState` has different keys.
        std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish()
    }

    pub fn unit() -> f64 {
        (bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
