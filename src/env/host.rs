//! JavaScript objects provided by the host: calls their methods, awaits the results, and interprets
//! their exceptions. The outcome is always a value or an [`Error`] that keeps the exception as its
//! cause.

use std::rc::Rc;

use bytes::Bytes;
use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::core::error::{Error, Kind, Result};
use crate::core::unsettled;

/// A JavaScript exception, kept as the cause of an [`Error`].
pub struct ForeignCause(pub JsValue);

impl std::fmt::Debug for ForeignCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a foreign exception")
    }
}

impl std::fmt::Display for ForeignCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&message_of(&self.0))
    }
}

impl std::error::Error for ForeignCause {}

/// The message of an exception; any value may be thrown.
pub fn message_of(thrown: &JsValue) -> String {
    if let Some(text) = thrown.as_string() {
        return text;
    }
    property(thrown, "message")
        .and_then(|message| message.as_string())
        .unwrap_or_else(|| String::from("something without a message was thrown"))
}

/// An exception's `name`, such as `QuotaExceededError`; empty if it has none.
pub fn name_of(thrown: &JsValue) -> String {
    property(thrown, "name")
        .and_then(|name| name.as_string())
        .unwrap_or_default()
}

/// An exception as an `unavailable` error; the message begins with `what`.
pub fn thrown(what: &str, exception: JsValue) -> Error {
    thrown_as(Kind::Unavailable, what, exception)
}

/// An exception as an error of that kind; the message begins with `what`.
pub fn thrown_as(kind: Kind, what: &str, exception: JsValue) -> Error {
    let message = format!("{what}: {}", message_of(&exception));
    Error::new(kind, message).caused_by(Rc::new(ForeignCause(exception)))
}

/// A property, if it exists; a getter that throws counts as absent.
pub fn property(object: &JsValue, name: &str) -> Option<JsValue> {
    property_named(object, &JsValue::from_str(name))
}

/// Property names as JavaScript has them, for what is looked up in many objects.
pub fn names<const N: usize>(names: [&str; N]) -> [JsValue; N] {
    names.map(JsValue::from_str)
}

/// A property of an object by such a name.
pub fn property_named(object: &JsValue, name: &JsValue) -> Option<JsValue> {
    if !object.is_object() && !object.is_function() {
        return None;
    }
    Reflect::get(object, name)
        .ok()
        .filter(|value| !value.is_undefined() && !value.is_null())
}

/// A string property.
pub fn text_property(object: &JsValue, name: &str) -> Option<String> {
    property(object, name)?.as_string()
}

/// The texts in a property that is an array; none where it is no array.
pub fn texts_property(object: &JsValue, name: &str) -> Vec<String> {
    property(object, name)
        .and_then(|value| value.dyn_into::<Array>().ok())
        .map(|array| array.iter().filter_map(|text| text.as_string()).collect())
        .unwrap_or_default()
}

/// A property that is a number.
pub fn number_property(object: &JsValue, name: &str) -> Option<f64> {
    property(object, name)?.as_f64()
}

/// A method, if it exists.
pub fn method(object: &JsValue, name: &str) -> Option<Function> {
    property(object, name)?.dyn_into().ok()
}

/// Calls a function and awaits its result, whether or not it is a promise.
pub async fn call(
    what: &str,
    function: &Function,
    this: &JsValue,
    arguments: &[JsValue],
) -> Result<JsValue> {
    let list = Array::new();
    for argument in arguments {
        list.push(argument);
    }
    let answer = function
        .apply(this, &list)
        .map_err(|exception| thrown(what, exception))?;
    settled(what, answer).await
}

/// Calls a method of an object and awaits its result.
pub async fn call_method(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue> {
    match method(object, name) {
        Some(function) => call(&format!("{name}() failed"), &function, object, arguments).await,
        None => Err(Error::new(
            Kind::Unsupported,
            format!("The object behind this backend has no method {name}()"),
        )),
    }
}

/// Awaits a value that may be a promise or any thenable.
pub async fn settled(what: &str, answer: JsValue) -> Result<JsValue> {
    if method(&answer, "then").is_none() {
        return Ok(answer);
    }
    // `resolve` converts any thenable to a native promise.
    let promise = Promise::resolve(&answer);
    let awaited = Awaited(Some(promise.clone()));
    let outcome = JsFuture::from(promise).await;
    awaited.settled();
    outcome.map_err(|exception| thrown(what, exception))
}

/// A promise that a call waits for, if its work must be recorded. If the call is given up before,
/// the work is unsettled until the promise settles.
pub struct Awaited(pub Option<Promise>);

impl Awaited {
    /// The promise has settled.
    pub fn settled(mut self) {
        self.0 = None;
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(promise) = self.0.take() {
            left_behind(&promise);
        }
    }
}

/// Records a promise as unsettled work. A function of its own, since every call of the host ends
/// with this.
#[inline(never)]
fn left_behind(promise: &Promise) {
    let piece = unsettled::leave();
    let settle = Closure::once_into_js(move || piece.settle());
    // A native promise; `then` with two functions cannot fail.
    if let Some(then) = method(promise, "then") {
        let _ = then.call2(promise, &settle, &settle);
    }
}

/// The bytes of a `Uint8Array`, any other view, or an `ArrayBuffer`, copied into wasm memory.
pub fn bytes_of(value: &JsValue) -> Option<Bytes> {
    let array = if let Some(array) = value.dyn_ref::<Uint8Array>() {
        array.clone()
    } else if let Some(buffer) = value.dyn_ref::<js_sys::ArrayBuffer>() {
        Uint8Array::new(buffer)
    } else if js_sys::ArrayBuffer::is_view(value) {
        let buffer = property(value, "buffer")?;
        let offset = number_property(value, "byteOffset")?;
        let length = number_property(value, "byteLength")?;
        Uint8Array::new_with_byte_offset_and_length(&buffer, offset as u32, length as u32)
    } else {
        return None;
    };
    Some(Bytes::from(array.to_vec()))
}

/// A copy as a `Uint8Array`, which the host may keep.
pub fn array_of(bytes: &[u8]) -> Uint8Array {
    Uint8Array::from(bytes)
}

/// A plain object with these properties.
pub fn object(properties: &[(&str, JsValue)]) -> JsValue {
    let object = js_sys::Object::new();
    for (name, value) in properties {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
}
