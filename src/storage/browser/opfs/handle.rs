//! Calls of a `FileSystemDirectoryHandle` and of `navigator.storage`. Exceptions are returned as
//! thrown, since the callers know what a missing or mistyped entry means.

use js_sys::Function;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::core::error::{Error, Kind, Result};
use crate::env::{dom, host};

/// What a host function threw.
pub type Thrown = JsValue;

/// The suggestion in errors if OPFS is not available.
pub const INSTEAD: &str = "Use IndexedDbBackend where the browser gives no origin-private file system (private windows, blocked site data, insecure origins)";

/// Calls a method and awaits its result.
pub async fn call(
    object: &JsValue,
    name: &str,
    arguments: &[JsValue],
) -> std::result::Result<JsValue, Thrown> {
    let method: Function = js_sys::Reflect::get(object, &JsValue::from_str(name))?
        .dyn_into()
        .map_err(|_| js_sys::Error::new(&format!("there is no {name}()")))?;
    let list: js_sys::Array = arguments.iter().collect();
    let answer = method.apply(object, &list)?;
    match answer.dyn_into::<js_sys::Promise>() {
        Ok(promise) => JsFuture::from(promise).await,
        Err(answer) => Ok(answer),
    }
}

/// Whether this is an exception of that name.
pub fn is(thrown: &Thrown, name: &str) -> bool {
    host::name_of(thrown) == name
}

/// Arguments that open an entry of that name and create it if it does not exist.
pub fn create(name: &str) -> [JsValue; 2] {
    [
        JsValue::from_str(name),
        host::object(&[("create", JsValue::TRUE)]),
    ]
}

fn unavailable(api: &str) -> Error {
    Error::new(
        Kind::Unavailable,
        format!("There is no {api} here. {INSTEAD}."),
    )
}

/// The root of the origin-private file system.
pub async fn origin() -> Result<JsValue> {
    let navigator = dom::global("navigator").ok().flatten();
    let storage = navigator.and_then(|navigator| host::property(&navigator, "storage"));
    let storage = storage.ok_or_else(|| unavailable("navigator.storage"))?;
    if host::method(&storage, "getDirectory").is_none() {
        return Err(unavailable(
            "origin-private file system (navigator.storage.getDirectory)",
        ));
    }
    call(&storage, "getDirectory", &[]).await.map_err(|thrown| {
        dom::failure(
            "The origin-private file system could not be opened",
            INSTEAD,
            thrown,
        )
    })
}
