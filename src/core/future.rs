//! The future that storages and backends return.

use futures_util::future::LocalBoxFuture;

use crate::core::error::Result;

/// A future on the single thread; not `Send`.
pub type Pending<'a, T> = LocalBoxFuture<'a, Result<T>>;
