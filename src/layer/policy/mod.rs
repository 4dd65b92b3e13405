//! Rules around a backend. Each concern is one wrapper in its own file, and [`stack`] applies them
//! in this order:
//!
//! ```text
//! audit ─► hooks ─► readOnly ─► readOnlyPrefixes ─► permissions ─► ask ─► rateLimit ─► inspect
//!       ─► skip hidden (part of permissions) ─► quota ─► detour ─► inner
//! ```
//!
//! Paths are canonical before any of this: a [`VPath`] has one spelling. The audit record is
//! written on the way back, so it includes refusals. A rule is one function over requests
//! (`rule.rs`); it names every operation, so that a new one cannot bypass it.
//!
//! If a rule must inspect stored files (does a delete reach a denied file? how large is a file
//! now?), it calls the backend below all rules: such calls do not count as operations and are not
//! filtered by other rules. Below every rule about paths, symbolic links are refused (`links`).

mod any_name;
mod ask;
mod audit;
mod deny;
mod detour;
mod hooks;
mod inspect;
mod links;
mod no_commands;
mod permissions;
mod quota;
mod rate_limit;
mod read_only;
mod rule;
mod rules;
mod skip_hidden;
mod unsound;
mod usage;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

pub use ask::{Asking, OnAsk, Question};
pub use audit::{OnAudit, Record};
pub use hooks::{After, Before, Call, Hooks};
pub use inspect::{Inspected, OnInspect, Verdict};
pub use quota::OneAtATime;
pub use rate_limit::{Covers, Rate, Rates};
pub use rules::{Decision, Mode, Rule, Rules, Touch};
pub use usage::Limits;

pub(in crate::layer) use unsound::unsound;

use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, timer};
use crate::layer::folding::Folding;
use crate::protocol::SharedBackend;

/// The clock and the timer: the host's, or replaced by a test.
#[derive(Clone)]
pub struct Seams {
    /// The current time.
    pub now: Rc<dyn Fn() -> Time>,
    /// Resolves after the given time.
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

/// Any combination of rules. An absent rule adds no wrapper and has no cost.
#[derive(Clone, Default)]
pub struct Policy {
    /// Refuses every change.
    pub read_only: bool,
    /// Refuses changes at and below these directories.
    pub deny_prefixes: Vec<VPath>,
    /// Which paths may be read and written.
    pub permissions: Option<Rules>,
    /// The approval callback for rules with mode `ask`.
    pub ask: Option<Asking>,
    /// Rate limits; clones of a policy share their counters.
    pub rates: Rates,
    /// Inspects content before it is written.
    pub inspect: Option<OnInspect>,
    /// The storage quota.
    pub quota: Option<Limits>,
    /// For policies around several views of the same files: serializes their changes, so that each
    /// check includes what earlier changes stored.
    pub one_at_a_time: Option<OneAtATime>,
    /// Called after every operation.
    pub audit: Option<OnAudit>,
    /// Host callbacks around every operation.
    pub hooks: Hooks,
    /// Allows a shell, although a shell bypasses all rules about files, or refuses it even without
    /// such rules. The operator's decision.
    pub allow_execute: Option<bool>,
    /// Allows new files with hidden characters in their names.
    pub hidden_characters: bool,
    /// Clock and timer, replaceable by tests.
    pub seams: Seams,
}

/// Wraps a backend in a policy.
pub fn stack(inner: SharedBackend, policy: Policy) -> Result<SharedBackend> {
    // Destructured, so that a new rule cannot be forgotten here.
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
        hidden_characters,
        seams,
    } = policy;
    // Incremented by changes below the rules, after which a quota counts again.
    let recount: Rc<Cell<u64>> = Rc::default();
    let judges_paths = permissions.is_some()
        || !deny_prefixes.is_empty()
        || inspect.is_some()
        || !hooks.is_empty();
    let folding = Rc::new(Folding::of(inner.clone()));
    let permissions = permissions.map(|rules| rules.over(folding.clone()));
    let detour = detour::Detour::new(inner.clone(), recount.clone(), permissions.clone());
    let bottom: SharedBackend = Rc::new(detour);
    let mut top = bottom.clone();
    let refuses_commands = allow_execute == Some(false);
    let allow_execute = allow_execute == Some(true);
    if judges_paths {
        let rules = permissions.clone();
        top = Rc::new(links::NoLinks { inner: top, rules });
    }
    let raw = top.clone();
    let hides = permissions.is_some();
    if let Some(limits) = quota {
        let quota = quota::Quota::new(top, limits, hides, one_at_a_time, recount, allow_execute);
        top = Rc::new(quota);
    }
    if let Some(rules) = &permissions {
        top = Rc::new(skip_hidden::SkipHidden::new(top, rules.clone()));
    }
    let visible = top.clone();
    if let Some(on_inspect) = inspect {
        let inspect = inspect::Inspect::new(top, raw.clone(), on_inspect, allow_execute);
        top = Rc::new(inspect);
    }
    if !rates.is_empty() {
        top = Rc::new(rate_limit::RateLimit {
            inner: top,
            rates,
            seams: seams.clone(),
        });
    }
    if let Some(rules) = permissions {
        if rules.asks() {
            let Some(asking) = ask else {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    "A permission has the mode \"ask\", but there is no onAsk to be asked",
                ));
            };
            top = Rc::new(ask::Ask {
                inner: top,
                raw: raw.clone(),
                rules: rules.clone(),
                asking,
                seams: seams.clone(),
            });
        }
        top = Rc::new(permissions::Permissions {
            leaves_out: top.capability().leaves_out,
            inner: top,
            raw: raw.clone(),
            visible,
            rules,
            allow_execute,
        });
    }
    if !deny_prefixes.is_empty() {
        order::sort(&mut deny_prefixes);
        deny_prefixes.dedup();
        top = Rc::new(deny::Deny {
            inner: top,
            raw,
            hides,
            prefixes: deny_prefixes,
            folding,
            allow_execute,
        });
    }
    if read_only {
        top = Rc::new(read_only::ReadOnly {
            inner: top,
            allow_execute,
        });
    }
    if refuses_commands {
        top = Rc::new(no_commands::NoCommands { inner: top });
    }
    if hidden_characters {
        top = Rc::new(any_name::AnyName { inner: top });
    }
    if !hooks.is_empty() {
        top = Rc::new(hooks::Hooked {
            inner: top,
            hooks,
            seams: seams.clone(),
        });
    }
    if let Some(on_audit) = audit {
        top = Rc::new(audit::Audit {
            inner: top,
            on_audit,
            seams,
        });
    }
    // Without a rule nothing is wrapped.
    Ok(match Rc::ptr_eq(&top, &bottom) {
        true => inner,
        false => top,
    })
}

/// The error of a rule, which may have a name. It does not depend on whether the file exists.
fn denied(touch: Touch, path: &VPath, rule: Option<Rc<str>>) -> Error {
    let after = rule.as_deref().map_or(String::new(), by_name);
    Error::at(
        Kind::PermissionDenied,
        match touch {
            Touch::Read => "Error: permission denied for read on ",
            Touch::Write => "Error: permission denied for write on ",
        },
        path,
        after,
    )
    .by_rule()
    .decided_by(rule.map_or(Cow::Borrowed("permissions"), |name| {
        Cow::Owned(name.to_string())
    }))
}

/// The end of a refusal by a rule with a name.
fn by_name(rule: &str) -> String {
    format!(": the rule '{rule}' does not allow it")
}

/// The error of a delete, move or copy because of something below, which is not named: it may be
/// hidden.
fn denied_beneath(operation: &str, path: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        format!("Error: permission denied for {operation} on "),
        path,
        format!(
            ": a rule protects something beneath it. Use {operation} for the files that are not \
             protected, one by one."
        ),
    )
    .by_rule()
    .decided_by("permissions")
}
