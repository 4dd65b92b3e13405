//! What each kind of host gives: the time, timers, random numbers, and the tables of Unicode for names.
//! There is one file for each host, with the same functions. `build.rs` names the host once, as
//! `cfg(host = "…")`, so nothing else has to ask for which one it is compiled.

#[cfg(host = "component")]
mod component;
#[cfg(host = "javascript")]
mod javascript;
#[cfg(host = "native")]
mod native;
#[cfg(not(host = "javascript"))]
mod unicode;

#[cfg(host = "component")]
pub use component::{bits, now, pause, sleep, unit, waiting};
#[cfg(host = "javascript")]
pub use javascript::{bits, caseless, decomposed, now, pause, set_pause, sleep, unit, waiting};
#[cfg(host = "native")]
pub use native::{bits, now, pause, sleep, unit, waiting};
#[cfg(not(host = "javascript"))]
pub use unicode::{caseless, decomposed};

/// 64 bits of two numbers from 0 (inclusive) to 1 (exclusive).
#[cfg(any(host = "javascript", feature = "simulation"))]
pub fn of_halves(unit: impl Fn() -> f64) -> u64 {
    let half = || (unit() * 4_294_967_296.0) as u64;
    half() << 32 | half()
}

/// A number from 0 (inclusive) to 1 (exclusive) of 64 bits.
#[cfg(not(host = "javascript"))]
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Ready after all other ready tasks have run.
#[cfg(not(host = "javascript"))]
fn after_the_others() -> futures_util::future::LocalBoxFuture<'static, ()> {
    let mut waited = false;
    Box::pin(std::future::poll_fn(move |context| {
        if waited {
            return std::task::Poll::Ready(());
        }
        waited = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    }))
}
