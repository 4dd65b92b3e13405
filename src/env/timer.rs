//! Timers. In native builds and in a component no time passes: a timer completes at once, after all
//! other ready tasks have run.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::env::platform;

#[cfg(host = "javascript")]
pub use platform::set_pause;

pub use platform::waiting;

/// Resolves after the given time.
pub fn sleep(wait: Duration) -> LocalBoxFuture<'static, ()> {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.sleep(wait);
    }
    platform::sleep(wait)
}

/// Lets the host do other work that is due: it draws a frame, fires timers and delivers messages.
/// Shorter than the shortest timer, which takes four milliseconds in a page.
pub fn pause() -> LocalBoxFuture<'static, ()> {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.sleep(Duration::ZERO);
    }
    platform::pause()
}
