//! The host of a WebAssembly component: the imports `clock` and `random` of `wit/kitbag.wit`. A call
//! runs to its end before the next one begins, and its imports answer at once, so there is nothing to
//! wait for: timers and pauses complete when all other ready tasks have run.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use super::{after_the_others, fraction};
use crate::core::time::Time;

mod clock {
    #[link(wasm_import_module = "kitbag:files/clock@0.1.0")]
    unsafe extern "C" {
        /// Microseconds since 1970.
        pub safe fn now() -> i64;
    }
}

mod random {
    #[link(wasm_import_module = "kitbag:files/random@0.1.0")]
    unsafe extern "C" {
        /// 64 random bits.
        pub safe fn bits() -> i64;
    }
}

/// The current time, in whole milliseconds as in a browser.
pub fn now() -> Time {
    let micros = clock::now();
    Time::from_micros(micros.saturating_sub(micros.rem_euclid(1000)))
}

/// Of two ways to wait, the one for a host where no time passes while a call waits: the call ends, and its caller
/// comes again.
pub fn waiting<A, B>(_: impl FnOnce() -> A, again: impl FnOnce() -> B) -> B {
    again()
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
    random::bits().cast_unsigned()
}

/// A number from 0 (inclusive) to 1 (exclusive).
pub fn unit() -> f64 {
    fraction(bits())
}
