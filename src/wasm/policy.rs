//! `withPolicy`: converts rules that TypeScript has validated, and connects them to the host's
//! callbacks. An unexpected result of a callback refuses the operation.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use js_sys::{Array, Function};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::running;
use crate::core::sorted::Sorted;
use crate::core::visible::visible;
use crate::env::host;
use crate::layer::policy::{
    After, Asking, Before, Call, Covers, Hooks, Inspected, Limits, Mode, OneAtATime, Policy,
    Question, Rate, Rates, Record, Rule, Rules, Touch, Verdict, stack,
};
use crate::protocol::{Atomic, Content, Operation};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::{audits, handles};

struct Functions {
    new: fn(u32, &JsValue),
    keep: fn(&JsValue),
    put: fn(u32, u32),
    drop: fn(u32),
    shows: fn(u32, bool, &str) -> String,
}

chunk!(
    "policy",
    Functions = Functions {
        new,
        keep,
        put,
        drop: drop_kept,
        shows,
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

/// Those of some paths, one a line, that the rules of a policy show; with `beneath`, those at or below
/// which they may show something.
#[wasm_bindgen]
pub fn policy_shows(handle: u32, beneath: bool, paths: &str) -> String {
    (chunk().shows)(handle, beneath, paths)
}

fn shows(handle: u32, beneath: bool, paths: &str) -> String {
    let Ok(backend) = handles::backend(handle) else {
        return String::new();
    };
    let Atomic::Guarded(guard) = backend.atomic() else {
        return paths.to_owned();
    };
    let shown = paths
        .split('\n')
        .filter(|path| VPath::parse(path).is_ok_and(|path| guard.shows(&path, beneath)));
    shown.collect::<Vec<_>>().join("\n")
}

/// Wraps a handle in a policy; replies with the new handle.
#[wasm_bindgen]
pub fn policy_new(inner: u32, options: &JsValue) {
    (chunk().new)(inner, options);
}

fn new(inner: u32, options: &JsValue) {
    answered(made(inner, options), |reply, handle| reply.u32(handle)).send();
}

/// Stores a policy that will be applied to several backends; replies with its number.
#[wasm_bindgen]
pub fn policy_keep(options: &JsValue) {
    (chunk().keep)(options);
}

fn keep(options: &JsValue) {
    let kept = read(options).map(|policy| {
        KEPT.with_borrow_mut(|kept| {
            kept.last = kept.last.wrapping_add(1).max(1);
            let one_at_a_time = Some(OneAtATime::default());
            kept.held.insert(
                kept.last,
                Policy {
                    one_at_a_time,
                    ..policy
                },
            );
            kept.last
        })
    });
    answered(kept, |reply, id| reply.u32(id)).send();
}

/// Wraps a handle in a stored policy; replies with the new handle.
#[wasm_bindgen]
pub fn policy_put(kept: u32, inner: u32) {
    (chunk().put)(kept, inner);
}

fn put(kept: u32, inner: u32) {
    let policy = KEPT.with_borrow(|all| all.held.get(&kept).cloned());
    let made = match policy {
        Some(policy) => stacked(inner, policy),
        None => Err(Error::internal("There is no such policy")),
    };
    answered(made, |reply, handle| reply.u32(handle)).send();
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

fn made(inner: u32, options: &JsValue) -> Result<u32> {
    stacked(inner, read(options)?)
}

fn stacked(inner: u32, policy: Policy) -> Result<u32> {
    let audit = policy.audit.clone();
    let handle = handles::hold_shared(stack(handles::backend(inner)?, policy)?);
    if let Some(audit) = audit {
        audits::keep(handle, audit);
    }
    Ok(handle)
}

fn array(object: &JsValue, name: &str) -> Vec<JsValue> {
    host::property(object, name)
        .and_then(|value| value.dyn_into::<Array>().ok())
        .map(|array| array.to_vec())
        .unwrap_or_default()
}

fn flag(object: &JsValue, name: &str) -> bool {
    host::property(object, name).and_then(|value| value.as_bool()) == Some(true)
}

fn bytes_limit(object: &JsValue, name: &str) -> Option<u64> {
    // A float-to-integer cast saturates.
    host::number_property(object, name).map(|number| number as u64)
}

fn wrong(what: &str) -> Error {
    Error::new(
        Kind::InvalidArgument,
        format!("The policy has a wrong {what}"),
    )
}

fn read(options: &JsValue) -> Result<Policy> {
    let mut policy = Policy {
        read_only: flag(options, "readOnly"),
        allow_execute: flag(options, "allowExecute"),
        hidden_characters: flag(options, "hiddenCharacters"),
        ..Policy::default()
    };
    for prefix in array(options, "readOnlyPrefixes") {
        let text = prefix.as_string().ok_or_else(|| wrong("prefix"))?;
        policy.deny_prefixes.push(VPath::parse(&text)?);
    }
    let rules: Vec<Rule> = array(options, "permissions")
        .iter()
        .map(rule)
        .collect::<Result<_>>()?;
    let deny_by_default = flag(options, "denyByDefault");
    if !rules.is_empty() || deny_by_default {
        policy.permissions = Some(Rules::new(rules, !deny_by_default));
    }
    if let Some(on_ask) = host::method(options, "onAsk") {
        let millis = host::number_property(options, "askTimeoutMs").unwrap_or(60_000.0);
        policy.ask = Some(asking(on_ask, millis));
    }
    let rates: Vec<Rate> = array(options, "rates")
        .iter()
        .map(rate)
        .collect::<Result<_>>()?;
    policy.rates = Rates::new(rates);
    if let Some(quota) = host::property(options, "quota") {
        policy.quota = Some(Limits {
            max_bytes: bytes_limit(&quota, "maxBytes"),
            max_files: bytes_limit(&quota, "maxFiles"),
            max_file_bytes: bytes_limit(&quota, "maxFileBytes"),
        });
    }
    if let Some(inspect) = host::method(options, "inspect") {
        policy.inspect = Some(Rc::new(move |seen| {
            Box::pin(inspected(inspect.clone(), seen))
        }));
    }
    if let Some(audit) = host::method(options, "audit") {
        policy.audit = Some(Rc::new(move |entry| {
            // An exception of the callback does not change the result for the caller.
            if let Ok(answer) = audit.call1(&JsValue::UNDEFINED, &record(entry)) {
                quiet(&answer);
            }
        }));
    }
    policy.hooks = hooks(
        host::method(options, "before"),
        host::method(options, "after"),
    );
    Ok(policy)
}

/// Prevents an unhandled rejection of a promise that nobody awaits.
fn quiet(answer: &JsValue) {
    if let Some(catch) = host::method(answer, "catch") {
        let _ = catch.call1(answer, &Function::new_no_args(""));
    }
}

fn rule(given: &JsValue) -> Result<Rule> {
    let touches: Vec<Touch> = array(given, "operations")
        .iter()
        .map(|operation| match operation.as_string().as_deref() {
            Some("read") => Ok(Touch::Read),
            Some("write") => Ok(Touch::Write),
            _ => Err(wrong("operation")),
        })
        .collect::<Result<_>>()?;
    let mode = match host::text_property(given, "mode").as_deref() {
        None | Some("allow") => Mode::Allow,
        Some("deny") => Mode::Deny,
        Some("ask") => Mode::Ask,
        Some(_) => return Err(wrong("mode")),
    };
    let patterns: Vec<String> = array(given, "paths")
        .iter()
        .map(|pattern| pattern.as_string().ok_or_else(|| wrong("pattern")))
        .collect::<Result<_>>()?;
    let rule = Rule::new(&touches, mode, patterns.iter().map(String::as_str))?;
    Ok(match host::text_property(given, "name") {
        Some(name) => rule.named(&name),
        None => rule,
    })
}

fn rate(given: &JsValue) -> Result<Rate> {
    let covers = match host::text_property(given, "covers").as_deref() {
        Some("all") => Covers::Everything,
        Some("reads") => Covers::Reads,
        Some("writes") => Covers::Writes,
        Some(name) => Covers::Only(Operation::named(name).ok_or_else(|| wrong("rate"))?),
        None => return Err(wrong("rate")),
    };
    let number = |name| host::number_property(given, name).ok_or_else(|| wrong("rate"));
    Ok(Rate {
        covers,
        operations: number("operations")? as usize,
        per: Duration::from_secs_f64(number("perMs")?.clamp(0.0, 1e12) / 1000.0),
    })
}

/// Calls a host callback with one object.
async fn call_host(what: &str, callback: &Function, argument: JsValue) -> Result<JsValue> {
    host::call(what, callback, &JsValue::UNDEFINED, &[argument]).await
}

fn asking(on_ask: Function, millis: f64) -> Asking {
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
        timeout: Duration::from_secs_f64(millis.clamp(0.0, 1e12) / 1000.0),
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
        return Ok(Verdict::Replace(Content::Raw(bytes)));
    }
    Err(wrong("answer of inspect"))
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
