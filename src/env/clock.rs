//! The clock.

use crate::core::time::Time;

/// The current time by the host's clock.
#[cfg(target_arch = "wasm32")]
pub fn now() -> Time {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.now();
    }
    Time::from_millis(js_sys::Date::now())
}

/// The current time by the host's clock.
#[cfg(not(target_arch = "wasm32"))]
pub fn now() -> Time {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.now();
    }
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    // Whole milliseconds, as in a browser.
    Time::from_micros(
        i64::try_from(since.as_millis())
            .unwrap_or(0)
            .saturating_mul(1000),
    )
}
