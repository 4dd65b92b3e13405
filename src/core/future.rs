//! The future that storages and backends return.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use crate::core::error::Result;

/// A future on the single thread; not `Send`.
pub type Pending<'a, T> = LocalBoxFuture<'a, Result<T>>;

/// A future that is ready.
pub fn done<'a, T: 'a>(answer: Result<T>) -> Pending<'a, T> {
    Box::pin(std::future::ready(answer))
}

/// Waits for some futures, a few dozen at most: each wake polls all that are not ready yet. Other
/// than the combinators of `futures_util` it costs next to no code for another type.
pub async fn together<T>(mut waiting: Vec<LocalBoxFuture<'_, T>>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_ready = true;
        for (future, answer) in waiting.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match future.poll_unpin(context) {
                    Poll::Ready(value) => *answer = Some(value),
                    Poll::Pending => is_ready = false,
                }
            }
        }
        match is_ready {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}
