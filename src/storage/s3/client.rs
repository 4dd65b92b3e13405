//! Sends requests to a bucket: signed, with limited concurrency and a timeout for each attempt, and
//! retried after a pause if that is safe. It does not know what the requests mean.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::access::{Trouble, Wire};
use super::bucket::Bucket;
use super::errors::{About, Failure};
use super::request::Ask;
use super::xml::Broken;
use crate::core::lock::Permits;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::http::Response;
use crate::env::{clock, random, timer};

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
    wire: Rc<dyn Wire>,
    permits: Permits,
    /// The offset of the server's clock from the local clock in microseconds.
    skew: Cell<i64>,
}

impl Client {
    /// A client of `bucket` with at most `concurrency` parallel requests.
    pub fn new(bucket: Bucket, wire: Rc<dyn Wire>, concurrency: usize, retry: Retry) -> Client {
        Client {
            bucket,
            retry,
            wire,
            permits: Permits::new(concurrency),
            skew: Cell::new(0),
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

    fn now(&self) -> Time {
        Time::from_micros(clock::now().micros().saturating_add(self.skew.get()))
    }

    /// Makes one attempt. A status of 2xx or 304 is success.
    pub async fn attempt(&self, about: About<'_>, ask: &Ask) -> Result<Response, Failure> {
        let _permit = self.permits.take().await;
        let limit = self.retry.limit;
        let sent = self.wire.send(ask, self.now());
        let response = match select(sent, timer::sleep(limit)).await {
            Either::Left((Ok(response), _)) => response,
            Either::Left((Err(Trouble::Unsent(error)), _)) => return Err(Failure::before(error)),
            Either::Left((Err(Trouble::Network(failure)), _)) => {
                return Err(about.network(&failure));
            }
            Either::Right(_) => return Err(about.late(limit)),
        };
        if ask.method != "HEAD" && is_short(&response) {
            return Err(about.nonsense("its body is shorter than announced"));
        }
        if matches!(response.status, 200..=299 | 304) {
            return Ok(response);
        }
        let failure = about.answer(&response, self.now());
        if failure.code == "ExpiredToken" {
            self.wire.expired();
        }
        if let Some(server) = failure.server_time {
            let ours = clock::now().micros();
            self.skew.set(server.micros().saturating_sub(ours));
        }
        Err(failure)
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
                Ok(())
            }
            None => Err(failure),
        }
    }

    /// Sends a request that is safe to repeat, until `read` accepts the response.
    pub async fn send<T>(
        &self,
        about: About<'_>,
        ask: &Ask,
        mut read: impl FnMut(Response) -> Result<T, Broken>,
    ) -> Result<T, Failure> {
        let mut attempt = 0;
        loop {
            let answer = match self.attempt(about, ask).await {
                Ok(response) => read(response).map_err(|broken| about.nonsense(broken.0)),
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

/// Whether a body is shorter than its `Content-Length`.
fn is_short(response: &Response) -> bool {
    if response.status == 304 || response.header("content-encoding").is_some() {
        return false;
    }
    response
        .header("content-length")
        .and_then(|length| length.trim().parse::<usize>().ok())
        .is_some_and(|length| response.body.len() < length)
}
