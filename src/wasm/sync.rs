//! `sync`: two backends are brought together.

use std::rc::Rc;

use js_sys::{Array, Function};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::sync::{Always, SyncGiven};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::env::host;
use crate::layer::sync::{Change, Changed, Choice, Choose, Side, Sync, Synced};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::Hosts;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

struct Functions {
    run: fn(usize, f64, Hosts) -> Begun,
}

chunk!("sync", Functions = Functions { run });

/// Starts a run; `limit` is in milliseconds, negative for none.
#[wasm_bindgen]
pub fn sync_run(len: usize, limit: f64, hosts: Array) -> Begun {
    (chunk().run)(len, limit, Hosts::new(hosts))
}

fn run(len: usize, limit: f64, hosts: Hosts) -> Begun {
    let sync = read(len).and_then(|given| made(&given, &hosts));
    task::start_within(limit, async move {
        let synced = match sync {
            Ok(sync) => sync.run().await,
            Err(error) => Err(error),
        };
        answered(synced, put_synced)
    })
}

fn made(given: &SyncGiven, hosts: &Hosts) -> Result<Sync> {
    let room = given.room.room(handles::backend(given.room.backend.0)?)?;
    let mut options = given.options();
    options.choose = match hosts.maybe(given.on_conflict) {
        Some(on_conflict) => Some(choosing(on_conflict)),
        None => {
            let choice = given.always.choice();
            (choice != Choice::Both).then(|| -> Choose { Rc::new(move |_| done(Ok(choice))) })
        }
    };
    if let Some(on_progress) = hosts.maybe(given.on_progress) {
        options.progress = Some(Rc::new(move |made, all| {
            let shown = host::object(&[
                ("done", (made as f64).into()),
                ("total", (all as f64).into()),
            ]);
            // An exception of the callback changes nothing.
            let _ = on_progress.call1(&JsValue::UNDEFINED, &shown);
        }));
    }
    let (a, b) = (handles::backend(given.a.0)?, handles::backend(given.b.0)?);
    Sync::new(a, b, room, options)
}

fn choosing(on_conflict: Function) -> Choose {
    Rc::new(move |path: VPath| -> Pending<'static, Choice> {
        let on_conflict = on_conflict.clone();
        Box::pin(async move {
            let shown = host::object(&[("path", path.as_str().into())]);
            let what = "onConflict failed";
            let answer = host::call(what, &on_conflict, &JsValue::UNDEFINED, &[shown]).await?;
            let word = answer.as_string().unwrap_or_default();
            Always::of(&word).map(Always::choice).ok_or_else(|| {
                Error::new(
                    Kind::InvalidArgument,
                    "onConflict must return \"both\", \"a\", \"b\" or \"leave\"; the file stays as it is",
                )
            })
        })
    })
}

fn side(side: Side) -> &'static str {
    match side {
        Side::A => "a",
        Side::B => "b",
    }
}

fn put_change(reply: &mut Reply, change: &Change) {
    reply.str(change.path.as_str());
    reply.str(side(change.side));
    let (what, from) = match &change.what {
        Changed::Created => ("created", None),
        Changed::Replaced => ("replaced", None),
        Changed::Merged => ("merged", None),
        Changed::Deleted => ("deleted", None),
        Changed::Moved(from) => ("moved", Some(from.as_str())),
    };
    reply.str(what);
    reply.optional_str(from);
}

fn put_synced(reply: &mut Reply, synced: Synced) {
    reply.len(synced.changed.len());
    for change in &synced.changed {
        put_change(reply, change);
    }
    reply.len(synced.conflicts.len());
    for conflict in &synced.conflicts {
        reply.str(conflict.path.as_str());
        reply.str(match conflict.choice {
            Choice::Both => "both",
            Choice::Take(one) => side(one),
            Choice::Leave => "leave",
        });
        reply.optional_str(conflict.copy.as_ref().map(VPath::as_str));
    }
    reply.len(synced.refused.len());
    for refusal in &synced.refused {
        reply.str(refusal.path.as_str());
        reply.str(side(refusal.side));
        reply.str(&refusal.error.to_string());
        reply.str(refusal.error.code());
    }
    reply.len(synced.risks.len());
    for risk in &synced.risks {
        reply.str(risk);
    }
    for number in [
        synced.files.a as f64,
        synced.files.b as f64,
        synced.read as f64,
        synced.read_bytes as f64,
        synced.sent_bytes as f64,
    ] {
        reply.f64(number);
    }
}
