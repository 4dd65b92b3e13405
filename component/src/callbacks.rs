//! What rules ask the host. What it throws ends the call, which is a refusal too.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::pending;
use kitbag::core::error::Result;
use kitbag::core::future::done;
use kitbag::core::path::VPath;
use kitbag::core::running;
use kitbag::core::visible::visible;
use kitbag::layer::policy::{Asking, Inspected, OnAudit, OnInspect, Question, Record, Verdict};
use kitbag::layer::provenance::{AskFlow, FlowQuestion};
use kitbag::protocol::Seen;

use crate::bindings::kitbag::files::{rules, types};
use crate::run::ask;
use crate::{given, provenance};

/// The host answers at once, so the time limit is its own.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

fn asked<T>(host: impl FnOnce() -> Result<T, types::Error>) -> Result<T> {
    ask(|| host().map_err(given::error))
}

/// A path or a text as a person can read it.
fn shown(text: &str) -> String {
    visible(text).into_owned()
}

/// The tool or the method that was called, if that is not the operation.
fn called(operation: &str) -> Option<String> {
    let called = running::called().filter(|name| *name != operation)?;
    Some(called.to_owned())
}

/// The host of the name decides where a rule asks.
pub fn asking(policy: Rc<str>) -> Asking {
    Asking {
        on_ask: Rc::new(move |question: Question| {
            let question = rules::Question {
                operation: question.operation.to_owned(),
                called: called(question.operation),
                path: shown(question.path.as_str()),
                preview: shown(&question.preview),
                rule: question.rule.map(|name| name.to_string()),
                labels: Vec::new(),
                reads: Vec::new(),
            };
            done(asked(|| rules::decide(&policy, &question)))
        }),
        timeout: LONGEST,
    }
}

/// The host of the name decides where a flow asks.
pub fn asking_flow(host: Rc<str>) -> AskFlow {
    AskFlow {
        on_ask: Rc::new(move |question: FlowQuestion| {
            let operation = question.operation.name();
            let read = |seen: &Seen| rules::LabelledRead {
                path: shown(seen.path.as_str()),
                ..provenance::read(seen)
            };
            let question = rules::Question {
                operation: operation.to_owned(),
                called: called(operation),
                path: shown(question.path.as_str()),
                preview: shown(&question.preview),
                rule: None,
                labels: question
                    .labels
                    .iter()
                    .map(|label| label.to_string())
                    .collect(),
                reads: question.reads.iter().map(read).collect(),
            };
            done(asked(|| rules::decide(&host, &question)))
        }),
        timeout: LONGEST,
        // Nothing happens while the host is asked.
        sleep: Rc::new(|_| Box::pin(pending())),
    }
}

/// It sees what is stored.
pub fn inspecting(policy: Rc<str>) -> OnInspect {
    Rc::new(move |seen: Inspected| {
        let seen = rules::Inspected {
            operation: seen.operation.to_owned(),
            path: seen.path.as_str().to_owned(),
            body: Vec::from(seen.content),
            is_text: seen.is_text,
        };
        done(asked(|| rules::inspect(&policy, &seen)).map(verdict))
    })
}

fn verdict(given: rules::Verdict) -> Verdict {
    match given {
        rules::Verdict::Pass => Verdict::Pass,
        rules::Verdict::Deny(why) => Verdict::Deny(why),
        rules::Verdict::Replace(content) => Verdict::Replace(given::content(content)),
    }
}

/// It is told of every operation.
pub fn auditing(policy: Rc<str>) -> OnAudit {
    Rc::new(move |entry: &Record| {
        let path = |path: &VPath| shown(path.as_str());
        let entry = rules::AuditRecord {
            at: entry.time.micros(),
            operation: entry.operation.to_owned(),
            called: entry.called.map(str::to_owned),
            path: entry.path.as_ref().map(path),
            paths: entry.paths.iter().map(path).collect(),
            bytes: entry.bytes,
            code: entry.code.to_owned(),
            rule: entry.rule.as_deref().map(str::to_owned),
            duration_us: u64::try_from(entry.duration.as_micros()).unwrap_or(u64::MAX),
        };
        // It has ended, whatever the host says.
        let _ = asked(|| rules::audit(&policy, &entry));
    })
}
