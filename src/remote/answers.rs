//! What the server answered. A field that is missing or wrong makes an error, and a path that was not asked
//! for is never accepted: the server may be another one than was meant.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::json::{self, Value};
use super::message::Message;
use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Format, Mime};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::{
    Capability, Directories, EditResult, EntryInfo, FileInfo, FileSet, GlobResult, GrepResult,
    GrepStats, Listings, Matches, Names, Origins, Position, RawFile, Reach, ReadResult, RowKind,
    Section,
};

/// The error for an answer that cannot be understood.
pub fn odd() -> Error {
    Error::new(
        Kind::Unavailable,
        "The server's answer is not one of kitbag's; look at the option \"url\"",
    )
}

/// The refusal in an answer, if it is one.
pub fn refusal(value: &Value, path: Option<&VPath>) -> Option<Error> {
    let sentence = value.text_of("error")?;
    let kind = value
        .text_of("code")
        .and_then(Kind::from_code)
        .unwrap_or(Kind::Unavailable);
    let error = Error::naming(kind, sentence, path);
    Some(match value.number_of("retryAfterMs") {
        Some(millis) => error.retry_after(Duration::from_secs_f64(millis.min(1e12) / 1000.0)),
        None => error,
    })
}

fn count(value: &Value, name: &str) -> usize {
    value.number_of(name).unwrap_or(0.0) as usize
}

fn time(value: &Value, name: &str) -> Option<Time> {
    Time::parse(value.text_of(name)?)
}

/// A path in an answer about `asked`.
fn path_in(value: &Value, asked: &VPath) -> Option<VPath> {
    shown_path(value.text_of("path")?, asked)
}

fn shown_path(text: &str, asked: &VPath) -> Option<VPath> {
    let path = VPath::any(text).ok()?;
    (!path.is_root() && path.is_shown_at(asked)).then_some(path)
}

fn info(value: &Value, asked: &VPath) -> Option<FileInfo> {
    let path = path_in(value, asked)?;
    let entry = match value.flag_of("is_dir") {
        Some(true) => EntryInfo::Directory,
        Some(false) | None => EntryInfo::File {
            size: value.number_of("size").map(|size| size as u64),
            modified: time(value, "modified_at"),
        },
    };
    Some(FileInfo { path, entry })
}

/// A page of a listing, and the entry behind which the next one begins.
pub fn listed(message: &Message, asked: &VPath) -> Result<(Vec<FileInfo>, Option<String>)> {
    let files = message.value.list_of("files").ok_or_else(odd)?;
    let below = |info: &FileInfo| info.path != *asked && info.path.parent() == *asked;
    let infos = files
        .iter()
        .filter_map(|one| info(one, asked))
        .filter(below);
    let next = message.value.text_of("next").map(str::to_owned);
    Ok((infos.collect(), next))
}

/// Listings of all pages in their order.
pub fn sorted(mut infos: Vec<FileInfo>) -> Vec<FileInfo> {
    order::sort_by(&mut infos, FileInfo::listing_order);
    infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
    infos
}

/// A page of text, or a binary file.
pub fn page(path: &VPath, message: &Message) -> Result<ReadResult> {
    let value = &message.value;
    let content = value.field("content").ok_or_else(odd)?;
    let (content, is_text) = match content.text() {
        Some(text) => (Bytes::copy_from_slice(text.as_bytes()), true),
        None => (message.bytes(content).ok_or_else(odd)?, false),
    };
    let total = value.number_of("totalLines").map(|total| total as usize);
    let position = value.number_of("startLine").map(|start| Position {
        total_lines: total,
        start_line: start as usize,
        end_line: count(value, "endLine"),
        next_offset: value.number_of("nextOffset").map(|next| next as usize),
    });
    let given = value.text_of("mimeType").map(Mime::given);
    Ok(ReadResult {
        mime: given.or_else(|| (!is_text).then(|| file::classify(path, &content, None).0)),
        content,
        is_text,
        position,
    })
}

/// A stored file.
pub fn raw(path: &VPath, message: &Message) -> Result<RawFile> {
    let data = message.value.field("data").ok_or_else(odd)?;
    let content = data.field("content").ok_or_else(odd)?;
    let (body, format) = match content {
        Value::Text(text) => (Bytes::copy_from_slice(text.as_bytes()), Format::V2),
        Value::List(lines) => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::text).collect();
            (Bytes::from(lines.ok_or_else(odd)?.join("\n")), Format::V1)
        }
        Value::Null | Value::Flag(_) | Value::Number(_) | Value::Object(_) => {
            (message.bytes(content).ok_or_else(odd)?, Format::V2)
        }
    };
    let given = data.text_of("mimeType").map(Mime::given);
    let (mime, texture) = file::classify(path, &body, given.as_ref());
    let is_text = texture.is_text() && std::str::from_utf8(&body).is_ok();
    Ok(RawFile {
        body,
        is_text,
        mime,
        format: if is_text { format } else { Format::V2 },
        created: time(data, "created_at"),
        modified: time(data, "modified_at"),
        mode: None,
        section: section(&message.value),
    })
}

/// Where the bytes are, of a part of a file.
fn section(value: &Value) -> Option<Box<Section>> {
    let part = value.field("part")?;
    Some(Box::new(Section {
        start: part.number_of("start")? as u64,
        size: part.number_of("size")? as u64,
        version: part.text_of("version").map(Rc::from),
    }))
}

/// What an edit did.
pub fn edited(value: &Value) -> EditResult {
    let endings = value
        .field("metadata")
        .and_then(|of| of.text_of("lineEndings"));
    EditResult {
        occurrences: count(value, "occurrences"),
        crlf: endings == Some("crlf"),
        files_update: None,
    }
}

/// The results of a batch, of each path.
pub fn batch<T>(
    message: &Message,
    paths: &[VPath],
    take: impl Fn(&Value) -> Result<T>,
) -> Result<Vec<Result<T>>> {
    let files = message.value.list_of("files").ok_or_else(odd)?;
    if files.len() != paths.len() {
        return Err(odd());
    }
    let each = files.iter().zip(paths);
    Ok(each
        .map(|(one, path)| refusal(one, Some(path)).map_or_else(|| take(one), Err))
        .collect())
}

/// A line of a search.
enum Row<'a> {
    /// A match with nothing else, of a path.
    Plain(&'a str, u32, Cow<'a, str>),
    Other(&'a Value),
}

/// Calls `row` with each line of a search; returns what its last line says. `None` if it was cut off.
fn rows(body: &Bytes, mut row: impl FnMut(Row<'_>) -> Option<()>) -> Option<Value> {
    let text = std::str::from_utf8(body).ok()?;
    for line in text.split_inclusive('\n') {
        if let Some((path, line, text)) = plain_match(line) {
            row(Row::Plain(path, line, text))?;
            continue;
        }
        let value = Value::parse(line)?;
        match value.field("end") {
            Some(end) => return Some(end.clone()),
            None => row(Row::Other(&value))?,
        }
    }
    None
}

/// A match without lines around it, as this library writes it: its path without escapes, its line and text. Others
/// are read as any JSON, which takes three times as long.
fn plain_match(line: &str) -> Option<(&str, u32, Cow<'_, str>)> {
    let (Cow::Borrowed(path), rest) = json::string_first(line.strip_prefix("{\"path\":")?)? else {
        return None;
    };
    let rest = rest.strip_prefix(",\"line\":")?;
    let (number, rest) = rest.split_once(',')?;
    let (text, rest) = json::string_first(rest.strip_prefix("\"text\":")?)?;
    (rest.trim_end() == "}").then_some((path, number.parse().ok()?, text))
}

/// The files of a search in `asked`; `None` if the answer was cut off.
pub fn globbed(body: &Bytes, asked: &VPath) -> Option<GlobResult> {
    let mut files = Vec::new();
    let end = rows(body, |row| {
        if let Row::Other(value) = row {
            files.extend(info(value, asked).filter(|info| !info.is_dir()));
        }
        Some(())
    })?;
    order::sort_by(&mut files, FileInfo::newest_first);
    files.dedup_by(|a, b| a.path == b.path);
    Some(GlobResult {
        files,
        by_path: false,
        truncated: end.flag_of("truncated") == Some(true),
        ignored: count(&end, "ignored"),
    })
}

/// The matches of a search in `asked`, in the server's order; `None` if the answer was cut off.
pub fn grepped(body: &Bytes, asked: &VPath) -> Option<GrepResult> {
    let mut packed = Matches::default();
    let mut last: Option<VPath> = None;
    let end = rows(body, |row| {
        let (path, value) = match &row {
            Row::Plain(path, ..) if last.as_ref().is_some_and(|last| last.as_str() == *path) => {
                (last.clone(), None)
            }
            Row::Plain(path, ..) => (shown_path(path, asked), None),
            Row::Other(value) => (path_in(value, asked), Some(*value)),
        };
        let Some(path) = path else {
            return Some(());
        };
        if packed.is_full() {
            packed.cut = true;
            return Some(());
        }
        if let Row::Plain(_, line, text) = row {
            packed.push(&path, line, text.as_bytes(), RowKind::Match);
            last = Some(path);
            return Some(());
        }
        let value = value?;
        let line = value.number_of("line")? as u32;
        let lines = |name: &str| value.list_of(name).unwrap_or_default();
        let mut put = |line: u32, text: &Value, kind: RowKind| {
            packed.push(
                &path,
                line,
                text.text().unwrap_or_default().as_bytes(),
                kind,
            );
        };
        let before = lines("before");
        for (line, text) in (line.saturating_sub(before.len() as u32)..).zip(before) {
            put(line, text, RowKind::Before);
        }
        put(line, value.field("text")?, RowKind::Match);
        for (line, text) in (line.saturating_add(1)..).zip(lines("after")) {
            put(line, text, RowKind::After);
        }
        Some(())
    })?;
    let number = |value: &Value, name: &str| value.number_of(name).unwrap_or(0.0) as u64;
    Some(GrepResult {
        truncated: packed.cut || end.flag_of("truncated") == Some(true),
        matches: packed,
        ignored: count(&end, "ignored"),
        stats: end.field("stats").map(|stats| GrepStats {
            requests: number(stats, "requests"),
            candidates: number(stats, "candidates"),
            unindexed: number(stats, "unindexed"),
            indexed: number(stats, "indexed"),
            bytes: number(stats, "bytes"),
            by_notes: stats.text_of("freshness") == Some("writers"),
        }),
    })
}

/// What the server says of its backend. What it does not say is not promised.
pub fn capability(own: &Value) -> Capability {
    let reach = |name: &str| match own.text_of(name) {
        Some("storage") => Reach::Storage,
        Some("instance") => Reach::Instance,
        _ => Reach::Never,
    };
    let says = |name: &str| own.flag_of(name) == Some(true);
    let notes = own.list_of("notes").unwrap_or_default();
    Capability {
        create: reach("create"),
        update: reach("update"),
        directories: match own.text_of("directories") {
            Some("real") => Directories::Real,
            _ => Directories::Implied,
        },
        listings: Listings::Ruled,
        names: own.text_of("names").and_then(Names::of).unwrap_or_default(),
        keeps_created: says("keepsCreated"),
        keeps_mime: says("keepsMime"),
        keeps_format: says("keepsFormat"),
        keeps_modes: false,
        keeps_binary: says("keepsBinary"),
        writable: says("writable"),
        overwrites: says("overwrites"),
        lists_versions: false,
        indexed: says("indexed"),
        leaves_out: false,
        max_file_bytes: own.number_of("maxFileBytes").map(|bytes| bytes as u64),
        files: match says("perCaller") {
            true => FileSet::Unknown,
            false => FileSet::Same,
        },
        notes: notes.iter().filter_map(Value::text).map(Rc::from).collect(),
        origins: Origins::default(),
    }
}

/// What is said before the server was asked: nothing is promised, and a rule covers every spelling.
pub fn unasked() -> Capability {
    let nothing = Value::Object(Vec::new());
    Capability {
        names: Names {
            case: true,
            composition: true,
            ..Names::default()
        },
        keeps_binary: true,
        writable: true,
        overwrites: true,
        notes: vec![Rc::from(
            "The server was not asked yet; the first call asks it what it guarantees.",
        )],
        ..capability(&nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn a_plain_match_is_read_as_any_json(path in ".{0,12}", line in any::<u32>(), text in ".{0,40}|\\PC*") {
            let quoted = |text: &str| serde_json::to_string(text).expect("JSON");
            let row = format!(
                "{{\"path\":{},\"line\":{line},\"text\":{}}}\n",
                quoted(&path),
                quoted(&text),
            );
            match plain_match(&row) {
                Some(read) => prop_assert_eq!(read, (path.as_str(), line, Cow::from(text.as_str()))),
                None => prop_assert!(quoted(&path).contains('\\')),
            }
            let value = Value::parse(&row).expect("JSON");
            prop_assert_eq!(value.text_of("text"), Some(text.as_str()));
        }
    }

    #[test]
    fn a_match_with_more_is_not_plain() {
        for row in [
            "{\"path\":\"/a\",\"line\":1,\"text\":\"x\",\"before\":[]}",
            "{\"path\":\"/a\",\"line\":1,\"text\":\"x\"",
            "{\"path\":\"/a\",\"line\":-1,\"text\":\"x\"}",
            "{\"path\":\"/a\",\"line\":1.5,\"text\":\"x\"}",
            "{\"path\":\"/a\",\"text\":\"x\",\"line\":1}",
            "{\"end\":{}}",
            "{\"path\":\"/a",
            "",
        ] {
            assert_eq!(plain_match(row), None, "{row}");
        }
    }
}
