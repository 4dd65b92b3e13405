//! JavaScript objects that the host lends: calling their methods, awaiting what they answer, and
//! making sense of what they throw. Whatever they do, the outcome is a value or an [`Error`] that
//! keeps the exception as its cause.

use std::rc::Rc;

use bytes::Bytes;
use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::error::{Error, Kind, Result};

/// A foreign exception, kept as the cause of an [`Error`].
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

/// What an exception says, whatever was thrown.
pub fn message_of(thrown: &JsValue) -> String {
    if let Some(text) = thrown.as_string() {
        return text;
    }
    property(thrown, "message")
        .and_then(|message| message.as_string())
        .unwrap_or_else(|| String::from("something without a message was thrown"))
}

/// An exception's `name`, such as `QuotaExceededError`; empty where it has none.
pub fn name_of(thrown: &JsValue) -> String {
    property(thrown, "name")
        .and_then(|name| name.as_string())
        .unwrap_or_default()
}

/// An exception as an error: `unavailable`, the sentence beginning with `what`.
pub fn thrown(what: &str, exception: JsValue) -> Error {
    thrown_as(Kind::Unavailable, what, exception)
}

/// An exception as an error of that kind, the sentence beginning with `what`.
pub fn thrown_as(kind: Kind, what: &str, exception: JsValue) -> Error {
    let message = format!("{what}: {}", message_of(&exception));
    Error::new(kind, message).caused_by(Rc::new(ForeignCause(exception)))
}

/// A property, where there is one; a getter that throws has none.
pub fn property(object: &JsValue, name: &str) -> Option<JsValue> {
    if !object.is_object() && !object.is_function() {
        return None;
    }
    Reflect::get(object, &JsValue::from_str(name))
        .ok()
        .filter(|value| !value.is_undefined() && !value.is_null())
}

/// A property that is a text.
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

/// A method, where there is one.
pub fn method(object: &JsValue, name: &str) -> Option<Function> {
    property(object, name)?.dyn_into().ok()
}

/// Calls a function and awaits its answer, be it a promise or not.
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

/// Calls a method of an object and awaits its answer.
pub async fn call_method(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue> {
    match method(object, name) {
        Some(function) => call(&format!("{name}() failed"), &function, object, arguments).await,
        None => Err(Error::new(
            Kind::Unsupported,
            format!("The object behind this backend has no method {name}()"),
        )),
    }
}

/// Awaits a value that may be a promise, or any thenable.
pub async fn settled(what: &str, answer: JsValue) -> Result<JsValue> {
    if method(&answer, "then").is_none() {
        return Ok(answer);
    }
    // `resolve` takes any thenable as a promise's own.
    JsFuture::from(Promise::resolve(&answer))
        .await
        .map_err(|exception| thrown(what, exception))
}

/// Bytes of a `Uint8Array`, any other view, or an `ArrayBuffer`, copied in.
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

/// A `Uint8Array` of its own for the host to keep.
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
