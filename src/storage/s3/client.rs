//! Sends requests to a bucket: with limited concurrency and a timeout for each attempt, and retried
//! after a pause if that is safe. It does not know what the requests mean.

use std::time::Duration;

use futures_util::future::{Either, select};

use super::bucket::Bucket;
use super::errors::{About, Failure};
use super::objects::Sent;
use super::width::Width;
use super::xml::Broken;
use crate::core::effort;
use crate::core::lock::Permits;
use crate::core::path::VPath;
use crate::env::{random, timer};

/// The retry policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// The maximum pause after the first attempt; it doubles after each attempt. The actual pause
    /// is random, half of it on average.
    pub base: Duration,
    /// The longest pause. If a server asks for a longer one, the request is not retried.
    pub longest: Duration,
    /// The timeout of one attempt.
    pub limit: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            attempts: 6,
            base: Duration::from_millis(100),
            longest: Duration::from_secs(20),
            limit: Duration::from_secs(60),
        }
    }
}

impl Retry {
    /// How long to wait after attempt number `attempt` (from 0); `None` if the server asks for a
    /// longer pause than allowed.
    pub fn pause(&self, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
        let most = self
            .base
            .saturating_mul(1u32.checked_shl(attempt).unwrap_or(u32::MAX))
            .min(self.longest);
        let jittered = most.mul_f64(random::unit());
        match asked {
            Some(asked) if asked > self.longest => None,
            Some(asked) => Some(asked.max(jittered)),
            None => Some(jittered),
        }
    }
}

/// A client of one bucket.
pub struct Client {
    /// The bucket.
    pub bucket: Bucket,
    /// The retry policy.
    pub retry: Retry,
    /// How many requests are made at once.
    pub width: Width,
    permits: Permits,
}

impl Client {
    /// A client of `bucket` with at most `concurrency` parallel requests, or as many as are good.
    pub fn new(bucket: Bucket, concurrency: Option<usize>, retry: Retry) -> Client {
        let width = Width::new(concurrency);
        Client {
            bucket,
            retry,
            permits: width.permits(),
            width,
        }
    }

    /// The context for errors of this operation.
    pub fn about<'a>(&'a self, operation: &'static str, path: Option<&'a VPath>) -> About<'a> {
        About {
            operation,
            path,
            service: self.bucket.service,
            bucket: &self.bucket.name,
        }
    }

    /// Makes one attempt.
    pub async fn attempt<T>(&self, about: About<'_>, sent: Sent<'_, T>) -> Result<T, Failure> {
        let _permit = self.permits.take().await;
        effort::requested();
        let limit = self.retry.limit;
        let answer = match select(sent, timer::sleep(limit)).await {
            Either::Left((answer, _)) => answer.map_err(|trouble| about.trouble(trouble)),
            Either::Right(_) => Err(about.late(limit)),
        };
        self.width.ended(answer.as_ref().err());
        answer
    }

    /// Waits before the next attempt; returns the failure if there is none.
    pub async fn wait(&self, attempt: u32, failure: Failure) -> Result<(), Failure> {
        let spent = attempt.saturating_add(1) >= self.retry.attempts;
        if spent || !failure.transient {
            return Err(failure);
        }
        match self.retry.pause(attempt, failure.wait) {
            Some(pause) => {
                timer::sleep(pause).await;
                effort::repeated();
                Ok(())
            }
            None => Err(failure),
        }
    }

    /// Repeats a request that is safe to repeat, until `read` accepts the answer.
    pub async fn send<'a, T, U>(
        &self,
        about: About<'_>,
        ask: &mut dyn FnMut() -> Sent<'a, T>,
        mut read: impl AsyncFnMut(T) -> Result<U, Broken>,
    ) -> Result<U, Failure> {
        let mut attempt = 0;
        loop {
            let answer = match self.attempt(about, ask()).await {
                Ok(answer) => read(answer)
                    .await
                    .map_err(|broken| about.nonsense(broken.0)),
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(value) => return Ok(value),
                Err(failure) => self.wait(attempt, failure).await?,
            }
            attempt += 1;
        }
    }
}
