//! `withPolicy`: connects rules to the host's callbacks. An unexpected result of a callback refuses the operation.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use js_sys::{Array, Function};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::policy::{PolicyGiven, RulesCall};
use crate::boundary::read;
use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::running;
use crate::core::sorted::Sorted;
use crate::core::visible::visible;
use crate::env::host;
use crate::layer::policy::{
    After, Asking, Before, Call, Hooks, Inspected, OneAtATime, Policy, Question, Record, Verdict,
    stack,
};
use crate::protocol::{Atomic, Content};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::options::{Hosts, made};
use crate::wasm::{audits, handles};

struct Functions {
    new: fn(u32, usize, Hosts) -> Result<u32>,
    keep: fn(usize, Hosts) -> Result<u32>,
    put: fn(u32, u32) -> Result<u32>,
    drop: fn(u32),
    ask: fn(u32, usize),
}

chunk!(
    "policy",
    Functions = Functions {
        new,
        keep,
        put,
        drop: drop_kept,
        ask,
    }
);

thread_local! {
    /// Policies that are applied to several backends, by number.
    static KEPT: RefCell<Kept> = RefCell::new(Kept::default());
}

#[derive(Default)]
struct Kept {
    last: u32,
    held: Sorted<u32, Policy>,
}

/// Asks which of some paths the rules of a policy show.
#[wasm_bindgen]
pub fn policy_ask(handle: u32, len: usize) {
    (chunk().ask)(handle, len);
}

fn ask(handle: u32, len: usize) {
    let call = read(len).and_then(|call| Ok((handles::backend(handle)?, call)));
    let shown = call.map(|(backend, call)| {
        let (paths, beneath) = match call {
            RulesCall::Shown { paths } => (paths, false),
            RulesCall::Reached { paths } => (paths, true),
        };
        let Atomic::Guarded(guard) = backend.atomic() else {
            return paths;
        };
        let shows =
            |path: &Rc<str>| VPath::parse(path).is_ok_and(|path| guard.shows(&path, beneath));
        paths.into_iter().filter(shows).collect()
    });
    answered(shown, |reply, paths| {
        reply.len(paths.len());
        for path in paths {
            reply.str(&path);
        }
    })
    .send();
}

/// Wraps a handle in a policy; replies with the new handle.
#[wasm_bindgen]
pub fn policy_new(inner: u32, len: usize, hosts: Array) {
    made((chunk().new)(inner, len, Hosts::new(hosts)));
}

fn new(inner: u32, len: usize, hosts: Hosts) -> Result<u32> {
    stacked(inner, policy(read(len)?, &hosts)?)
}

/// Stores a policy that will be applied to several backends; replies with its number.
#[wasm_bindgen]
pub fn policy_keep(len: usize, hosts: Array) {
    made((chunk().keep)(len, Hosts::new(hosts)));
}

fn keep(len: usize, hosts: Hosts) -> Result<u32> {
    let policy = Policy {
        one_at_a_time: Some(OneAtATime::default()),
        ..policy(read(len)?, &hosts)?
    };
    Ok(KEPT.with_borrow_mut(|kept| {
        kept.last = kept.last.wrapping_add(1).max(1);
        kept.held.insert(kept.last, policy);
        kept.last
    }))
}

/// Wraps a handle in a stored policy; replies with the new handle.
#[wasm_bindgen]
pub fn policy_put(kept: u32, inner: u32) {
    made((chunk().put)(kept, inner));
}

fn put(kept: u32, inner: u32) -> Result<u32> {
    let policy = KEPT.with_borrow(|all| all.held.get(&kept).cloned());
    let policy = policy.ok_or_else(|| Error::internal("There is no such policy"))?;
    stacked(inner, policy)
}

/// Releases a stored policy.
#[wasm_bindgen]
pub fn policy_drop(kept: u32) {
    (chunk().drop)(kept);
}

fn drop_kept(kept: u32) {
    let gone = KEPT.with_borrow_mut(|all| all.held.remove(&kept));
    drop(gone);
}

fn stacked(inner: u32, policy: Policy) -> Result<u32> {
    let audit = policy.audit.clone();
    let handle = handles::hold_shared(stack(handles::backend(inner)?, policy)?);
    if let Some(audit) = audit {
        audits::keep(handle, audit);
    }
    Ok(handle)
}

/// The rules of a policy, with the callbacks of the host.
fn policy(given: PolicyGiven, hosts: &Hosts) -> Result<Policy> {
    let mut policy = given.rules()?;
    policy.ask = hosts
        .maybe(given.on_ask)
        .map(|on_ask| asking(on_ask, given.ask_timeout_ms));
    if let Some(inspect) = hosts.maybe(given.inspect) {
        policy.inspect = Some(Rc::new(move |seen| {
            Box::pin(inspected(inspect.clone(), seen))
        }));
    }
    if let Some(audit) = hosts.maybe(given.audit) {
        policy.audit = Some(Rc::new(move |entry| {
            // An exception of the callback does not change the result for the caller.
            if let Ok(answer) = audit.call1(&JsValue::UNDEFINED, &record(entry)) {
                quiet(&answer);
            }
        }));
    }
    policy.hooks = hooks(hosts.maybe(given.before), hosts.maybe(given.after));
    Ok(policy)
}

/// Prevents an unhandled rejection of a promise that nobody awaits.
fn quiet(answer: &JsValue) {
    if let Some(catch) = host::method(answer, "catch") {
        let _ = catch.call1(answer, &Function::new_no_args(""));
    }
}

/// Calls a host callback with one object.
async fn call_host(what: &str, callback: &Function, argument: JsValue) -> Result<JsValue> {
    host::call(what, callback, &JsValue::UNDEFINED, &[argument]).await
}

fn asking(on_ask: Function, timeout: Duration) -> Asking {
    Asking {
        on_ask: Rc::new(move |question: Question| {
            let on_ask = on_ask.clone();
            Box::pin(async move {
                let mut asked: Vec<(&str, JsValue)> = vec![
                    ("operation", question.operation.into()),
                    ("path", visible(question.path.as_str()).as_ref().into()),
                    ("preview", visible(&question.preview).as_ref().into()),
                ];
                asked.extend(called(question.operation));
                if let Some(rule) = &question.rule {
                    asked.push(("rule", (**rule).into()));
                }
                let answer = call_host("onAsk failed", &on_ask, host::object(&asked)).await?;
                // Only `true` is an approval.
                Ok(answer.as_bool() == Some(true))
            })
        }),
        timeout,
    }
}

async fn inspected(inspect: Function, seen: Inspected) -> Result<Verdict> {
    let content = match std::str::from_utf8(&seen.content) {
        Ok(text) if seen.is_text => JsValue::from_str(text),
        _ => host::array_of(&seen.content).into(),
    };
    let shown = host::object(&[
        ("operation", seen.operation.into()),
        ("path", seen.path.as_str().into()),
        ("content", content),
    ]);
    let answer = call_host("inspect failed", &inspect, shown).await?;
    if answer.is_undefined() || answer.is_null() {
        return Ok(Verdict::Pass);
    }
    if let Some(deny) = host::property(&answer, "deny") {
        let why = deny.as_string();
        return Ok(Verdict::Deny(
            why.unwrap_or_else(|| String::from("it was refused")),
        ));
    }
    let content = host::property(&answer, "content");
    if let Some(text) = content.as_ref().and_then(JsValue::as_string) {
        return Ok(Verdict::Replace(Content::Text(Bytes::from(text))));
    }
    if let Some(bytes) = content.as_ref().and_then(host::bytes_of) {
        return Ok(Verdict::Replace(Content::Raw(bytes, None)));
    }
    Err(Error::new(
        Kind::InvalidArgument,
        "inspect must return nothing, { deny } or { content }",
    ))
}

fn hooks(before: Option<Function>, after: Option<Function>) -> Hooks {
    let paths = |paths: &[VPath]| -> JsValue {
        let list: Array = paths
            .iter()
            .map(|path| JsValue::from_str(path.as_str()))
            .collect();
        list.into()
    };
    let before = before.map(|before| -> Before {
        Rc::new(move |call: Call| {
            let before = before.clone();
            let mut shown = vec![("operation", call.operation.into())];
            shown.extend(called(call.operation));
            if let Some(path) = call.paths.first() {
                shown.push(("path", path.as_str().into()));
            }
            if call.paths.len() > 1 {
                shown.push(("paths", paths(&call.paths)));
            }
            let shown = host::object(&shown);
            Box::pin(async move {
                let refusal = |error: Error| {
                    let refusal = Error::new(Kind::PermissionDenied, error.to_string());
                    match error.cause() {
                        Some(cause) => refusal.caused_by(cause.clone()),
                        None => refusal,
                    }
                };
                let what = "Error: permission denied by hooks.before";
                let answer = call_host(what, &before, shown).await;
                let answer = answer.map_err(refusal)?;
                match host::property(&answer, "deny") {
                    None => Ok(()),
                    Some(why) => Err(Error::new(
                        Kind::PermissionDenied,
                        format!("{what}: {}", why.as_string().unwrap_or_default()),
                    )),
                }
            })
        })
    });
    let after = after.map(|after| -> After {
        Rc::new(move |entry: Record| {
            let after = after.clone();
            Box::pin(async move {
                // An exception does not change the result.
                let _ = call_host("hooks.after failed", &after, record(&entry)).await;
            })
        })
    });
    Hooks { before, after }
}

/// The tool or the method that was called, if it is not the operation.
fn called(operation: &str) -> Option<(&'static str, JsValue)> {
    let called = running::called().filter(|name| *name != operation)?;
    Some(("called", called.into()))
}

fn record(entry: &Record) -> JsValue {
    let mut shown: Vec<(&str, JsValue)> = vec![
        ("time", entry.time.to_string().into()),
        ("operation", entry.operation.into()),
        (
            "path",
            visible(entry.path.as_ref().map_or("", |path| path.as_str()))
                .as_ref()
                .into(),
        ),
        ("bytes", (entry.bytes as f64).into()),
        ("code", entry.code.into()),
        ("durationMs", (entry.duration.as_secs_f64() * 1000.0).into()),
    ];
    for (name, text) in [("rule", entry.rule.as_deref()), ("called", entry.called)] {
        if let Some(text) = text {
            shown.push((name, text.into()));
        }
    }
    for (name, count) in ["requests", "retries"]
        .into_iter()
        .zip(entry.effort.counts())
    {
        if count > 0 {
            shown.push((name, count.into()));
        }
    }
    if !entry.paths.is_empty() {
        let paths: Array = entry
            .paths
            .iter()
            .map(|path| JsValue::from_str(&visible(path.as_str())))
            .collect();
        shown.push(("paths", paths.into()));
    }
    host::object(&shown)
}
