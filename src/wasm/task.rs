//! Calls that are still running. A future is polled only from JavaScript, inside `try`/`catch`,
//! so that even a panic settles the caller's promise; the usual executor would leave it pending
//! for ever. Waking asks JavaScript for a poll in a microtask. Giving a task up drops its future,
//! which is how a call is cancelled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

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
    last: u32,
    running: HashMap<u32, Task>,
}

struct Task {
    /// Absent while it is being polled.
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

/// Says how JavaScript is asked for a poll.
pub fn set_waker(wake: Function) {
    WAKE.set(Some(wake));
}

/// Starts a call, which may be answered at once.
pub fn start(future: impl Future<Output = Reply> + 'static) -> Begun {
    let id = TASKS.with_borrow_mut(|tasks| {
        tasks.last = tasks.last.checked_add(1).unwrap_or(1);
        tasks.last
    });
    let alarm = Arc::new(Alarm {
        task: id,
        rung: AtomicBool::new(false),
    });
    let mut future: Pin<Box<dyn Future<Output = Reply>>> = Box::pin(future);
    let waker = Waker::from(alarm.clone());
    match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(reply) => {
            reply.send();
            -(reply_ptr().addr() as f64)
        }
        Poll::Pending => {
            let task = Task {
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
        Some((task.future.take()?, task.wake.clone()))
    });
    let Some((mut future, alarm)) = taken else {
        return std::ptr::null();
    };
    // From here on, waking asks for another poll.
    alarm.rung.store(false, Ordering::Relaxed);
    let waker = Waker::from(alarm);
    match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(reply) => {
            TASKS.with_borrow_mut(|tasks| tasks.running.remove(&id));
            drop(future);
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

/// Gives a task up; what it was waiting for is let go.
#[wasm_bindgen]
pub fn task_cancel(id: u32) {
    let gone = TASKS.with_borrow_mut(|tasks| tasks.running.remove(&id));
    drop(gone);
}
