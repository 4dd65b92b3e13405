//! Web Locks: exclusive locks across all tabs and workers of the origin. The browser
//! releases the locks of a tab that dies, and this module releases the locks of a cancelled call.
//! Waiting has a timeout.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Function, Promise};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use crate::core::error::{Error, Kind, Result};
use crate::core::slot::Slot;
use crate::env::dom;
use crate::env::{host, timer};

/// How long to wait for a lock that another tab holds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How to take a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Exclusive; wait for it.
    Wait,
    /// Exclusive; only if it is free now.
    IfFree,
}

/// A lock that is released when this is dropped.
pub struct Held {
    release: Option<Function>,
    asked: AbortController,
    _granted: Closure<dyn FnMut(JsValue) -> JsValue>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Leaves the queue if the lock is not granted yet. Has no effect on a granted lock.
        self.asked.abort();
        if let Some(release) = self.release.take() {
            let _ = release.call0(&JsValue::NULL);
        }
    }
}

fn manager() -> Option<JsValue> {
    let navigator = dom::global("navigator").ok().flatten()?;
    host::property(&navigator, "locks")
}

/// Whether the host supports Web Locks.
pub fn available() -> bool {
    manager().is_some()
}

/// Takes the lock of that name. `None` if it is taken and `wish` is not to wait, and if the host
/// has no Web Locks.
pub async fn take(name: &str, wish: Wish) -> Result<Option<Held>> {
    let Some(manager) = manager() else {
        return Ok(None);
    };
    let failed = |thrown| {
        dom::failure(
            "Web Locks (navigator.locks) failed",
            "Use a page of a secure origin",
            thrown,
        )
    };
    let asked = AbortController::new().map_err(failed)?;
    let mut release = None;
    let until = Promise::new(&mut |resolve, _| release = Some(resolve));
    let answer: Slot<bool> = Slot::default();
    let granted = {
        let answer = answer.clone();
        Closure::<dyn FnMut(JsValue) -> JsValue>::new(move |lock: JsValue| {
            answer.fill(!lock.is_null());
            if lock.is_null() {
                JsValue::NULL
            } else {
                until.clone().into()
            }
        })
    };
    let options = match wish {
        Wish::Wait => host::object(&[("signal", asked.signal().into())]),
        Wish::IfFree => host::object(&[("ifAvailable", JsValue::TRUE)]),
    };
    let request = host::method(&manager, "request")
        .ok_or_else(|| Error::internal("navigator.locks has no request()"))?;
    let ended = request
        .call3(
            &manager,
            &JsValue::from_str(name),
            &options,
            granted.as_ref(),
        )
        .map_err(failed)?;
    // From here on the lock is released in every case.
    let held = Held {
        release,
        asked,
        _granted: granted,
    };
    // Polling this future also prevents an unhandled rejection.
    let ended = JsFuture::from(ended.unchecked_into::<Promise>());
    let outcome = select(
        Box::pin(answer.wait()),
        select(ended, timer::sleep(PATIENCE)),
    );
    match outcome.await {
        Either::Left((true, _)) => Ok(Some(held)),
        Either::Left((false, _)) => Ok(None),
        Either::Right((Either::Left((ended, _)), _)) => Err(match ended {
            Err(thrown) => failed(thrown),
            Ok(_) => Error::internal("A lock ended before it was held"),
        }),
        Either::Right((Either::Right(_), _)) => Err(Error::new(
            Kind::Timeout,
            format!(
                "Another tab has been changing the same file for {} seconds; close it or try again",
                PATIENCE.as_secs()
            ),
        )),
    }
}
