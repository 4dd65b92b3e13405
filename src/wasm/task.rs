//! Calls that are still running. A future is polled only from JavaScript, inside `try`/`catch`, so
//! that even a panic settles the caller's promise; the usual executor would leave it pending
//! forever. A waker requests a poll from JavaScript in a microtask. Cancelling a task drops its
//! future.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cell::{LocalCell, RefCell};
use crate::env::clock;
use crate::running::{self, Call};
use crate::time::Time;
use crate::wasm::reply::Reply;

thread_local! {
    static WAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
    static TASKS: RefCell<Tasks> = RefCell::new(Tasks::default());
}

#[derive(Default)]
struct Tasks {
    running: HashMap<u32, Task>,
}

struct Task {
    call: Call,
    /// Absent while the task is being polled.
    future: Option<Pin<Box<dyn Future<Output = Reply>>>>,
    wake: Arc<Alarm>,
}

struct Alarm {
    task: u32,
    rung: AtomicBool,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.rung.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(wake) = WAKE.with_borrow(Clone::clone) {
            let _ = wake.call1(&JsValue::NULL, &JsValue::from(self.task));
        }
    }
}

/// A new call with a time limit in milliseconds; a negative value means no limit.
pub fn call_within(limit: f64) -> Call {
    let mut call = Call::new();
    if limit >= 0.0 {
        // A float-to-integer cast saturates.
        let micros = (limit * 1000.0) as i64;
        let end = clock::now().micros().saturating_add(micros);
        call.deadline = Some(Time::from_micros(end));
    }
    call
}

/// Sets the function that requests a poll from JavaScript.
pub fn set_waker(wake: Function) {
    WAKE.with_borrow_mut(|held| *held = Some(wake));
}

/// Starts a call. Returns 0 if it has completed and the reply is published, else its task.
pub fn start(future: impl Future<Output = Reply> + 'static) -> u32 {
    start_within(-1.0, future)
}

/// The same with a time limit in milliseconds; a negative value means no limit.
pub fn start_within(limit: f64, future: impl Future<Output = Reply> + 'static) -> u32 {
    let call = call_within(limit);
    let id = call.number;
    let alarm = Arc::new(Alarm {
        task: id,
        rung: AtomicBool::new(false),
    });
    let mut future: Pin<Box<dyn Future<Output = Reply>>> = Box::pin(future);
    let waker = Waker::from(alarm.clone());
    let polled = running::within(call, || {
        future.as_mut().poll(&mut Context::from_waker(&waker))
    });
    match polled {
        Poll::Ready(reply) => {
            reply.send();
            0
        }
        Poll::Pending => {
            let task = Task {
                call,
                future: Some(future),
                wake: alarm,
            };
            TASKS.with_borrow_mut(|tasks| tasks.running.insert(id, task));
            id
        }
    }
}

/// Polls a task; `true` if it has completed and the reply is published. `false` also for a task
/// that does not exist or is already being polled.
#[wasm_bindgen]
pub fn task_poll(id: u32) -> bool {
    let taken = TASKS.with_borrow_mut(|tasks| {
        let task = tasks.running.get_mut(&id)?;
        Some((task.call, task.future.take()?, task.wake.clone()))
    });
    let Some((call, mut future, alarm)) = taken else {
        return false;
    };
    // From here on, waking requests another poll.
    alarm.rung.store(false, Ordering::Relaxed);
    let waker = Waker::from(alarm);
    let polled = running::within(call, || {
        future.as_mut().poll(&mut Context::from_waker(&waker))
    });
    match polled {
        Poll::Ready(reply) => {
            TASKS.with_borrow_mut(|tasks| tasks.running.remove(&id));
            running::within(call, || drop(future));
            reply.send();
            true
        }
        Poll::Pending => {
            TASKS.with_borrow_mut(|tasks| {
                if let Some(task) = tasks.running.get_mut(&id) {
                    task.future = Some(future);
                }
            });
            false
        }
    }
}

/// Cancels a task and drops everything it holds.
#[wasm_bindgen]
pub fn task_cancel(id: u32) {
    let gone = TASKS.with_borrow_mut(|tasks| tasks.running.remove(&id));
    if let Some(task) = gone {
        running::within(task.call, || drop(task.future));
    }
}
