//! `FileData` in a store, in every format that packages have written: one string, an array of
//! lines, base64 with a marker, bytes, and bytes that were serialised as JSON. It is written in the
//! newer JavaScript format; bytes become base64 unless the store supports bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Format, Mime};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::host;
use crate::storage::{File, Meta, NewFile};

/// Decodes an item.
pub fn decode(path: &VPath, item: &JsValue) -> Result<File> {
    let value = host::property(item, "value").unwrap_or(JsValue::UNDEFINED);
    let Some((content, format)) = content_of(&value) else {
        return Err(Error::at(
            Kind::Unavailable,
            "The store's item at '",
            path,
            "' holds no FileData that can be understood",
        ));
    };
    let given = host::text_property(&value, "mimeType")
        .filter(|mime| !mime.is_empty())
        .map(|mime| Mime::given(&mime));
    let body = match content {
        Content::Bytes(body) => body,
        Content::Text(text) => file::decode_stored(path, given.as_ref(), text),
    };
    let (mime, texture) = file::classify(path, &body, given.as_ref());
    let format = match texture.is_text() {
        true => format,
        false => Format::V2,
    };
    let time = |name: &str| Time::parse(&host::text_property(&value, name)?);
    let modified = time("modified_at").or_else(|| time("created_at"));
    Ok(File {
        meta: Meta {
            size: body.len() as u64,
            created: time("created_at"),
            modified: modified.unwrap_or_default(),
            mime: Some(mime),
            format,
            texture: Some(texture),
            mode: None,
            version: None,
        },
        body,
    })
}

/// The content of an item.
enum Content {
    /// As it is said to be.
    Bytes(Bytes),
    /// A text without a word about its encoding: base64 if the file is binary.
    Text(Bytes),
}

fn content_of(value: &JsValue) -> Option<(Content, Format)> {
    let content = host::property(value, "content")?;
    if let Some(text) = content.as_string() {
        return match host::text_property(value, "encoding").as_deref() {
            Some("base64") => {
                let encoded: Vec<u8> = text
                    .bytes()
                    .filter(|byte| !byte.is_ascii_whitespace())
                    .collect();
                let bytes = STANDARD.decode(encoded).ok()?;
                Some((Content::Bytes(Bytes::from(bytes)), Format::V2))
            }
            None | Some("") => Some((Content::Text(Bytes::from(text)), Format::V2)),
            Some("utf-8") => Some((Content::Bytes(Bytes::from(text)), Format::V2)),
            Some(_) => None,
        };
    }
    if let Some(bytes) = host::bytes_of(&content) {
        return Some((Content::Bytes(bytes), Format::V2));
    }
    if let Some(lines) = content.dyn_ref::<Array>() {
        let lines: Option<Vec<String>> = lines.iter().map(|line| line.as_string()).collect();
        return Some((Content::Text(Bytes::from(lines?.join("\n"))), Format::V1));
    }
    jsoned(&content).map(|bytes| (Content::Bytes(bytes), Format::V2))
}

/// Bytes that were serialised as JSON: `{"0":1,"1":2}` was a `Uint8Array`, `{type, data}` a
/// `Buffer`.
fn jsoned(content: &JsValue) -> Option<Bytes> {
    let byte = |item: JsValue| {
        let number = item.as_f64()?;
        let sound = (0.0..=255.0).contains(&number) && number.fract() == 0.0;
        sound.then_some(number as u8)
    };
    if host::text_property(content, "type").as_deref() == Some("Buffer") {
        let data = host::property(content, "data")?.dyn_into::<Array>().ok()?;
        return data.iter().map(byte).collect();
    }
    let object = content.dyn_ref::<Object>()?;
    let count = Object::keys(object).length();
    (0..count)
        .map(|at| byte(Reflect::get_u32(content, at).ok()?))
        .collect()
}

/// Encodes a file as the value of an item.
pub fn encode(file: &NewFile, raw_bytes: bool) -> JsValue {
    let time = |time: Time| JsValue::from_str(&time.to_string());
    let mut properties = Vec::with_capacity(5);
    // Bytes that are not valid UTF-8 are stored as bytes, whatever their type says.
    let text = std::str::from_utf8(&file.body)
        .ok()
        .filter(|_| file.texture.is_text());
    match text {
        Some(text) if file.format == Format::V1 => {
            let lines: Array = text.split('\n').map(JsValue::from_str).collect();
            properties.push(("content", lines.into()));
        }
        Some(text) => properties.push(("content", JsValue::from_str(text))),
        None if raw_bytes => properties.push(("content", host::array_of(&file.body).into())),
        None => {
            let encoded = STANDARD.encode(&file.body);
            properties.push(("content", JsValue::from_str(&encoded)));
            properties.push(("encoding", JsValue::from_str("base64")));
        }
    }
    if text.is_none() || file.format == Format::V2 {
        properties.push(("mimeType", JsValue::from_str(file.mime.as_str())));
    }
    properties.push(("created_at", time(file.created)));
    properties.push(("modified_at", time(file.modified)));
    host::object(&properties)
}
