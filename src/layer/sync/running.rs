//! Only one run of a pair at a time. A run that does not say for some seconds that it goes on has ended,
//! and the next one begins. That is no guarantee: a run that merely slept may go on. So every change is
//! conditional, and `base` is written only over what was read; the lock saves work.

use std::cell::Cell;
use std::time::Duration;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
use crate::env::{clock, random, timer};
use crate::side::{Others, Room};

/// How long a run is believed to go on, in microseconds, and after which time it says so again.
const LEASE: i64 = 10 * 1_000_000;
const RENEW: i64 = 3 * 1_000_000;

/// How often another run is waited for, and how long each time.
const WAITS: u32 = 240;
const WAIT: Duration = Duration::from_millis(250);

const NAME: &str = "running";

thread_local! {
    /// Runs of this process that were broken off; nobody has to wait for them.
    static ENDED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Begins a new process, as far as runs go: nobody knows that others were broken off.
#[cfg(feature = "simulation")]
pub fn renew_process() {
    ENDED.with_borrow_mut(Vec::clear);
}

/// A run that has begun.
pub struct Running {
    room: Room,
    id: String,
    said: Cell<i64>,
    is_over: Cell<bool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over.get() {
            ENDED.with_borrow_mut(|ended| ended.push(self.id.clone()));
        }
    }
}

fn body(id: &str, at: i64) -> String {
    format!("{id}\n{at}")
}

/// Waits until no other run is there, and begins.
pub async fn begin(room: &Room) -> Result<Running> {
    let id = random::id();
    for _ in 0..WAITS {
        let now = clock::now().micros();
        let text = body(&id, now);
        if room.create("running", NAME, text.as_bytes()).await? {
            return Ok(Running {
                room: room.clone(),
                id,
                said: Cell::new(now),
                is_over: Cell::new(false),
            });
        }
        // A run with another key is waited for as well.
        let names = [NAME.to_owned()];
        let found = room.read_all("running", &names, Others::Heard).await?;
        let Some(found) = found.into_iter().flatten().next() else {
            continue;
        };
        let text = std::str::from_utf8(&found.body).unwrap_or_default();
        let (other, since) = text.split_once('\n').unwrap_or_default();
        let since: i64 = since.parse().unwrap_or(0);
        let has_ended = ENDED.with_borrow(|ended| ended.iter().any(|one| one == other));
        // One of the future is of no clock.
        if has_ended || (now - since).abs() > LEASE {
            room.delete(NAME, &found.file).await?;
        } else {
            timer::sleep(WAIT).await;
        }
    }
    Err(Error::new(
        Kind::Conflict,
        "Another run of this pair is going on, so nothing was done; wait until it ends, and sync again",
    ))
}

/// The error of a run that another one has overtaken.
pub fn overtaken() -> Error {
    Error::new(
        Kind::Conflict,
        "Another run of this pair took over: what was synced so far is whole, and the next run goes on",
    )
}

impl Running {
    /// Says that the run goes on, if that was not said lately; fails if another one took over.
    pub async fn goes_on(&self) -> Result<()> {
        let (said, now) = (self.said.get(), clock::now().micros());
        if (now - said).abs() < RENEW {
            return Ok(());
        }
        let old = body(&self.id, said);
        let old = self.room.sealed("running", NAME, old.as_bytes()).await;
        let text = body(&self.id, now);
        // Of two calls that meet here one says so.
        self.said.set(now);
        let replaced = self.room.replace("running", NAME, &old, text.as_bytes());
        match replaced.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(overtaken()),
            Err(error) => {
                self.said.set(said);
                Err(error)
            }
        }
    }

    /// Ends the run.
    pub async fn end(&self) {
        let text = body(&self.id, self.said.get());
        let file = self.room.sealed("running", NAME, text.as_bytes()).await;
        if self.room.delete(NAME, &file).await.is_ok() {
            self.is_over.set(true);
        }
    }
}
