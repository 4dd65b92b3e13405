//! Web Locks: whoever holds a name is alone with it among all tabs and workers of the origin.
//! The browser takes a lock back from a tab that dies, and this takes it back from a call that
//! is given up. Nobody waits for one for ever.

use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Function, Promise};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use crate::env::dom::{self, Slot};
use crate::env::{host, timer};
use crate::error::{Error, Kind, Result};

/// How long a change waits for another tab's to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a lock is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Wait for it.
    Wait,
    /// Only if nobody has it now.
    IfFree,
    /// Wait for it, and hold it together with all who wish the same.
    Together,
}

/// A lock that is held until this is dropped.
pub struct Held {
    release: Option<Function>,
    asked: AbortController,
    _granted: Closure<dyn FnMut(JsValue) -> JsValue>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Still in line: step out of it. Aborting one that was granted changes nothing.
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

/// Whether there are Web Locks here.
pub fn available() -> bool {
    manager().is_some()
}

/// Takes the lock of that name. `None` where somebody else has it and no wait was wished for,
/// and where there are no Web Locks at all.
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
        Wish::Together => {
            host::object(&[("signal", asked.signal().into()), ("mode", "shared".into())])
        }
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
    // From here on the lock is given back whatever happens.
    let held = Held {
        release,
        asked,
        _granted: granted,
    };
    // Holding this future also means that no rejection goes unhandled.
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
