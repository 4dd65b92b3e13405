//! `withHistory`: a backend whose changes are noted; and what keeps a turn beyond its process.

use std::rc::Rc;

use js_sys::{Array, Function};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::history::{HistoryCall, HistoryGiven, PinnedGiven};
use crate::boundary::read;
use crate::boundary::reader::FilePath;
use crate::boundary::turn::{KeptCall, KeptGiven, KeptTurnsGiven, ThreeWay, receipt};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{host, random};
use crate::files::{Files, FilesOptions};
use crate::layer::history::{Author, Compared, History, Moment, Note, Pin, Verified, Who};
use crate::layer::turn::{Next, Turn, kept, three_way};
use crate::protocol::Backend;
use crate::side::Room;
use crate::storage::pinned::Pinned;
use crate::wasm::call::{answered, put_body, put_paths};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

/// The longest name of a kept turn.
const MOST_NAME: usize = 200;

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
    ask: fn(u32, usize, f64) -> Begun,
    pinned: fn(usize) -> Result<u32>,
    keep: fn(usize),
    kept: fn(u32, usize, f64) -> Begun,
    kept_turns: fn(usize, f64) -> Begun,
}

chunk!(
    "history",
    Functions = Functions {
        new,
        ask,
        pinned,
        keep,
        kept: ask_kept,
        kept_turns: list_kept,
    }
);

/// Makes a history of a backend; replies with its handle.
#[wasm_bindgen]
pub fn history_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: HistoryGiven = read(len)?;
    let room = given.room.room(handles::backend(given.room.backend.0)?)?;
    let inner = handles::backend(given.inner.0)?;
    let who = told_by(hosts.function(given.who));
    let history = History::new(inner, room, who, given.options());
    Ok(handles::hold(Rc::new(history)))
}

/// Who makes a change: the host returns the author and the call, in an array.
fn told_by(who: Function) -> Who {
    Rc::new(move || {
        let told = who.call0(&JsValue::UNDEFINED);
        let told = Array::from(&told.map_err(|thrown| host::thrown("who failed", thrown))?);
        let text = |place| told.get(place).as_string().unwrap_or_default().into();
        Ok(Author {
            by: text(0),
            call: text(1),
        })
    })
}

fn put_notes(reply: &mut Reply, notes: Vec<Note>) {
    reply.len(notes.len());
    for note in notes {
        for text in [&note.id, &note.by, &note.call, &note.operation] {
            reply.str(text);
        }
        reply.f64(note.at().millis());
        reply.len(note.files.len());
        for file in note.files {
            reply.str(file.path.as_str());
            reply.optional_str(file.before.as_deref());
            reply.optional_str(file.after.as_deref());
        }
    }
}

/// Starts a call of a history; `limit` is in milliseconds, negative for none.
#[wasm_bindgen]
pub fn history_ask(handle: u32, len: usize, limit: f64) -> Begun {
    (chunk().ask)(handle, len, limit)
}

fn ask(handle: u32, len: usize, limit: f64) -> Begun {
    let call = read(len).and_then(|call| Ok((handles::itself::<History>(handle)?, call)));
    task::start_within(limit, async move {
        let reply = match call {
            Ok((history, call)) => asked(&history, call).await,
            Err(error) => Err(error),
        };
        reply.unwrap_or_else(|error| Reply::error(&error))
    })
}

async fn asked(history: &History, call: HistoryCall) -> Result<Reply> {
    Ok(match call {
        HistoryCall::Log { path, most } => answered(history.log(&path, most).await, put_notes),
        HistoryCall::Diff { from, to } => {
            let to = to.map_or(Ok(Moment::Now), |to| Moment::parse(&to))?;
            let compared = history.diff(&Moment::parse(&from)?, &to).await;
            answered(compared, put_compared)
        }
        HistoryCall::Restore { path, moment } => {
            let restored = history.restore(&path, &Moment::parse(&moment)?).await;
            answered(restored, |reply, paths| put_paths(reply, &paths))
        }
        HistoryCall::Why {
            path: FilePath(path),
        } => answered(history.why(&path).await, |reply, why| {
            reply.bool(why.is_known);
            put_notes(reply, why.notes);
        }),
        HistoryCall::Prune {} => answered(history.prune().await, |reply, pruned| {
            reply.f64(pruned.dropped as f64);
            reply.f64(pruned.entries as f64);
            reply.f64(pruned.bytes as f64);
        }),
        HistoryCall::Pin {} => answered(history.pin().await, put_pin),
        HistoryCall::Unpin { pin } => answered(history.unpin(&pin).await, |_, ()| {}),
        HistoryCall::Pins {} => answered(history.pins().await, |reply, pins| {
            reply.len(pins.len());
            for pin in pins {
                put_pin(reply, pin);
            }
        }),
        HistoryCall::Label { label, pin } => {
            answered(history.label(&label, &pin).await, |_, ()| {})
        }
        HistoryCall::Labelled { label } => {
            answered(history.labelled(&label).await, |reply, pin| reply.str(&pin))
        }
        HistoryCall::Verify { pin } => answered(history.verify(pin.as_deref()).await, put_verified),
    })
}

fn put_pin(reply: &mut Reply, pin: Pin) {
    reply.str(&pin.name);
    reply.f64(pin.at.millis());
}

fn put_verified(reply: &mut Reply, verified: Verified) {
    let Verified { lost, drifted } = verified;
    reply.len(lost.len());
    for loss in lost {
        reply.str(&loss.path);
        reply.bool(loss.is_list);
        reply.bool(loss.is_missing);
        reply.str(&loss.digest);
    }
    reply.len(drifted.len());
    for path in drifted {
        reply.str(path.as_str());
    }
}

/// Makes a backend of the files of a pin; replies with its handle.
#[wasm_bindgen]
pub fn history_pinned(len: usize) {
    made((chunk().pinned)(len));
}

fn pinned(len: usize) -> Result<u32> {
    let given: PinnedGiven = read(len)?;
    let history = handles::itself::<History>(given.history.0)?;
    let (objects, root) = history.objects(&given.pin)?;
    let pinned = Pinned::new(objects, root, Time::from_millis(given.made_at));
    let files = Rc::new(Files::new(pinned, FilesOptions::default()));
    // Labels of what the pin holds are those of the files.
    let files = history.capability().origins.earlier(files);
    Ok(handles::hold_shared(files))
}

fn put_compared(reply: &mut Reply, compared: Vec<Compared>) {
    reply.len(compared.len());
    for Compared {
        path,
        before,
        after,
    } in compared
    {
        reply.str(path.as_str());
        put_body(reply, before);
        put_body(reply, after);
    }
}

/// Keeps a turn in a directory of a backend under a name, or a random one; replies with the name.
#[wasm_bindgen]
pub fn turn_keep(len: usize) {
    (chunk().keep)(len);
}

fn keep(len: usize) {
    answered(named(len), |reply, name| reply.str(&name)).send();
}

fn named(len: usize) -> Result<String> {
    let given: KeptGiven = read(len)?;
    let name = given.name.unwrap_or_else(random::id);
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_good = (1..=MOST_NAME).contains(&name.len())
        && name.bytes().all(is_usual)
        && !name.starts_with('.');
    if !is_good {
        return Err(Error::new(
            Kind::InvalidArgument,
            "option \"name\" must be 1 to 200 letters, digits, '-', '_' and '.', and not begin with '.'",
        ));
    }
    let turn = handles::itself::<Turn>(given.turn.0)?;
    let keep = handles::backend(given.room.backend.0)?;
    // What a conversation keeps has its labels for the one that goes on with it.
    let keep = turn.capability().origins.kept(keep);
    turn.keep_in(given.room.room(keep)?, &name);
    Ok(name)
}

/// Starts a call of a turn that is kept.
#[wasm_bindgen]
pub fn kept_ask(handle: u32, len: usize, limit: f64) -> Begun {
    (chunk().kept)(handle, len, limit)
}

fn ask_kept(handle: u32, len: usize, limit: f64) -> Begun {
    let call = read(len).and_then(|call| Ok((handles::itself::<Turn>(handle)?, call)));
    task::start_within(limit, async move {
        let (turn, call) = match call {
            Ok(call) => call,
            Err(error) => return Reply::error(&error),
        };
        match call {
            KeptCall::Noted {} => answered(turn.noted().await, |reply, noted| {
                reply.len(usize::from(noted.is_some()));
                if let Some(note) = noted {
                    reply.str(&note);
                }
            }),
            KeptCall::Merge { files } => merged(files).await,
            call => answered(files_of(&turn, call).await, |reply, paths| {
                put_paths(reply, &paths);
            }),
        }
    })
}

/// Replies for each file with a number: 0 if it stays as it is now, 1 if both sides changed the same place,
/// 2 if it gets the branch's content; 3 and a content that has both changes.
async fn merged(files: Vec<ThreeWay>) -> Reply {
    let mut reply = Reply::ok();
    reply.len(files.len());
    for ThreeWay { before, ours, now } in files {
        match three_way(before.as_ref(), now.as_ref(), ours.as_ref()).await {
            Next::Theirs => reply.u8(0),
            Next::Unmerged => reply.u8(1),
            Next::Ours => reply.u8(2),
            Next::Merged(body) => {
                reply.u8(3);
                put_body(&mut reply, Some(body));
            }
        }
    }
    reply
}

async fn files_of(turn: &Turn, call: KeptCall) -> Result<Vec<VPath>> {
    match call {
        KeptCall::Noted {} | KeptCall::Merge { .. } => Ok(Vec::new()),
        KeptCall::Changed {} => turn.changed().await,
        KeptCall::Showing { paths } => {
            let paths = paths.into_iter().map(|FilePath(path)| path);
            turn.showing(paths.collect()).await
        }
        KeptCall::Show { base, note } => {
            let note = note.map(Into::into);
            turn.show(handles::backend(base.0)?, note).await?;
            Ok(Vec::new())
        }
        // Their labels would be lost, as those of one are unknown to the other.
        KeptCall::Apart { into } => {
            let into = handles::backend(into.0)?;
            let none = [turn.capability(), into.capability()];
            match none.iter().all(|one| one.origins.is_empty()) {
                true => Ok(Vec::new()),
                false => Err(Error::new(
                    Kind::Unsupported,
                    "merge: labels of withProvenance go along only into what the branch was forked from",
                )),
            }
        }
        KeptCall::Settle { files } => turn.settle(receipt(files)?.files).await,
    }
}

/// Starts a list of the names of the turns that are kept at a place.
#[wasm_bindgen]
pub fn kept_turns(len: usize, limit: f64) -> Begun {
    (chunk().kept_turns)(len, limit)
}

fn list_kept(len: usize, limit: f64) -> Begun {
    let room = read(len).and_then(|given: KeptTurnsGiven| {
        let backend = handles::backend(given.backend.0)?;
        Ok(Room::new(backend, VPath::own(&given.path)?, None))
    });
    task::start_within(limit, async move {
        let names = match room {
            Ok(room) => kept(&room).await,
            Err(error) => Err(error),
        };
        answered(names, |reply, names| {
            reply.len(names.len());
            for name in names {
                reply.str(&name);
            }
        })
    })
}
