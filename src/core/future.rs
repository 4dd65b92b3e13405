//! The future that storages and backends return.

use std::future::{Future, poll_fn};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use crate::core::cell::RefCell;
use crate::core::error::Result;

/// A future on the single thread; not `Send`.
pub type Pending<'a, T> = LocalBoxFuture<'a, Result<T>>;

/// How many bodies are requested in parallel if a storage has no limit of its own.
pub const PARALLEL: usize = 16;

/// A future that is ready.
pub fn done<'a, T: 'a>(answer: Result<T>) -> Pending<'a, T> {
    Box::pin(std::future::ready(answer))
}

/// Runs all of them, at most `limit` at a time (a few dozen: each wake polls those that run), and
/// returns the results in order. The streams of `futures_util` are compiled for every type of future;
/// here the part that polls is compiled once.
pub async fn bounded<'a, T: 'a>(
    limit: usize,
    calls: impl Iterator<Item = LocalBoxFuture<'a, T>>,
) -> Vec<T> {
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
    all(limit.max(1), calls).await;
    results.replace(Vec::new()).into_iter().flatten().collect()
}

async fn all(limit: usize, calls: Vec<LocalBoxFuture<'_, ()>>) {
    let mut waiting = calls.into_iter();
    let mut running: Vec<LocalBoxFuture<'_, ()>> = Vec::new();
    poll_fn(|context| {
        loop {
            let free = limit.saturating_sub(running.len());
            running.extend(waiting.by_ref().take(free));
            if running.is_empty() {
                return Poll::Ready(());
            }
            let before = running.len();
            running.retain_mut(|call| call.poll_unpin(context).is_pending());
            // Where some have ended, others begin.
            if running.len() == before || (waiting.len() == 0 && !running.is_empty()) {
                return Poll::Pending;
            }
        }
    })
    .await;
}

/// Waits for some futures, a few dozen at most: each wake polls all that are not ready yet. Other
/// than the combinators of `futures_util` it costs next to no code for another type.
pub async fn together<T>(mut waiting: Vec<impl Future<Output = T> + Unpin>) -> Vec<T> {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::core::testing::{block_on, now};

    /// Ready after some polls; counts how many run.
    async fn later(polls: usize, running: &Cell<usize>, most: &Cell<usize>) -> usize {
        running.set(running.get() + 1);
        most.set(most.get().max(running.get()));
        let mut left = polls;
        poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        running.set(running.get() - 1);
        polls
    }

    #[test]
    fn all_run_a_few_at_a_time_and_answer_in_order() {
        for (limit, expected) in [(0, 1), (1, 1), (3, 3), (100, 20)] {
            let (running, most) = (Cell::new(0), Cell::new(0));
            let polls = (0..20).map(|at| (at * 7) % 5 + 1);
            let calls = polls
                .clone()
                .map(|polls| Box::pin(later(polls, &running, &most)) as LocalBoxFuture<'_, usize>);
            let answers = block_on(bounded(limit, calls));
            assert_eq!(answers, polls.collect::<Vec<_>>());
            assert_eq!(most.get(), expected);
        }
    }

    #[test]
    fn none_are_ready_at_once() {
        let none = std::iter::empty::<LocalBoxFuture<'_, u8>>();
        assert_eq!(now(bounded(4, none)), Vec::<u8>::new());
    }
}
