//! `rateLimit`: a maximum number of operations per time span, in a sliding window. A batch counts
//! once per file, so it cannot bypass the limit. A refused operation does not count.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::Seams;
use super::forward::{fill, forward};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::future::done;
use crate::core::path::VPath;
use crate::protocol::{
    Backend, Content, DeleteResult, Edit, EditResult, Effect, ExecuteOptions, ExecuteResult,
    FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Operation, Page, RawFile, ReadResult,
    SharedBackend, Shell, WriteResult,
};

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
    inner: SharedBackend,
    rates: Rates,
    seams: Seams,
}

impl RateLimit {
    pub(super) fn new(inner: SharedBackend, rates: Rates, seams: Seams) -> RateLimit {
        RateLimit {
            inner,
            rates,
            seams,
        }
    }

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
                    operation.name(),
                    rate.operations,
                    rate.per.as_millis(),
                    wait.as_micros().div_ceil(1000)
                ),
            )
            .retry_after(wait)
            .during(operation.name()));
        }
        for window in windows.iter_mut() {
            if window.rate.covers.counts(operation) {
                window.passed.push_back(now);
            }
        }
        Ok(())
    }

    /// Counts an operation when it begins, not when its future is created.
    fn limited<'a, T: 'a>(
        &'a self,
        operation: Operation,
        ask: impl FnOnce() -> Pending<'a, T> + 'a,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            self.admit(operation)?;
            ask().await
        })
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for RateLimit {
    forward!(capability);

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.limited(Operation::Ls, || self.inner.ls(path))
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.limited(Operation::Read, move || self.inner.read(path, page))
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.limited(Operation::ReadRaw, || self.inner.read_raw(path))
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.limited(Operation::Grep, || self.inner.grep(query))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        self.limited(Operation::Glob, || self.inner.glob(query))
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.limited(Operation::Write, || self.inner.write(path, content))
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.limited(Operation::Edit, || self.inner.edit(path, edit))
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        self.limited(Operation::Delete, move || {
            self.inner.delete(path, unchanged)
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let refused: Vec<Option<Error>> = files
                .iter()
                .map(|_| self.admit(Operation::UploadFiles).err())
                .collect();
            let allowed = files
                .into_iter()
                .zip(&refused)
                .filter_map(|(file, refused)| refused.is_none().then_some(file))
                .collect();
            fill(refused, self.inner.upload(allowed).await)
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            let refused: Vec<Option<Error>> = paths
                .iter()
                .map(|_| self.admit(Operation::DownloadFiles).err())
                .collect();
            let allowed: Vec<VPath> = paths
                .iter()
                .zip(&refused)
                .filter(|(_, refused)| refused.is_none())
                .map(|(path, _)| path.clone())
                .collect();
            fill(refused, self.inner.download(&allowed).await)
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell().map(|_| self as &dyn Shell)
    }
}

impl Shell for RateLimit {
    fn id(&self) -> Rc<str> {
        self.inner.shell().map_or_else(|| Rc::from(""), Shell::id)
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        match self.inner.shell() {
            Some(shell) => self.limited(Operation::Execute, || shell.execute(command, options)),
            None => done(Err(crate::protocol::unsupported("execute"))),
        }
    }
}
