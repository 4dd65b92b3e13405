//! Parses the results of a foreign backend. A field that is missing or has the wrong type is
//! ignored or becomes an error, and an invalid path is never accepted.

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, RESOLVES, Result};
use crate::core::file::{self, Format, Mime};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::host::{self, number_property, property, property_named, text_property};
use crate::protocol::{
    Capability, Directories, EntryInfo, FileInfo, FileSet, FilesUpdate, GrepResult, Listings,
    Matches, Names, Position, RawFile, Reach, ReadResult, RowKind,
};

/// Bytes as base64 text, for a path with a binary type.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Whether a property is `true`.
pub fn flag(object: &JsValue, name: &str) -> bool {
    property(object, name).and_then(|value| value.as_bool()) == Some(true)
}

/// A property as a count; zero if it is not a number.
pub fn count(object: &JsValue, name: &str) -> usize {
    // A float-to-integer cast saturates, and NaN becomes 0.
    number_property(object, name).unwrap_or(0.0) as usize
}

/// The refusal in an answer, if it is one. The path asked for is taken out of its sentence, so
/// that a router can put another in its place.
pub fn refusal(answer: &JsValue, path: Option<&VPath>) -> Option<Error> {
    let sentence = match (answer.as_string(), property(answer, "error")) {
        (Some(text), _) => text,
        (None, Some(error)) => error
            .as_string()
            .unwrap_or_else(|| host::message_of(&error)),
        (None, None) => return None,
    };
    let kind = text_property(answer, "code")
        .and_then(|code| Kind::from_code(&code))
        .unwrap_or_else(|| kind_of(&sentence));
    // Where a link leads there has another name here, and other rules.
    let said = sentence.split_once(RESOLVES);
    let said = said.filter(|(_, place)| place.ends_with(')'));
    let sentence = said.map_or(&*sentence, |(before, _)| before);
    let mut error = Error::naming(kind, sentence, path);
    if let Some(millis) = number_property(answer, "retryAfterMs").filter(|millis| *millis >= 0.0) {
        error = error.retry_after(std::time::Duration::from_secs_f64(
            millis.min(1e12) / 1000.0,
        ));
    }
    if let Some(cause) = property(answer, "cause") {
        error = error.caused_by(Rc::new(host::ForeignCause(cause)));
    }
    Some(error)
}

/// Guesses the error kind of a message without a code, from the wording of the protocol's packages.
fn kind_of(sentence: &str) -> Kind {
    let text = sentence.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["string not found", "not found in file"]) {
        Kind::NoMatch
    } else if says(&["not found", "no such file", "does not exist"]) {
        Kind::NotFound
    } else if says(&["already exists"]) {
        Kind::AlreadyExists
    } else if says(&["has multiple occurrences", "appears", "occurrences"]) {
        Kind::AmbiguousEdit
    } else if says(&["permission", "denied", "read-only"]) {
        Kind::PermissionDenied
    } else if says(&["invalid regex", "invalid glob"]) {
        Kind::InvalidPattern
    } else if says(&["is a directory", "is_directory"]) {
        Kind::IsDirectory
    } else if says(&["invalid path", "invalid_path", "path must", "traversal"]) {
        Kind::InvalidPath
    } else if says(&["not supported", "not implemented"]) {
        Kind::Unsupported
    } else {
        Kind::Unavailable
    }
}

fn list(answer: &JsValue, name: &str) -> Result<Array> {
    property(answer, name)
        .and_then(|value| value.dyn_into::<Array>().ok())
        .ok_or_else(|| {
            Error::new(
                Kind::Unavailable,
                format!("A foreign backend answered without '{name}', which must be an array"),
            )
        })
}

/// The files of a listing or search in `asked`.
pub fn infos(answer: &JsValue, asked: &VPath) -> Result<Vec<FileInfo>> {
    let files = list(answer, "files")?;
    let mut infos = Vec::with_capacity(files.length() as usize);
    let [of_path, of_kind, of_size, of_time] =
        host::names(["path", "is_dir", "size", "modified_at"]);
    for one in files.iter() {
        let Some(text) = property_named(&one, &of_path).and_then(|value| value.as_string()) else {
            continue;
        };
        let Ok(path) = VPath::any(&text) else {
            continue;
        };
        if path.is_root() || !path.is_shown_at(asked) {
            continue;
        }
        let is_dir = property_named(&one, &of_kind).and_then(|value| value.as_bool());
        let entry = if is_dir == Some(true) || text.ends_with('/') {
            EntryInfo::Directory
        } else {
            EntryInfo::File {
                // A negative size, or one that is no number, tells nothing.
                size: property_named(&one, &of_size)
                    .and_then(|value| value.as_f64())
                    .filter(|size| size.is_finite() && *size >= 0.0)
                    .map(|size| size as u64),
                modified: property_named(&one, &of_time).and_then(|value| time(&value)),
            }
        };
        infos.push(FileInfo { path, entry });
    }
    Ok(infos)
}

fn time(value: &JsValue) -> Option<Time> {
    match value.as_string() {
        Some(text) => Time::parse(&text),
        None => value.as_f64().map(Time::from_millis),
    }
}

/// A page of text, or a binary file.
pub fn page(path: &VPath, answer: &JsValue) -> Result<ReadResult> {
    let content = property(answer, "content").ok_or_else(|| {
        Error::at(
            Kind::Unavailable,
            "A foreign backend read '",
            path,
            "' and answered neither 'content' nor 'error'",
        )
    })?;
    let is_text = content.is_string();
    let body = match content.as_string() {
        Some(text) => Bytes::from(text),
        None => host::bytes_of(&content).ok_or_else(|| {
            Error::new(
                Kind::Unavailable,
                "A foreign backend read something that is neither a string nor bytes",
            )
        })?,
    };
    // The total may be missing: S3 does not read a large object to its end only to count lines.
    let total = number_property(answer, "totalLines");
    let position = total
        .or(number_property(answer, "startLine"))
        .map(|_| Position {
            total_lines: total.map(|_| count(answer, "totalLines")),
            start_line: count(answer, "startLine"),
            end_line: count(answer, "endLine"),
            next_offset: number_property(answer, "nextOffset").map(|offset| offset as usize),
        });
    let given = text_property(answer, "mimeType").map(|mime| Mime::given(&mime));
    Ok(ReadResult {
        // How bytes are shown to a model depends on their type.
        mime: match given {
            None if !is_text => Some(file::classify(path, &body, None).0),
            given => given,
        },
        content: body,
        is_text,
        position,
    })
}

/// A stored file in any of its three formats.
pub fn file_data(path: &VPath, data: &JsValue) -> Result<RawFile> {
    let odd = || {
        Error::at(
            Kind::Unavailable,
            "A foreign backend stores '",
            path,
            "' in a form that is not known",
        )
    };
    let content = property(data, "content").ok_or_else(odd)?;
    let (body, format) = if let Some(text) = content.as_string() {
        match text_property(data, "encoding").as_deref() {
            Some("base64") => {
                let bytes = STANDARD.decode(text.as_bytes()).map_err(|_| odd())?;
                (Bytes::from(bytes), Format::V2)
            }
            _ => (Bytes::from(text), Format::V2),
        }
    } else if let Some(bytes) = host::bytes_of(&content) {
        (bytes, Format::V2)
    } else {
        let lines = content.dyn_into::<Array>().map_err(|_| odd())?;
        let lines: Option<Vec<String>> = lines.iter().map(|line| line.as_string()).collect();
        (Bytes::from(lines.ok_or_else(odd)?.join("\n")), Format::V1)
    };
    let given = text_property(data, "mimeType").map(|mime| Mime::given(&mime));
    let (mime, texture) = file::classify(path, &body, given.as_ref());
    let is_text = texture.is_text() && std::str::from_utf8(&body).is_ok();
    Ok(RawFile {
        body,
        is_text,
        mime,
        format: if is_text { format } else { Format::V2 },
        created: property(data, "created_at").and_then(|value| time(&value)),
        modified: property(data, "modified_at").and_then(|value| time(&value)),
        mode: None,
        section: None,
    })
}

/// The `filesUpdate` that a backend over a caller's state returns.
pub fn update(answer: &JsValue) -> Option<FilesUpdate> {
    let record = property(answer, "filesUpdate")?.dyn_into::<Object>().ok()?;
    let mut update = FilesUpdate::new();
    for entry in Object::entries(&record).iter() {
        let entry: Array = entry.dyn_into().ok()?;
        let Some(path) = entry
            .get(0)
            .as_string()
            .and_then(|path| VPath::any(&path).ok())
            .filter(|path| !path.is_root())
        else {
            continue;
        };
        let data = entry.get(1);
        let file = if data.is_object() {
            Some(file_data(&path, &data).ok()?)
        } else {
            None
        };
        update.push((path, file));
    }
    Some(update)
}

/// The matches of a search in `asked`, sorted in kitbag's order.
pub fn matches(answer: &JsValue, asked: &VPath) -> Result<GrepResult> {
    struct Found {
        path: VPath,
        line: u32,
        text: String,
        before: Vec<String>,
        after: Vec<String>,
    }
    let mut found: Vec<Found> = list(answer, "matches")?
        .iter()
        .filter_map(|one| {
            Some(Found {
                path: VPath::any(&text_property(&one, "path")?)
                    .ok()
                    .filter(|path| !path.is_root() && path.is_shown_at(asked))?,
                line: number_property(&one, "line")? as u32,
                text: text_property(&one, "text").unwrap_or_default(),
                before: host::texts_property(&one, "before"),
                after: host::texts_property(&one, "after"),
            })
        })
        .collect();
    order::sort_by(&mut found, |a, b| {
        a.path.cmp(&b.path).then(a.line.cmp(&b.line))
    });
    let mut packed = Matches::default();
    for one in &found {
        if packed.is_full() {
            packed.cut = true;
            break;
        }
        let first = one.line.saturating_sub(one.before.len() as u32);
        for (line, text) in (first..).zip(&one.before) {
            packed.push(&one.path, line, text.as_bytes(), RowKind::Before);
        }
        packed.push(&one.path, one.line, one.text.as_bytes(), RowKind::Match);
        for (line, text) in (one.line.saturating_add(1)..).zip(&one.after) {
            packed.push(&one.path, line, text.as_bytes(), RowKind::After);
        }
    }
    Ok(GrepResult {
        truncated: packed.cut || flag(answer, "truncated"),
        matches: packed,
        ignored: count(answer, "ignored"),
        stats: None,
    })
}

/// The results of a batch, one for each path. If the whole batch failed, every path gets the error.
pub fn batch<T>(
    operation: &str,
    paths: &[&VPath],
    answer: Result<JsValue>,
    take: impl Fn(&VPath, &JsValue) -> Result<T>,
) -> Vec<Result<T>> {
    let answer = answer.and_then(|answer| {
        answer.dyn_into::<Array>().map_err(|other| {
            refusal(&other, None).unwrap_or_else(|| {
                Error::new(
                    Kind::Unavailable,
                    format!("{operation}() of a foreign backend answered without an array"),
                )
            })
        })
    });
    let answers = match answer {
        Ok(answers) => answers,
        Err(error) => return paths.iter().map(|_| Err(error.clone())).collect(),
    };
    let one = |(at, path): (usize, &&VPath)| {
        let one = answers.get(u32::try_from(at).unwrap_or(u32::MAX));
        if !one.is_object() {
            return Err(Error::new(
                Kind::Unavailable,
                "The backend behind this one answered too few files",
            ));
        }
        let Some(word) = text_property(&one, "error") else {
            return take(path, &one);
        };
        let kind = text_property(&one, "code")
            .and_then(|code| Kind::from_code(&code))
            .unwrap_or(match word.as_str() {
                "file_not_found" => Kind::NotFound,
                "is_directory" => Kind::IsDirectory,
                "invalid_path" => Kind::InvalidPath,
                "permission_denied" => Kind::PermissionDenied,
                other => kind_of(other),
            });
        Err(match text_property(&one, "message") {
            Some(sentence) => Error::naming(kind, &sentence, Some(path)),
            None if kind == Kind::NotFound => Error::not_found(path),
            None => Error::at(
                kind,
                format!("{operation} of '"),
                path,
                format!("' failed: {word}"),
            ),
        })
    };
    paths.iter().enumerate().map(one).collect()
}

/// What an object says of itself in its `capability`. What it does not say, or says in a way that
/// is not known, is taken from `otherwise`; only the notes are its own or none.
pub fn capability(own: &JsValue, otherwise: Capability) -> Capability {
    let reach = |name: &str, otherwise: Reach| match text_property(own, name).as_deref() {
        Some("storage") => Reach::Storage,
        Some("instance") => Reach::Instance,
        Some("never") => Reach::Never,
        _ => otherwise,
    };
    let says = |name: &str, otherwise: bool| {
        property(own, name)
            .and_then(|value| value.as_bool())
            .unwrap_or(otherwise)
    };
    Capability {
        create: reach("create", otherwise.create),
        update: reach("update", otherwise.update),
        directories: match text_property(own, "directories").as_deref() {
            Some("real") => Directories::Real,
            Some("implied") => Directories::Implied,
            _ => otherwise.directories,
        },
        listings: Listings::Ruled,
        names: text_property(own, "names")
            .and_then(|text| Names::of(&text))
            .unwrap_or(otherwise.names),
        keeps_created: says("keepsCreated", otherwise.keeps_created),
        keeps_mime: says("keepsMime", otherwise.keeps_mime),
        keeps_format: says("keepsFormat", otherwise.keeps_format),
        // Methods of an object neither give nor take permission bits.
        keeps_modes: false,
        keeps_binary: says("keepsBinary", otherwise.keeps_binary),
        writable: says("writable", otherwise.writable),
        overwrites: says("overwrites", otherwise.overwrites),
        // An index works on listings, and the methods of an object show no versions.
        lists_versions: false,
        indexed: says("indexed", otherwise.indexed),
        leaves_out: false,
        max_file_bytes: number_property(own, "maxFileBytes")
            .map(|bytes| bytes as u64)
            .or(otherwise.max_file_bytes),
        files: match property(own, "perCaller").and_then(|value| value.as_bool()) {
            Some(true) => FileSet::Unknown,
            Some(false) => FileSet::Same,
            None => otherwise.files,
        },
        notes: host::texts_property(own, "notes")
            .into_iter()
            .map(Rc::from)
            .collect(),
        origins: otherwise.origins,
    }
}
