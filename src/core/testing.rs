//! What tests of all layers write again and again.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::FutureExt;
use proptest::prelude::ProptestConfig;

use super::path::VPath;

/// The path with this text.
pub fn path(text: &str) -> VPath {
    VPath::parse(text).expect(text)
}

/// The bytes of a text.
pub fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// What a future that waits for nobody comes to, such as a call of a backend in memory.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("it does not wait")
}

/// So many, and an eighth of them without optimisation: what would take minutes with all still takes many
/// seconds.
pub fn fewer(count: usize) -> usize {
    match cfg!(debug_assertions) {
        true => count.div_ceil(8),
        false => count,
    }
}

/// How often a property is tried: `count` times, and as many times more as `KITBAG_LONGER` says, but a
/// quarter of it without optimisation. What failed is printed whole, so nothing is written beside the sources.
pub fn cases(count: u32) -> ProptestConfig {
    let longer = std::env::var("KITBAG_LONGER").ok();
    let times = longer.map_or(1, |text| text.parse().expect("a number"));
    let count = match cfg!(debug_assertions) {
        true => count.div_ceil(4),
        false => count,
    };
    ProptestConfig {
        cases: count * times,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Polls a future once: whether it is not ready.
pub fn waits<T>(future: impl Future<Output = T>) -> bool {
    future.now_or_never().is_none()
}

/// Polls a future whose waits need no external wake-up until it is ready.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10_000_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("it hangs");
}

/// Every character, and without optimisation those of all planes in which letters have cases or parts.
pub fn characters() -> impl Iterator<Item = char> {
    let few = [0..0x2_0000, 0x2_F800..0x2_FA20, 0xE_0000..0xE_1000];
    let all = 0..u32::from(char::MAX) + 1;
    let ranges = match cfg!(debug_assertions) {
        true => few.to_vec(),
        false => vec![all],
    };
    ranges.into_iter().flatten().filter_map(char::from_u32)
}
