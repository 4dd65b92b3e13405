//! `withProvenance`: labels, flows, and what a conversation has read. TypeScript has validated the
//! options.

use std::rc::Rc;
use std::time::Duration;

use js_sys::{Array, Function};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::visible::visible;
use crate::env::{host, timer};
use crate::layer::provenance::{
    AskFlow, Flow, FlowQuestion, LabelFile, LabelRule, Options, Patterns, Provenance, Seen, Then,
};
use crate::protocol::Operation;
use crate::side::{Key, Room};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(u32, u32, &JsValue, Option<Vec<u8>>),
    taint: fn(u32, u8, &JsValue),
    file: fn(u32, bool, &str, f64) -> Begun,
}

chunk!("provenance", Functions = Functions { new, taint, file });

/// Wraps a backend; `keep` is the backend for the labels, or 0, and `key` that of its room. Replies with the handle.
#[wasm_bindgen]
pub fn provenance_new(inner: u32, keep: u32, options: &JsValue, key: Option<Vec<u8>>) {
    (chunk().new)(inner, keep, options, key);
}

fn new(inner: u32, keep: u32, options: &JsValue, key: Option<Vec<u8>>) {
    answered(made(inner, keep, options, key), |reply, handle| {
        reply.u32(handle);
    })
    .send();
}

fn made(inner: u32, keep: u32, options: &JsValue, key: Option<Vec<u8>>) -> Result<u32> {
    let key = key.map(|key| Key::of(&key)).transpose()?;
    let mut rules = Vec::new();
    for rule in array(options, "labels") {
        rules.push(LabelRule {
            paths: patterns(&rule, "paths")?,
            label: text(&rule, "as")?.into(),
        });
    }
    let mut flows = Vec::new();
    for flow in array(options, "flows") {
        flows.push(Flow {
            from: text(&flow, "from")?.into(),
            to: patterns(&flow, "to")?,
            then: match text(&flow, "then")?.as_str() {
                "ask" => Then::Ask,
                _ => Then::Refuse,
            },
        });
    }
    let file = match keep {
        0 => None,
        keep => {
            let path = VPath::own_file(&text(options, "keepAt")?)?;
            Some(LabelFile {
                room: Room::new(handles::backend(keep)?, path.parent(), key),
                name: path.name().into(),
            })
        }
    };
    let millis = host::number_property(options, "askTimeoutMs").unwrap_or(60_000.0);
    let options = Options {
        labels: rules,
        flows,
        ask: host::method(options, "onAsk").map(|on_ask| asking(on_ask, millis)),
        file,
    };
    let wrapped = Provenance::new(handles::backend(inner)?, options);
    Ok(handles::hold(Rc::new(wrapped)))
}

fn array(object: &JsValue, name: &str) -> Vec<JsValue> {
    let array = host::property(object, name).and_then(|value| value.dyn_into::<Array>().ok());
    array.map(|array| array.to_vec()).unwrap_or_default()
}

fn text(object: &JsValue, name: &str) -> Result<String> {
    host::text_property(object, name).ok_or_else(|| {
        Error::new(
            Kind::InvalidArgument,
            format!("withProvenance: {name} must be a string"),
        )
    })
}

fn patterns(object: &JsValue, name: &str) -> Result<Patterns> {
    let patterns = host::texts_property(object, name);
    Patterns::parse(patterns.iter().map(String::as_str))
}

fn asking(on_ask: Function, millis: f64) -> AskFlow {
    AskFlow {
        on_ask: Rc::new(move |question| {
            let on_ask = on_ask.clone();
            Box::pin(async move {
                let asked = [shown(&question)];
                let answer = host::call("onAsk failed", &on_ask, &JsValue::UNDEFINED, &asked).await;
                // Only `true` is an approval.
                Ok(answer?.as_bool() == Some(true))
            })
        }),
        timeout: Duration::from_secs_f64(millis.clamp(0.0, 1e12) / 1000.0),
        sleep: Rc::new(timer::sleep),
    }
}

fn shown(question: &FlowQuestion) -> JsValue {
    let labels: Array = question
        .labels
        .iter()
        .map(|label| JsValue::from_str(label))
        .collect();
    let reads: Array = question
        .reads
        .iter()
        .map(|seen| {
            host::object(&[
                ("label", JsValue::from_str(&seen.label)),
                ("path", visible(seen.path.as_str()).as_ref().into()),
                ("operation", seen.operation.name().into()),
            ])
        })
        .collect();
    host::object(&[
        ("operation", question.operation.name().into()),
        ("path", visible(question.path.as_str()).as_ref().into()),
        ("preview", visible(&question.preview).as_ref().into()),
        ("labels", labels.into()),
        ("reads", reads.into()),
    ])
}

/// What a conversation has read: replies with it (0), clears it (1), or begins another conversation
/// that has read `reads` (2) and replies with its handle.
#[wasm_bindgen]
pub fn provenance_taint(handle: u32, what: u8, reads: &JsValue) {
    (chunk().taint)(handle, what, reads);
}

fn taint(handle: u32, what: u8, reads: &JsValue) {
    let found = handles::itself::<Provenance>(handle);
    let reply = match (found, what) {
        (Err(error), _) => Reply::error(&error),
        (Ok(found), 0) => answered(Ok(found.taint().seen()), |reply, seen| {
            reply.len(seen.len());
            for one in seen {
                reply.str(&one.label);
                reply.str(one.path.as_str());
                reply.str(one.operation.name());
            }
        }),
        (Ok(found), 1) => answered(Ok(()), |_, ()| found.taint().clear()),
        (Ok(found), _) => {
            let seen: Result<Vec<Seen>> = Array::from(reads).iter().map(|one| seen(&one)).collect();
            let other = seen.map(|seen| handles::hold(Rc::new(found.conversation(seen))));
            answered(other, |reply, handle| reply.u32(handle))
        }
    };
    reply.send();
}

fn seen(one: &JsValue) -> Result<Seen> {
    let operation = text(one, "operation")?;
    Ok(Seen {
        label: text(one, "label")?.into(),
        path: VPath::parse(&text(one, "path")?)?,
        operation: Operation::named(&operation).ok_or_else(|| {
            Error::new(
                Kind::InvalidArgument,
                format!("withProvenance: there is no operation '{operation}'"),
            )
        })?,
    })
}

/// Starts a query for the labels of a file, or makes it and the files below it trusted.
#[wasm_bindgen]
pub fn provenance_file(handle: u32, trusts: bool, path: &str, limit: f64) -> Begun {
    (chunk().file)(handle, trusts, path, limit)
}

fn file(handle: u32, trusts: bool, path: &str, limit: f64) -> Begun {
    let found = handles::itself::<Provenance>(handle);
    let path = VPath::parse(path).map_err(Error::from);
    task::start_within(limit, async move {
        match (found, path) {
            (Err(error), _) | (_, Err(error)) => Reply::error(&error),
            (Ok(found), Ok(path)) if trusts => answered(found.trust(&path).await, |reply, ()| {
                reply.str(path.as_str());
            }),
            (Ok(found), Ok(path)) => answered(found.labels(&path).await, |reply, labels| {
                reply.len(labels.iter().len());
                for label in labels.iter() {
                    reply.str(label);
                }
            }),
        }
    })
}
