//! Shared by the browser storages: mapping of browser exceptions to errors, and change notifications to
//! other tabs.

use std::rc::Rc;

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::JsValue;

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

impl Error {
    /// Whether the cause is an exception with that name.
    pub fn was_thrown(&self, name: &str) -> bool {
        let cause = self
            .cause()
            .and_then(|cause| cause.downcast_ref::<host::ForeignCause>());
        cause.is_some_and(|cause| host::name_of(&cause.0) == name)
    }
}
