//! Runs calls. Nothing here waits for anything outside: the imports answer at once, so a call is polled
//! until it is ready. A call that a trap ended, such as an exception of a host in JavaScript, leaves its
//! mark; the next one frees what it had borrowed and locked.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::lock;
use kitbag::core::running::{self, Call};
use kitbag::search::regex;

/// A call that is not ready after so many polls waits for something that never comes.
const POLLS: u32 = 1_000_000;
/// Bytes of the stack that a call must find: a host that throws leaves its part of the stack behind.
const STACK: usize = 256 << 10;

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call of the method or tool `called`.
pub fn run<T>(called: &'static str, call: impl Future<Output = Result<T>>) -> Result<T> {
    begin();
    let answer = match has_stack() {
        true => polled(called, call),
        false => Err(Error::new(
            Kind::Unavailable,
            "The stack is used up, because the host has ended calls of this instance; make a new one",
        )),
    };
    IS_RUNNING.set(false);
    answer
}

/// What every call does first.
fn begin() {
    if IS_RUNNING.replace(true) {
        running::trapped(usize::MAX, true);
        lock::wake_all();
    }
    regex::set_advice("They are not in this component; write the characters out");
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
