//! Chromium keeps the databases of an origin in a LevelDB, and appends to its log in two steps: the
//! seven bytes that head a record, and what it says. Killed between them, it goes on behind the
//! half at its next start, takes the log for damaged at the one after that, and drops everything
//! (google/leveldb, issue 1287). But a log is read only until some four megabytes were appended to
//! it: then what it holds is sorted into a table, and a new log is begun. So the first of an
//! origin's pages after a start of the browser appends as much, in a transaction that it takes
//! back, before it changes anything.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::select;
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;

use crate::backend::indexed_db::connection::{Connection, Durability, Mode};
use crate::backend::indexed_db::schema::BODIES;
use crate::env::locks::{self, Held, Wish};
use crate::env::{dom, timer};
use crate::error::Result;
use crate::lock::Mutex;

/// The database in which it is written. Nothing stays there.
const DATABASE: &str = "kitbag-log";
/// Held by the page that has done it, for as long as that lives: as long as one of them does, the
/// browser has not started again.
const LOCK: &str = "kitbag:log";
/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a page that only reads waits with it, so as not to be slowed down when it starts.
const CALM: Duration = Duration::from_secs(2);
/// Bytes of one value. Those of 64 KiB and more would stand in files of their own.
const PIECE: u32 = 64_000;
/// So many of them are more than a log takes, with the megabyte that the browser holds back.
const PIECES: u32 = 80;

enum State {
    Undone,
    /// With the lock, if there are such locks and it was free.
    Done(#[expect(dead_code, reason = "held for as long as the page lives")] Option<Held>),
}

thread_local! {
    static STATE: Rc<Mutex<State>> = Rc::new(Mutex::new(State::Undone));
}

/// Sees to it that nothing is appended to a log from before the browser's last start.
pub async fn renew() {
    let turn = STATE.with(Rc::clone);
    let mut state = turn.lock().await;
    if matches!(*state, State::Done(_)) {
        return;
    }
    let lock = if dom::is_chromium() {
        renew_alone().await
    } else {
        None
    };
    *state = State::Done(lock);
}

/// The same, after a while.
#[expect(clippy::disallowed_methods, reason = "there is no promise of it")]
pub fn renew_later() {
    wasm_bindgen_futures::spawn_local(async {
        timer::sleep(CALM).await;
        renew().await;
    });
}

async fn renew_alone() -> Option<Held> {
    let lock = locks::take(LOCK, Wish::IfFree).await.ok().flatten();
    if lock.is_none() && locks::available() {
        return None;
    }
    // Where it fails, for want of room mostly, changes must go on without.
    let _ = select(Box::pin(append()), timer::sleep(PATIENCE)).await;
    lock
}

async fn append() -> Result<()> {
    let connection = Connection::unguarded(DATABASE, Durability::Relaxed, PATIENCE);
    let transaction = connection.begin(Mode::Write, &[BODIES]).await?;
    let bodies = transaction.store(BODIES)?;
    let piece = Uint8Array::new_with_length(PIECE);
    for number in 0..PIECES {
        bodies.put(&number.into(), &piece)?;
    }
    // When this is answered, they have been written; the transaction is given up with that.
    bodies.get(&JsValue::from(0))?.await.map(drop)
}
