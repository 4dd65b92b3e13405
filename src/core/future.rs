//! The future that storages and backends return.

use futures_util::future::LocalBoxFuture;

use crate::core::error::Result;

/// A future on the single thread; not `Send`.
pub type Pending<'a, T> = LocalBoxFuture<'a, Result<T>>;

/// A future that is ready.
pub fn done<'a, T: 'a>(answer: Result<T>) -> Pending<'a, T> {
    Box::pin(std::future::ready(answer))
}
