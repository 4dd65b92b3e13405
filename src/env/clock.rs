//! The clock.

use crate::core::time::Time;
use crate::env::platform;

/// The current time by the host's clock.
pub fn now() -> Time {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.now();
    }
    platform::now()
}
