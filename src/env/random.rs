//! Random numbers of the host: for versions and names that several writers choose at the same time,
//! and for jitter.

use std::time::Duration;

use crate::env::platform;

/// 64 random bits, from the host's generator for cryptography: two writers never choose the same.
pub fn bits() -> u64 {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return platform::of_halves(|| host.unit());
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
