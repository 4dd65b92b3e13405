//! `rateLimit`: a maximum number of operations per time span, in a sliding window. A batch counts
//! once per file, so it cannot bypass the limit. A refused operation does not count.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use super::Seams;
use super::rule::{Rule, checked, download_checked, upload_checked};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::time::whole_millis;
use crate::protocol::{Answer, Effect, Operation, Request, SharedBackend};

/// Which operations a limit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// All operations.
    Everything,
    /// Operations that read files.
    Reads,
    /// Operations that change files.
    Writes,
    /// Only this operation.
    Only(Operation),
}

impl Covers {
    fn counts(self, operation: Operation) -> bool {
        match self {
            Covers::Everything => true,
            Covers::Reads => operation.effect() == Effect::Reads,
            Covers::Writes => operation.effect() == Effect::Writes,
            Covers::Only(one) => one == operation,
        }
    }
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Which operations it covers.
    pub covers: Covers,
    /// The maximum number of operations.
    pub operations: usize,
    /// The length of the window.
    pub per: Duration,
}

/// A limit with the times of admitted operations, in microseconds.
struct Window {
    rate: Rate,
    passed: VecDeque<i64>,
}

impl Window {
    fn span(&self) -> i64 {
        i64::try_from(self.rate.per.as_micros()).unwrap_or(i64::MAX)
    }

    /// How long until one more operation is admitted; `None` if it is admitted now.
    fn wait(&mut self, now: i64) -> Option<Duration> {
        // A clock that was set back must not lengthen the wait.
        for time in self.passed.iter_mut().rev() {
            if *time <= now {
                break;
            }
            *time = now;
        }
        let span = self.span();
        while self
            .passed
            .front()
            .is_some_and(|time| now.saturating_sub(*time) >= span)
        {
            self.passed.pop_front();
        }
        if self.passed.len() < self.rate.operations {
            return None;
        }
        let oldest = self.passed.front().copied().unwrap_or(now);
        let wait = oldest.saturating_add(span).saturating_sub(now);
        Some(Duration::from_micros(u64::try_from(wait).unwrap_or(0)))
    }
}

/// Limits with their counters. Clones share the counters, so a policy that is used several times
/// has one limit.
#[derive(Clone, Default)]
pub struct Rates(Rc<RefCell<Vec<Window>>>);

impl Rates {
    /// Limits with empty counters.
    pub fn new(rates: impl IntoIterator<Item = Rate>) -> Rates {
        let windows = rates.into_iter().map(|rate| Window {
            rate,
            passed: VecDeque::new(),
        });
        Rates(Rc::new(RefCell::new(windows.collect())))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

pub(super) struct RateLimit {
    pub(super) inner: SharedBackend,
    pub(super) rates: Rates,
    pub(super) seams: Seams,
}

impl RateLimit {
    /// Counts an operation, or refuses it. No `await` is in between, so a burst cannot exceed the
    /// limit.
    fn admit(&self, operation: Operation) -> Result<()> {
        let now = (self.seams.now)().micros();
        let mut windows = self.rates.0.borrow_mut();
        let mut longest: Option<(Duration, Rate)> = None;
        for window in windows.iter_mut() {
            if !window.rate.covers.counts(operation) {
                continue;
            }
            if let Some(wait) = window.wait(now)
                && longest.is_none_or(|(so_far, _)| wait >= so_far)
            {
                longest = Some((wait, window.rate));
            }
        }
        if let Some((wait, rate)) = longest {
            return Err(Error::new(
                Kind::RateLimited,
                format!(
                    "Too many operations: {} is limited to {} in {} ms. Try again in {} ms.",
                    operation.spoken(),
                    rate.operations,
                    whole_millis(rate.per),
                    whole_millis(wait + Duration::from_micros(999))
                ),
            )
            .retry_after(wait)
            .decided_by("rateLimit"));
        }
        for window in windows.iter_mut() {
            if window.rate.covers.counts(operation) {
                window.passed.push_back(now);
            }
        }
        Ok(())
    }
}

impl Rule for RateLimit {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let operation = request.operation();
        // Each file of a batch counts.
        let admit = |_: &VPath| self.admit(operation);
        match request {
            Request::Upload(files) => upload_checked(&self.inner, files, admit),
            Request::Download(paths) => download_checked(&self.inner, paths, admit),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Stream(..)
            | Request::Execute(..) => checked(self.admit(operation), &self.inner, request),
        }
    }
}
