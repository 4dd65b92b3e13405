//! A native build, which only runs tests. No time passes in its timers: each completes at once.

use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use super::{after_the_others, fraction};
use crate::core::time::Time;

/// The current time, in whole milliseconds as in a browser.
pub fn now() -> Time {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Time::from_micros(
        i64::try_from(since.as_millis())
            .unwrap_or(0)
            .saturating_mul(1000),
    )
}

/// Of two ways to wait, the one for a host where time passes meanwhile.
pub fn waiting<A, B>(here: impl FnOnce() -> A, _: impl FnOnce() -> B) -> A {
    here()
}

/// Resolves at once, after all other ready tasks have run.
pub fn sleep(_: Duration) -> LocalBoxFuture<'static, ()> {
    after_the_others()
}

/// As above.
pub fn pause() -> LocalBoxFuture<'static, ()> {
    after_the_others()
}

/// 64 random bits.
pub fn bits() -> u64 {
    // Every `RandomState` has different keys.
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

/// A number from 0 (inclusive) to 1 (exclusive).
pub fn unit() -> f64 {
    fraction(bits())
}
