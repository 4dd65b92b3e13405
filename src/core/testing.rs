//! What tests of all layers write again and again.

use std::future::Future;

use bytes::Bytes;
use futures_util::FutureExt;

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
