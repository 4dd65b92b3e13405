//! Shared by the browser storages: mapping of browser exceptions to errors, change notifications to
//! other tabs, and events as futures.

use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::JsValue;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::core::path::VPath;
use crate::env::host;

/// Converts an exception of a storage API to an error. The message begins with `what`; it ends with
/// `instead` if the API is not available.
pub fn failure(what: &str, instead: &str, exception: JsValue) -> Error {
    let (kind, advice) = match host::name_of(&exception).as_str() {
        "QuotaExceededError" => (
            Kind::QuotaExceeded,
            "The browser gives this site no more room; the old content stands. Delete files, or ask for more with persist()",
        ),
        "SecurityError" | "NotAllowedError" | "InvalidStateError" => (Kind::Unavailable, instead),
        "VersionError" => (
            Kind::Unavailable,
            "Another tab has brought the database to a newer version; reload this page",
        ),
        "AbortError" => (
            Kind::Unavailable,
            "The browser gave it up and nothing was changed; try again",
        ),
        _ => (Kind::Unavailable, "Nothing was changed; try again"),
    };
    let said = host::message_of(&exception);
    let message = format!("{what}: {}. {advice}.", said.trim_end_matches('.'));
    Error::new(kind, message).caused_by(Rc::new(host::ForeignCause(exception)))
}

/// A property of the global object; an exception of its getter is an error.
pub fn global(name: &str) -> Result<Option<JsValue>, JsValue> {
    let value = Reflect::get(&js_sys::global(), &JsValue::from_str(name))?;
    Ok((!value.is_undefined() && !value.is_null()).then_some(value))
}

/// Sends change notifications to other tabs.
pub struct Herald(Option<Function>);

impl Herald {
    /// A notifier that calls this function with the paths.
    pub fn new(tell: Option<Function>) -> Herald {
        Herald(tell)
    }

    /// These files were changed or deleted.
    pub fn changed<'a>(&self, paths: impl IntoIterator<Item = &'a VPath>) {
        let Some(tell) = &self.0 else { return };
        let list: Array = paths
            .into_iter()
            .map(|path| JsValue::from_str(path.as_str()))
            .collect();
        if list.length() > 0 {
            // A failed notification must not fail the change.
            let _ = tell.call1(&JsValue::NULL, &list);
        }
    }
}

/// A value that is set once, later.
pub struct Slot<T>(Rc<RefCell<Inner<T>>>);

struct Inner<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot(self.0.clone())
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(Rc::new(RefCell::new(Inner {
            value: None,
            waker: None,
        })))
    }
}

impl<T> Slot<T> {
    /// Sets the value and wakes the waiting task.
    pub fn fill(&self, value: T) {
        let waker = {
            let mut inner = self.0.borrow_mut();
            inner.value = Some(value);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for the value.
    pub fn wait(&self) -> impl Future<Output = T> + use<T> {
        let held = self.0.clone();
        poll_fn(move |context| {
            let mut inner = held.borrow_mut();
            match inner.value.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    inner.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

impl Error {
    /// Whether the cause is an exception with that name.
    pub fn was_thrown(&self, name: &str) -> bool {
        let cause = self
            .cause()
            .and_then(|cause| cause.downcast_ref::<host::ForeignCause>());
        cause.is_some_and(|cause| host::name_of(&cause.0) == name)
    }
}
