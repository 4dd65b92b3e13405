//! `hooks`: host callbacks around an operation. `before` may refuse the operation and runs before
//! every rule; `after` receives the outcome and cannot change it.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::audit::Begun;
use super::rule::Rule;
use super::{Record, Seams};
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{Answer, Request, SharedBackend};

/// An operation that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its JavaScript name.
    pub operation: &'static str,
    /// The files or directories in its arguments; empty for a command.
    pub paths: Vec<VPath>,
}

/// Called before the operation; an error refuses it.
pub type Before = Rc<dyn Fn(Call) -> LocalBoxFuture<'static, Result<()>>>;
/// Called after the operation.
pub type After = Rc<dyn Fn(Record) -> LocalBoxFuture<'static, ()>>;

/// Host callbacks around an operation.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Runs before every rule.
    pub before: Option<Before>,
    /// Runs after everything except the audit.
    pub after: Option<After>,
}

impl Hooks {
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

pub(super) struct Hooked {
    pub(super) inner: SharedBackend,
    pub(super) hooks: Hooks,
    pub(super) seams: Seams,
}

impl Hooked {
    async fn before(&self, request: &Request<'_>) -> Result<()> {
        let operation = request.operation().name();
        match &self.hooks.before {
            Some(before) => before(Call {
                operation,
                paths: request.paths(),
            })
            .await
            .map_err(|error| error.decided_by("hooks.before")),
            None => Ok(()),
        }
    }
}

impl Rule for Hooked {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        Box::pin(async move {
            let begun = Begun::now(&self.seams, &request);
            let answer = match self.before(&request).await {
                Ok(()) => self.inner.call(request).await,
                Err(refusal) => Err(refusal),
            };
            if let Some(after) = &self.hooks.after {
                after(begun.ended(&self.seams, &answer)).await;
            }
            answer
        })
    }
}
