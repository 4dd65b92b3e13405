//! `history`: a backend whose changes are noted; and what keeps a turn beyond its process.

use std::rc::Rc;

use bytes::Bytes;
use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{host, random};
use crate::files::{Files, FilesOptions};
use crate::layer::history::{
    Author, Compared, History, HistoryOptions, Moment, Note, Pin, Retention, Verified, Who,
    question,
};
use crate::layer::turn::{Turn, kept};
use crate::protocol::{Backend, SharedBackend};
use crate::side::{Key, Room};
use crate::storage::pinned::Pinned;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

/// The key of a room, as JavaScript passes it.
type GivenKey = Option<Vec<u8>>;

/// The longest name of a kept turn.
const MOST_NAME: usize = 200;

/// What `history_new` takes besides the backends.
struct Options<'a> {
    dir: &'a str,
    overwrite: bool,
    keep: [f64; 3],
    who: Function,
    key: GivenKey,
}

struct Functions {
    new: fn(u32, u32, Options<'_>),
    ask: fn(u8, u32, &str, &str, f64, f64) -> Begun,
    keep: fn(u32, u32, &str, Option<&str>, GivenKey),
    at: fn(u32, &str, f64),
}

chunk!("history", Functions = Functions { new, ask, keep, at });

/// Makes a history of a backend, which is kept in a directory of another one; replies with its
/// handle. `count`, `age` (in milliseconds) and `bytes` are what is kept, negative for everything.
/// `who` returns who makes a change and by which call, in two lines. `key` is that of the room.
#[wasm_bindgen]
#[expect(clippy::too_many_arguments, reason = "one message from JavaScript")]
pub fn history_new(
    inner: u32,
    at: u32,
    dir: &str,
    overwrite: bool,
    count: f64,
    age: f64,
    bytes: f64,
    who: Function,
    key: GivenKey,
) {
    let options = Options {
        dir,
        overwrite,
        keep: [count, age, bytes],
        who,
        key,
    };
    (chunk().new)(inner, at, options);
}

fn new(inner: u32, at: u32, options: Options<'_>) {
    answered(made(inner, at, options), |reply, handle| reply.u32(handle)).send();
}

fn made(inner: u32, at: u32, options: Options<'_>) -> Result<u32> {
    let Options {
        dir,
        overwrite,
        keep,
        who,
        key,
    } = options;
    let dir = folder_of(dir)?;
    let [count, age, bytes] = keep.map(|number| (number >= 0.0).then_some(number));
    let options = HistoryOptions {
        overwrite,
        keep: Retention {
            count: count.map(|count| count as usize),
            age: age.map(|age| age as i64),
            bytes: bytes.map(|bytes| bytes as u64),
        },
    };
    let who: Who = Rc::new(move || {
        let told = who.call0(&JsValue::UNDEFINED);
        let told = told.map_err(|thrown| host::thrown("who failed", thrown))?;
        let told = told.as_string().unwrap_or_default();
        let (by, call) = told.split_once('\n').unwrap_or((&told, ""));
        Ok(Author {
            by: by.into(),
            call: call.into(),
        })
    });
    let (inner, at) = (handles::backend(inner)?, handles::backend(at)?);
    let history = History::new(inner, Room::new(at, dir, key_of(key)?), who, options);
    Ok(handles::hold(Rc::new(history)))
}

fn folder_of(dir: &str) -> Result<VPath> {
    // The text is not shown: it may be a secret in the wrong option.
    VPath::own(dir).map_err(|_| {
        Error::new(
            Kind::InvalidArgument,
            "keepIn: option \"path\" must be a directory such as \"/notes\", without '..' or '\\'",
        )
    })
}

fn key_of(given: GivenKey) -> Result<Option<Rc<Key>>> {
    given.map(|given| Key::of(&given)).transpose()
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

/// Starts a call of a history, of a turn that is kept, or of a backend with such turns: `what` is one of
/// [`question`], and `first` and `second` are what it is about. `limit` is in milliseconds, negative for
/// none.
#[wasm_bindgen]
pub fn history_ask(
    what: u8,
    handle: u32,
    first: &str,
    second: &str,
    most: f64,
    limit: f64,
) -> Begun {
    (chunk().ask)(what, handle, first, second, most, limit)
}

fn ask(what: u8, handle: u32, first: &str, second: &str, most: f64, limit: f64) -> Begun {
    let (first, second) = (first.to_owned(), second.to_owned());
    if what == question::KEPT_TURNS {
        let keep = handles::backend(handle);
        return task::start_within(limit, async move {
            answered(listed(keep, &first).await, |reply, names| {
                reply.len(names.len());
                for name in names {
                    reply.str(&name);
                }
            })
        });
    }
    if [question::CHANGED, question::SHOWING].contains(&what) {
        let turn = handles::itself::<Turn>(handle);
        return task::start_within(limit, async move {
            answered(watched(turn, what, &first).await, put_paths)
        });
    }
    let history = handles::itself::<History>(handle);
    task::start_within(limit, async move {
        let reply = match history {
            Ok(history) => asked(&history, what, &first, &second, most as usize).await,
            Err(error) => Err(error),
        };
        reply.unwrap_or_else(|error| Reply::error(&error))
    })
}

async fn listed(keep: Result<SharedBackend>, folder: &str) -> Result<Vec<Rc<str>>> {
    kept(&Room::new(keep?, VPath::own(folder)?, None)).await
}

async fn watched(turn: Result<Rc<Turn>>, what: u8, lines: &str) -> Result<Vec<VPath>> {
    if what == question::CHANGED {
        return turn?.changed().await;
    }
    let files = lines.lines().map(|line| Ok(VPath::parse_file(line)?));
    let files = files.collect::<Result<Vec<VPath>>>()?;
    turn?.showing(files).await
}

fn put_paths(reply: &mut Reply, paths: Vec<VPath>) {
    reply.len(paths.len());
    for path in paths {
        reply.str(path.as_str());
    }
}

async fn asked(
    history: &History,
    what: u8,
    first: &str,
    second: &str,
    most: usize,
) -> Result<Reply> {
    Ok(match what {
        question::LOG => {
            let notes = history.log(&VPath::parse(first)?, most).await;
            answered(notes, put_notes)
        }
        question::DIFF => {
            let to = match second {
                "" => Moment::Now,
                second => Moment::parse(second)?,
            };
            let compared = history.diff(&Moment::parse(first)?, &to).await;
            answered(compared, put_compared)
        }
        question::RESTORE => {
            let (path, moment) = (VPath::parse(first)?, Moment::parse(second)?);
            answered(history.restore(&path, &moment).await, put_paths)
        }
        question::WHY => {
            let why = history.why(&VPath::parse_file(first)?).await;
            answered(why, |reply, why| {
                reply.bool(why.is_known);
                put_notes(reply, why.notes);
            })
        }
        question::PIN => answered(history.pin().await, put_pin),
        question::UNPIN => answered(history.unpin(first).await, |_, ()| {}),
        question::PINS => answered(history.pins().await, |reply, pins| {
            reply.len(pins.len());
            for pin in pins {
                put_pin(reply, pin);
            }
        }),
        question::LABEL => answered(history.label(first, second).await, |_, ()| {}),
        question::LABELLED => answered(history.labelled(first).await, |reply, pin| reply.str(&pin)),
        question::VERIFY => {
            let pin = Some(first).filter(|pin| !pin.is_empty());
            answered(history.verify(pin).await, put_verified)
        }
        _ => answered(history.prune().await, |reply, pruned| {
            reply.f64(pruned.dropped as f64);
            reply.f64(pruned.entries as f64);
            reply.f64(pruned.bytes as f64);
        }),
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

/// Makes a backend of the files of a pin; replies with its handle. `at` is the time that listings show,
/// in milliseconds.
#[wasm_bindgen]
pub fn history_at(handle: u32, pin: &str, at: f64) {
    (chunk().at)(handle, pin, at);
}

fn at(handle: u32, pin: &str, at: f64) {
    let made = || -> Result<u32> {
        let history = handles::itself::<History>(handle)?;
        let (objects, root) = history.objects(pin)?;
        let pinned = Pinned::new(objects, root, Time::from_millis(at));
        let files = Rc::new(Files::new(pinned, FilesOptions::default()));
        // Labels of what the pin holds are those of the files.
        Ok(handles::hold_shared(
            history.capability().origins.earlier(files),
        ))
    };
    answered(made(), |reply, handle| reply.u32(handle)).send();
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

fn put_body(reply: &mut Reply, body: Option<Bytes>) {
    reply.bool(body.is_some());
    if let Some(body) = body {
        reply.body(body);
    }
}

/// Keeps a turn in a directory of a backend under a name, or a random one; replies with the name.
#[wasm_bindgen]
pub fn turn_keep(turn: u32, keep: u32, folder: &str, name: Option<String>, key: GivenKey) {
    (chunk().keep)(turn, keep, folder, name.as_deref(), key);
}

fn keep(turn: u32, keep: u32, folder: &str, name: Option<&str>, key: GivenKey) {
    answered(named(turn, keep, folder, name, key), |reply, name| {
        reply.str(&name);
    })
    .send();
}

fn named(turn: u32, keep: u32, folder: &str, name: Option<&str>, key: GivenKey) -> Result<String> {
    let name = name.map_or_else(random::id, str::to_owned);
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
    let dir = folder_of(folder)?;
    let turn = handles::itself::<Turn>(turn)?;
    // What a conversation keeps has its labels for the one that goes on with it.
    let keep = turn.capability().origins.kept(handles::backend(keep)?);
    turn.keep_in(Room::new(keep, dir, key_of(key)?), &name);
    Ok(name)
}
