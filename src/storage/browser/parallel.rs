//! Runs many calls at once. The streams of `futures_util` are compiled for every type of future;
//! here they are compiled once.

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;

use crate::core::cell::RefCell;
use crate::storage::PARALLEL;

/// Runs all of them, at most [`PARALLEL`] at a time; returns the results in order.
pub async fn in_parallel<'a, T: 'a>(calls: impl Iterator<Item = LocalBoxFuture<'a, T>>) -> Vec<T> {
    let results = RefCell::new(Vec::new());
    let calls: Vec<LocalBoxFuture<'_, ()>> = calls
        .enumerate()
        .map(|(at, call)| {
            results.borrow_mut().push(None);
            let results = &results;
            let keep = async move {
                let result = call.await;
                if let Some(place) = results.borrow_mut().get_mut(at) {
                    *place = Some(result);
                }
            };
            Box::pin(keep) as LocalBoxFuture<'_, ()>
        })
        .collect();
    all(calls).await;
    results.replace(Vec::new()).into_iter().flatten().collect()
}

async fn all(calls: Vec<LocalBoxFuture<'_, ()>>) {
    stream::iter(calls)
        .buffer_unordered(PARALLEL)
        .collect::<()>()
        .await;
}
