//! Crash protection of databases, against a Chromium bug. Chromium keeps the databases of an origin
//! in a LevelDB and appends to its log in two steps: the seven-byte header of a record, then its
//! content. If the browser is killed between the two steps, it appends after the incomplete record
//! at its next start. At the start after that, it regards the log as corrupt and drops everything
//! (google/leveldb, issue 1287). But a log is read only until about four megabytes were appended to
//! it: then its content is sorted into a table, and a new log is started. So the first page of an
//! origin after a browser start appends that much, in a transaction that it aborts, before it opens
//! its database.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::select;
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;

use crate::core::error::Result;
use crate::core::lock::Mutex;
use crate::env::locks::{self, Held, Wish};
use crate::env::timer;
use crate::storage::browser::Durability;
use crate::storage::browser::database::connection::{Connection, Mode};
use crate::storage::browser::database::schema::BODIES;

/// The database for these writes. Nothing remains in it.
const DATABASE: &str = "kitbag-log";
/// Held by the page that renewed the log, for as long as the page lives. While any page holds it,
/// the browser has not restarted.
const LOCK: &str = "kitbag:log";
/// The timeout of a renewal.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of one value. Values of 64 KiB or more would be stored in separate files.
const PIECE: u32 = 64_000;
/// This many values exceed the size of a log, including the megabyte that the browser buffers.
const PIECES: u32 = 80;

enum State {
    Undone,
    /// With the lock, if Web Locks exist and it was free.
    Done(#[expect(dead_code, reason = "held for as long as the page lives")] Option<Held>),
}

thread_local! {
    static STATE: Rc<Mutex<State>> = Rc::new(Mutex::new(State::Undone));
}

/// Ensures that nothing is appended to a log from before the last browser start.
pub async fn renew() {
    let turn = STATE.with(Rc::clone);
    let mut state = turn.lock().await;
    if matches!(*state, State::Done(_)) {
        return;
    }
    *state = State::Done(renew_alone().await);
}

async fn renew_alone() -> Option<Held> {
    let lock = locks::take(LOCK, Wish::IfFree).await.ok().flatten();
    if lock.is_none() && locks::available() {
        return None;
    }
    // If this fails, usually because the quota is full, changes continue without it.
    let _ = select(Box::pin(append()), timer::sleep(PATIENCE)).await;
    lock
}

async fn append() -> Result<()> {
    let connection = Connection::new(DATABASE, Durability::Relaxed, PATIENCE);
    let transaction = connection.begin(Mode::Write, &[BODIES]).await?;
    let bodies = transaction.store(BODIES)?;
    let piece = Uint8Array::new_with_length(PIECE);
    for number in 0..PIECES {
        bodies.put(&number.into(), &piece)?;
    }
    // When this request succeeds, the values have been written. Returning drops the transaction,
    // which aborts it.
    bodies.get(&JsValue::from(0))?.await.map(drop)
}
