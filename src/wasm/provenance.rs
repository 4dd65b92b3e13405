//! `withProvenance`: labels, flows, and what a conversation has read.

use std::rc::Rc;
use std::time::Duration;

use js_sys::{Array, Function};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::provenance::{LabelsCall, ProvenanceGiven, ReadGiven, TaintCall};
use crate::boundary::read;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::core::visible::visible;
use crate::env::{host, timer};
use crate::layer::provenance::{AskFlow, FlowQuestion, LabelFile, Options, Provenance};
use crate::side::{Key, Room};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
    taint: fn(u32, usize),
    ask: fn(u32, usize, f64) -> Begun,
}

chunk!("provenance", Functions = Functions { new, taint, ask });

/// Wraps a backend; replies with the handle.
#[wasm_bindgen]
pub fn provenance_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: ProvenanceGiven = read(len)?;
    let file = match &given.room {
        None => None,
        Some(room) => {
            let path = VPath::own_file(&room.path)?;
            let key = room.key.as_ref().map(|key| Key::of(key)).transpose()?;
            Some(LabelFile {
                room: Room::new(handles::backend(room.backend.0)?, path.parent(), key),
                name: path.name().into(),
            })
        }
    };
    let ask = hosts
        .maybe(given.on_ask)
        .map(|on_ask| asking(on_ask, given.ask_timeout_ms));
    let options = Options {
        labels: given.labels()?,
        flows: given.flows()?,
        ask,
        file,
    };
    let wrapped = Provenance::new(handles::backend(given.inner.0)?, options);
    Ok(handles::hold(Rc::new(wrapped)))
}

fn asking(on_ask: Function, timeout: Duration) -> AskFlow {
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
        timeout,
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

/// Tells or changes what a conversation has read, or begins another conversation and replies with its
/// handle.
#[wasm_bindgen]
pub fn provenance_taint(handle: u32, len: usize) {
    (chunk().taint)(handle, len);
}

fn taint(handle: u32, len: usize) {
    let call = read(len).and_then(|call| Ok((handles::itself::<Provenance>(handle)?, call)));
    let reply = match call {
        Err(error) => Reply::error(&error),
        Ok((found, TaintCall::Reads {})) => answered(Ok(found.taint().seen()), |reply, seen| {
            reply.len(seen.len());
            for one in seen {
                reply.str(&one.label);
                reply.str(one.path.as_str());
                reply.str(one.operation.name());
            }
        }),
        Ok((found, TaintCall::Clear {})) => answered(Ok(()), |_, ()| found.taint().clear()),
        Ok((found, TaintCall::Conversation { reads })) => {
            let seen = reads.into_iter().map(ReadGiven::seen).collect();
            let other = handles::hold(Rc::new(found.conversation(seen)));
            answered(Ok(other), |reply, handle| reply.u32(handle))
        }
    };
    reply.send();
}

/// Starts a call about the labels of a file.
#[wasm_bindgen]
pub fn provenance_ask(handle: u32, len: usize, limit: f64) -> Begun {
    (chunk().ask)(handle, len, limit)
}

fn ask(handle: u32, len: usize, limit: f64) -> Begun {
    let call = read(len).and_then(|call| Ok((handles::itself::<Provenance>(handle)?, call)));
    task::start_within(limit, async move {
        match call {
            Err(error) => Reply::error(&error),
            Ok((found, LabelsCall::Trust { path })) => {
                answered(found.trust(&path).await, |reply, ()| {
                    reply.str(path.as_str());
                })
            }
            Ok((found, LabelsCall::Labels { path })) => {
                answered(found.labels(&path).await, |reply, labels| {
                    reply.len(labels.iter().len());
                    for label in labels.iter() {
                        reply.str(label);
                    }
                })
            }
        }
    })
}
