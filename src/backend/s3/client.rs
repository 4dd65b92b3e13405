//! Sends requests to a bucket: signed, no more at once than allowed, each within its time, and
//! again after a pause where that is safe. What the requests mean is not its business.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::access::{Trouble, Wire};
use super::bucket::Bucket;
use super::errors::{About, Failure};
use super::request::Ask;
use super::xml::Broken;
use crate::env::http::Response;
use crate::env::{clock, random, timer};
use crate::lock::Permits;
use crate::path::VPath;
use crate::time::Time;

/// How often and how patiently a request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all.
    pub attempts: u32,
    /// The pause behind the first one, on average half of this; each next one doubles.
    pub base: Duration,
    /// The longest pause. A server that asks for a longer one is not asked again.
    pub longest: Duration,
    /// The time of one try.
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
    /// How long to wait behind try number `attempt` (from 0); `None` where the server asks for
    /// more patience than there is.
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

/// The way to a bucket.
pub struct Client {
    /// The bucket.
    pub bucket: Bucket,
    /// How patient it is.
    pub retry: Retry,
    wire: Rc<dyn Wire>,
    permits: Permits,
    /// Microseconds by which the server's clock is ahead of ours.
    skew: Cell<i64>,
}

impl Client {
    /// A way to `bucket` with at most `concurrency` requests at once.
    pub fn new(bucket: Bucket, wire: Rc<dyn Wire>, concurrency: usize, retry: Retry) -> Client {
        Client {
            bucket,
            retry,
            wire,
            permits: Permits::new(concurrency),
            skew: Cell::new(0),
        }
    }

    /// What a failure of this operation is about.
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

    /// One try. Success is a status of 2xx, or 304.
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

    /// Waits before another try; gives the failure back where there is to be none.
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

    /// Sends what is safe to repeat, until `read` can make sense of the answer.
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

/// Whether a body ended before the length that its header tells.
fn is_short(response: &Response) -> bool {
    if response.status == 304 || response.header("content-encoding").is_some() {
        return false;
    }
    response
        .header("content-length")
        .and_then(|length| length.trim().parse::<usize>().ok())
        .is_some_and(|length| response.body.len() < length)
}
