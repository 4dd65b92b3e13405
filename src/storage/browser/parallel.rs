//! Runs many calls at once.

use futures_util::future::LocalBoxFuture;

use crate::core::future::bounded;
use crate::storage::PARALLEL;

/// Runs all of them, at most [`PARALLEL`] at a time; returns the results in order.
pub async fn in_parallel<'a, T: 'a>(calls: impl Iterator<Item = LocalBoxFuture<'a, T>>) -> Vec<T> {
    bounded(PARALLEL, calls).await
}
