//! Rules around a backend. Each concern is one wrapper in a file of its own, and [`stack`] puts
//! them round a backend in the one order there is:
//!
//! ```text
//! audit ─► hooks ─► readOnly ─► denyPrefixes ─► permissions ─► ask ─► rateLimit ─► inspect ─► quota ─► inner
//! ```
//!
//! Paths are canonical before any of this: a [`VPath`] has one spelling. The record of an audit
//! is made on the way back, so it tells of refusals too. Every wrapper writes out every method,
//! and `missing_trait_methods` is denied, so that a new operation cannot pass a rule unseen.
//!
//! Where a rule must look at what is there (does a delete reach a denied file? how large is a
//! file now?), it asks the backend beneath all rules: its own look neither counts as an
//! operation nor goes through what other rules hide.

mod ask;
mod audit;
mod deny;
mod edited;
mod forward;
mod hooks;
mod inspect;
mod permissions;
mod quota;
mod rate_limit;
mod read_only;
mod rules;
mod usage;

#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

pub use ask::{Asking, OnAsk, Question};
pub use audit::{OnAudit, Record};
pub use hooks::{After, Before, Call, Hooks};
pub use inspect::{Inspected, OnInspect, Verdict};
pub use quota::{Limits, OneAtATime};
pub use rate_limit::{Covers, Rate, Rates};
pub use rules::{Decision, Mode, Rule, Rules, Touch};

use crate::env::{clock, timer};
use crate::error::{Error, Kind, Result};
use crate::order;
use crate::path::VPath;
use crate::protocol::{ExecuteOptions, ExecuteResult, SharedBackend, Shell};
use crate::storage::Pending;
use crate::time::Time;

/// What time it is, and how to wait: the host's, or a test's own.
#[derive(Clone)]
pub struct Seams {
    /// Now.
    pub now: Rc<dyn Fn() -> Time>,
    /// Resolves after so long.
    pub sleep: Rc<dyn Fn(Duration) -> LocalBoxFuture<'static, ()>>,
}

impl Default for Seams {
    fn default() -> Seams {
        Seams {
            now: Rc::new(clock::now),
            sleep: Rc::new(timer::sleep),
        }
    }
}

/// Any combination of rules. What is absent adds no wrapper and costs nothing.
#[derive(Clone, Default)]
pub struct Policy {
    /// Refuses every change.
    pub read_only: bool,
    /// Refuses changes at and beneath these.
    pub deny_prefixes: Vec<VPath>,
    /// Who may read and write what.
    pub permissions: Option<Rules>,
    /// Who is asked where a rule says so.
    pub ask: Option<Asking>,
    /// How many operations in how long a time; clones of a policy count together.
    pub rates: Rates,
    /// Sees content before it is written.
    pub inspect: Option<OnInspect>,
    /// How much may be stored.
    pub quota: Option<Limits>,
    /// For a policy round several views of the same files: their changes take turns, so that each
    /// is judged by what those before it stored.
    pub one_at_a_time: Option<OneAtATime>,
    /// Told of every operation, after it.
    pub audit: Option<OnAudit>,
    /// Anything else.
    pub hooks: Hooks,
    /// The operator knows that a shell sees no rule about files, and allows it all the same.
    pub allow_execute: bool,
    /// Time, for tests to replace.
    pub seams: Seams,
}

/// Puts a policy round a backend.
pub fn stack(inner: SharedBackend, policy: Policy) -> Result<SharedBackend> {
    // Taken apart, so that a new rule cannot be left out here.
    let Policy {
        read_only,
        mut deny_prefixes,
        permissions,
        ask,
        rates,
        inspect,
        quota,
        one_at_a_time,
        audit,
        hooks,
        allow_execute,
        seams,
    } = policy;
    let raw = inner.clone();
    let mut top = inner;
    if let Some(limits) = quota {
        top = Rc::new(quota::Quota::new(top, limits, one_at_a_time, allow_execute));
    }
    if let Some(on_inspect) = inspect {
        top = Rc::new(inspect::Inspect::new(
            top,
            raw.clone(),
            on_inspect,
            allow_execute,
        ));
    }
    if !rates.is_empty() {
        top = Rc::new(rate_limit::RateLimit::new(top, rates, seams.clone()));
    }
    if let Some(rules) = permissions {
        if rules.asks() {
            let Some(asking) = ask else {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    "A permission has the mode \"ask\", but there is no onAsk to be asked",
                ));
            };
            top = Rc::new(ask::Ask::new(
                top,
                raw.clone(),
                rules.clone(),
                asking,
                seams.clone(),
            ));
        }
        top = Rc::new(permissions::Permissions::new(
            top,
            raw.clone(),
            rules,
            allow_execute,
        ));
    }
    if !deny_prefixes.is_empty() {
        order::sort(&mut deny_prefixes);
        deny_prefixes.dedup();
        top = Rc::new(deny::Deny::new(top, raw, deny_prefixes, allow_execute));
    }
    if read_only {
        top = Rc::new(read_only::ReadOnly::new(top, allow_execute));
    }
    if !hooks.is_empty() {
        top = Rc::new(hooks::Hooked::new(top, hooks, seams.clone()));
    }
    if let Some(on_audit) = audit {
        top = Rc::new(audit::Audit::new(top, on_audit, seams));
    }
    Ok(top)
}

/// The refusal of a rule. It says nothing of what is there, so it is the same whether the file
/// exists or not.
fn denied(touch: Touch, path: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        match touch {
            Touch::Read => "Error: permission denied for read on ",
            Touch::Write => "Error: permission denied for write on ",
        },
        path,
        "",
    )
}

/// The refusal of a delete because of something beneath, which is not named: it may be hidden.
fn denied_beneath(path: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        "Error: permission denied for delete on ",
        path,
        ": a rule protects something beneath it. Delete the files that may be deleted one by one.",
    )
}

/// A shell that refuses, since it would see none of the rules about files. It is there so that
/// the refusal can say why.
struct NoShell {
    id: Rc<str>,
    rule: &'static str,
}

impl NoShell {
    /// The refusal to put in the place of a backend's shell; none where there is no shell, or
    /// the operator allows it.
    fn guard(inner: &SharedBackend, rule: &'static str, allow_execute: bool) -> Option<NoShell> {
        let shell = inner.shell().filter(|_| !allow_execute)?;
        Some(NoShell {
            id: shell.id(),
            rule,
        })
    }

    /// The shell that a wrapper shows.
    fn shown<'a>(guard: &'a Option<NoShell>, inner: &'a SharedBackend) -> Option<&'a dyn Shell> {
        match guard {
            Some(refusing) => Some(refusing),
            None => inner.shell(),
        }
    }
}

impl Shell for NoShell {
    fn id(&self) -> Rc<str> {
        self.id.clone()
    }

    fn execute<'a>(&'a self, _: &'a str, _: ExecuteOptions) -> Pending<'a, ExecuteResult> {
        let refusal = Error::new(
            Kind::PermissionDenied,
            format!(
                "execute is refused under a policy with {}: a shell ignores it. \
                 An operator who accepts that sets allowExecute: true.",
                self.rule
            ),
        );
        Box::pin(std::future::ready(Err(refusal.during("execute"))))
    }
}
