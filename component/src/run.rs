//! Runs calls. Nothing here waits for anything outside: the imports answer at once, so a call is polled
//! until it is ready.
//!
//! A call may be lost: in JavaScript an exception of the host goes through it, and the instance can be
//! called again. If the host was asked for a file or a command then, nothing is borrowed, and the next
//! call frees what the lost one had locked. Otherwise memory may be inconsistent, and every later call is
//! refused. The same two cases look alike when a host calls the instance while it is asked; the call that
//! asked then fails, so that it does not go on with what it read before.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::lock;
use kitbag::core::running::{self, Call};
use kitbag::search::regex;

use crate::answers;
use crate::bindings::kitbag::files::types;

/// A call that is not ready after so many polls waits for something that never comes.
const POLLS: u32 = 1_000_000;
/// Bytes of the stack that a call must find: a host that throws leaves its part of the stack behind.
const STACK: usize = 256 << 10;

thread_local! {
    /// Whether a call has begun and not ended.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Whether that call is asking the host for a file or a command.
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
    /// How many calls have begun.
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

/// Runs a call of the method or tool `called`.
pub fn run<T>(called: &'static str, call: impl Future<Output = Result<T>>) -> Result<T> {
    if !begin() {
        return Err(refusal(
            "A call of this instance was interrupted and has left it inconsistent; make a new one",
        ));
    }
    let answer = match has_stack() {
        true => polled(called, call),
        false => Err(refusal(
            "The stack is used up, because the host has ended calls of this instance; make a new one",
        )),
    };
    IS_RUNNING.set(false);
    answer
}

/// The same, with the error as a caller gets it.
pub fn answered<T>(
    called: &'static str,
    call: impl Future<Output = Result<T>>,
) -> Result<T, types::Error> {
    run(called, call).map_err(answers::error)
}

fn refusal(message: &'static str) -> Error {
    Error::new(Kind::Unavailable, message)
}

/// What every call does first; whether it may go on.
fn begin() -> bool {
    if IS_RUNNING.replace(true) {
        if !IS_ASKING.replace(false) {
            return false;
        }
        running::trapped(usize::MAX, true);
        lock::wake_all();
    }
    BEGUN.set(BEGUN.get().wrapping_add(1));
    regex::set_advice("They are not in this component; write the characters out");
    true
}

/// Asks the host for a file or a command.
pub fn ask<T>(host: impl FnOnce() -> Result<T>) -> Result<T> {
    let begun = BEGUN.get();
    IS_ASKING.set(true);
    let answer = host();
    IS_ASKING.set(false);
    if BEGUN.get() == begun {
        return answer;
    }
    IS_RUNNING.set(true);
    Err(refusal(
        "The host called this instance while it was asked for something; let it answer first",
    ))
}

/// The stack grows down to the address 0.
#[inline(never)]
fn has_stack() -> bool {
    let here = 0u8;
    (&raw const here).addr() > STACK
}

fn polled<T>(called: &'static str, call: impl Future<Output = Result<T>>) -> Result<T> {
    let mut call = pin!(call);
    let this = Call {
        called: Some(called),
        ..Call::new()
    };
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS {
        let polled = running::within(this, || call.as_mut().poll(&mut context));
        if let Poll::Ready(answer) = polled {
            return answer;
        }
    }
    Err(Error::internal(
        "The call waits for something that never comes",
    ))
}
