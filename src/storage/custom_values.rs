//! Conversion of the values that pass between a storage written in JavaScript and the core: files,
//! metadata, versions, conditions, capabilities and thrown errors. Every incoming value is
//! validated; a value of the wrong type becomes an error that names it.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::core::error::{Error, Kind, Result};
use crate::core::file::{Format, Mime, Mode};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::host;
use crate::protocol::Names;
use crate::storage::{Entry, File, Meta, NewFile, PutMode, Version};

fn time_of(object: &JsValue, name: &str) -> Option<Time> {
    let value = host::property(object, name)?;
    if let Some(text) = value.as_string() {
        return Time::parse(&text);
    }
    let millis = value.as_f64().or_else(|| {
        host::method(&value, "getTime")?
            .call0(&value)
            .ok()?
            .as_f64()
    })?;
    millis.is_finite().then(|| Time::from_millis(millis))
}

fn whole(number: f64) -> Option<u64> {
    // Every integer up to 2^53 is exact in a double.
    (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0)
        .then_some(number as u64)
}

fn version_value_of(value: &JsValue) -> Option<Version> {
    if let Some(text) = value.as_string() {
        return Some(Version::Tag(Rc::from(text)));
    }
    let number = value.as_f64()?;
    // The host writes a fraction; code for that would be a fiftieth of the module.
    let text = || String::from(js_sys::Number::from(number).to_js_string());
    Some(whole(number).map_or_else(|| Version::Tag(Rc::from(text())), Version::Number))
}

/// The `version` property of an object, if it has one.
pub fn version_of(object: &JsValue) -> Option<Version> {
    version_value_of(&host::property(object, "version")?)
}

/// A version in the form in which the object returned it.
pub fn version_value(version: &Version) -> JsValue {
    match version {
        Version::Number(number) => JsValue::from_f64(*number as f64),
        Version::Tag(tag) => JsValue::from_str(tag),
    }
}

/// The metadata of a file; `size` is given if the body is known.
pub fn meta_of(object: &JsValue, size: Option<usize>) -> Result<Meta> {
    if !object.is_object() {
        return Err(Error::new(
            Kind::Unavailable,
            "The storage must answer an object that tells of the file, or null where there is none",
        ));
    }
    let told = host::number_property(object, "size").and_then(whole);
    let created = time_of(object, "created");
    Ok(Meta {
        size: size.map_or(told.unwrap_or(Meta::UNKNOWN_SIZE), |size| size as u64),
        created,
        modified: time_of(object, "modified")
            .or(created)
            .unwrap_or_else(|| Time::from_micros(0)),
        mime: host::text_property(object, "mimeType")
            .filter(|text| !text.is_empty())
            .map(|text| Mime::given(&text)),
        format: match host::text_property(object, "format").as_deref() {
            Some("v1") => Format::V1,
            _ => Format::V2,
        },
        texture: None,
        mode: host::number_property(object, "mode")
            .and_then(whole)
            .map(|bits| Mode::of(bits as u32)),
        version: version_of(object),
    })
}

/// A file with its content; a string is encoded as UTF-8.
pub fn file_of(object: &JsValue) -> Result<File> {
    let content = host::property(object, "content");
    let body = content.and_then(|content| match content.as_string() {
        Some(text) => Some(text.into_bytes().into()),
        None => host::bytes_of(&content),
    });
    let Some(body) = body else {
        return Err(Error::new(
            Kind::Unavailable,
            "The storage's get() must answer { content } with bytes or text, or null where there is no file",
        ));
    };
    Ok(File {
        meta: meta_of(object, Some(body.len()))?,
        body,
    })
}

/// An entry of a listing: an object with a path, or only the path.
pub fn entry_of(row: &JsValue) -> Result<Option<Entry>> {
    if let Some(path) = row.as_string() {
        return Ok(VPath::from_stored(&path).map(|path| Entry {
            path,
            meta: unknown_meta(),
        }));
    }
    let Some(path) = host::text_property(row, "path") else {
        return Err(Error::new(
            Kind::Unavailable,
            "The storage's list() must answer entries with a path",
        ));
    };
    let meta = meta_of(row, None)?;
    Ok(VPath::from_stored(&path).map(|path| Entry { path, meta }))
}

/// A new file in the form that the object's `put` receives.
pub fn file_value(file: &NewFile) -> JsValue {
    let mode = file
        .mode
        .map_or(JsValue::UNDEFINED, |mode| mode.bits().into());
    host::object(&[
        ("content", host::array_of(&file.body).into()),
        ("size", JsValue::from_f64(file.body.len() as f64)),
        ("created", JsValue::from_str(&file.created.to_string())),
        ("modified", JsValue::from_str(&file.modified.to_string())),
        ("mimeType", JsValue::from_str(file.mime.as_str())),
        ("mode", mode),
        (
            "format",
            JsValue::from_str(match file.format {
                Format::V1 => "v1",
                Format::V2 => "v2",
            }),
        ),
    ])
}

/// The condition of a put or delete in the form that the object receives.
pub fn condition(mode: &PutMode) -> JsValue {
    match mode {
        PutMode::Create => host::object(&[("mode", JsValue::from_str("create"))]),
        PutMode::Overwrite => host::object(&[("mode", JsValue::from_str("overwrite"))]),
        PutMode::Update(version) => host::object(&[
            ("mode", JsValue::from_str("update")),
            ("version", version_value(version)),
        ]),
    }
}

/// Which names an object says that it folds.
pub fn names_of(object: &JsValue, property: &str) -> Names {
    host::text_property(object, property)
        .and_then(|text| Names::of(&text))
        .unwrap_or_default()
}

/// How an error of `ts/disk` begins that does not name its path.
const THIS_PATH: &str = "This path";
/// The property of such an error with the place where the links of its path lead.
const LEADS_TO: &str = "leadsTo";

/// Converts a failed call to an error of the matching kind: a kitbag error by its `code`, a file
/// system error by its code (`EACCES`), a browser error by its name.
pub fn refusal(error: Error, path: Option<&VPath>) -> Error {
    let cause = error.cause().cloned();
    let Some(thrown) = cause
        .as_ref()
        .and_then(|cause| cause.downcast_ref::<host::ForeignCause>())
    else {
        return error;
    };
    let code = host::text_property(&thrown.0, "code").unwrap_or_default();
    if let Some(kind) = Kind::from_code(&code) {
        let message = host::message_of(&thrown.0);
        return match (kind, path) {
            (Kind::AlreadyExists, Some(path)) => Error::already_exists(path),
            (Kind::Conflict, Some(path)) => Error::conflict(path),
            // The host leaves it to this side to name the path, as callers see it.
            (kind, Some(path)) if message.starts_with(THIS_PATH) => {
                let rest = &message[THIS_PATH.len()..];
                let said = Error::at(kind, "'", path, format!("'{rest}"));
                let target = host::text_property(&thrown.0, LEADS_TO);
                let said = match target.and_then(|target| VPath::from_stored(&target)) {
                    Some(target) => said.leading_to(target),
                    None => said,
                };
                keep(said, cause)
            }
            _ => keep(Error::new(kind, message), cause),
        };
    }
    let kind = match code.as_str() {
        "ENOENT" => Kind::NotFound,
        "EEXIST" => Kind::AlreadyExists,
        "EACCES" | "EPERM" | "EROFS" | "ELOOP" | "NotCapable" => Kind::PermissionDenied,
        "EISDIR" => Kind::IsDirectory,
        "ENOTDIR" | "ENAMETOOLONG" | "EINVAL" => Kind::InvalidPath,
        "ENOSPC" | "EDQUOT" => Kind::QuotaExceeded,
        "EFBIG" | "ERR_FS_FILE_TOO_LARGE" => Kind::TooLarge,
        "ETIMEDOUT" => Kind::Timeout,
        _ if host::name_of(&thrown.0) == "QuotaExceededError" => Kind::QuotaExceeded,
        _ => return error,
    };
    // The host's message may contain host paths, so only its code is shown.
    let said = match path {
        Some(path) => Error::at(kind, "'", path, format!("': the host answered {code}")),
        None => Error::new(kind, format!("The host answered {code}")),
    };
    keep(said, cause)
}

fn keep(error: Error, cause: Option<Rc<dyn std::error::Error>>) -> Error {
    match cause {
        Some(cause) => error.caused_by(cause),
        None => error,
    }
}

/// A placeholder for metadata that is not known yet.
pub fn unknown_meta() -> Meta {
    Meta::of(Meta::UNKNOWN_SIZE, Time::from_micros(0))
}
