//! Calls that are still running. A future is polled only from JavaScript, inside `try`/`catch`, so
//! that even a panic settles the caller's promise; the usual executor would leave it pending
//! forever. A waker requests a poll from JavaScript in a microtask. Cancelling a task drops its
//! future.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::running::{self, Call};
use crate::core::sorted::Sorted;
use crate::core::time::Time;
use crate::env::clock;
use crate::wasm::reply::{Reply, reply_ptr};

/// What became of a call that was begun, in one number for JavaScript: the number of its task, or,
/// below zero, where its answer is.
pub type Begun = f64;

thread_local! {
    static WAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
    static TASKS: RefCell<Tasks> = RefCell::new(Tasks::default());
}

#[derive(Default)]
struct Tasks {
    running: Sorted<u32, Task>,
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

/// Starts a call, which may be answered at once.
pub fn start(future: impl Future<Output = Reply> + 'static) -> Begun {
    start_within(-1.0, future)
}

/// The same for a call that must be answered within so many milliseconds; below zero there is no
/// limit.
pub fn start_within(limit: f64, future: impl Future<Output = Reply> + 'static) -> Begun {
    start_as(None, limit, future)
}

/// The same for a call of a tool or a method.
pub fn start_as(
    called: Option<&'static str>,
    limit: f64,
    future: impl Future<Output = Reply> + 'static,
) -> Begun {
    let mut call = call_within(limit);
    call.waits = true;
    call.called = called;
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
            -(reply_ptr().addr() as f64)
        }
        Poll::Pending => {
            let task = Task {
                call,
                future: Some(future),
                wake: alarm,
            };
            TASKS.with_borrow_mut(|tasks| tasks.running.insert(id, task));
            f64::from(id)
        }
    }
}

/// Polls a task; where its answer is, or zero if it has none yet. A task that is gone, or already
/// being polled, has none.
#[wasm_bindgen]
pub fn task_poll(id: u32) -> *const u8 {
    let taken = TASKS.with_borrow_mut(|tasks| {
        let task = tasks.running.get_mut(&id)?;
        Some((task.call, task.future.take()?, task.wake.clone()))
    });
    let Some((call, mut future, alarm)) = taken else {
        return std::ptr::null();
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
            reply_ptr()
        }
        Poll::Pending => {
            TASKS.with_borrow_mut(|tasks| {
                if let Some(task) = tasks.running.get_mut(&id) {
                    task.future = Some(future);
                }
            });
            std::ptr::null()
        }
    }
}

/// How many tasks are held.
#[cfg(feature = "testing")]
pub fn count() -> u32 {
    TASKS.with_borrow(|tasks| u32::try_from(tasks.running.len()).unwrap_or(u32::MAX))
}

/// Cancels a task and drops everything it holds.
#[wasm_bindgen]
pub fn task_cancel(id: u32) {
    let gone = TASKS.with_borrow_mut(|tasks| tasks.running.remove(&id));
    if let Some(task) = gone {
        running::within(task.call, || drop(task.future));
    }
}
