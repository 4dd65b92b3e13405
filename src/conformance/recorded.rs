//! Replays the cases of `kitbag/conformance` (`ts/conformance/`): recorded calls with the results of
//! a `StateBackend`, which every storage must give. Tests that run as WebAssembly include this file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kitbag::conformance::Report;
use kitbag::core::error::{Error, Result};
use kitbag::core::path::VPath;
use kitbag::protocol::{
    Backend, BackendExt, Capability, Content, Edit, EntryInfo, GlobQuery, GrepQuery, GrepResult,
    Page, ReadResult, RowKind, SharedBackend, Transfer,
};
use serde_json::{Value, json};

const RECORDED: &str = include_str!("../../tests/conformance/recorded.json");

/// Errors whose whole message is fixed; of the others only the code is.
const SENTENCES: [&str; 4] = ["not_found", "already_exists", "no_match", "ambiguous_edit"];

/// Calls that change files.
const CHANGES: [&str; 7] = [
    "write",
    "edit",
    "delete",
    "uploadFiles",
    "move",
    "copy",
    "append",
];

/// A backend after the changes of a case that only reads from then on.
struct Filled<'a> {
    backend: SharedBackend,
    changes: &'a [Value],
}

/// Adds the results of all cases to a report. Each runs on a new backend, or on that of the case
/// before it, if both make the same changes first and only read after them.
pub async fn run(make: impl AsyncFn() -> Result<SharedBackend>, report: &mut Report) {
    let cases: Vec<Value> = serde_json::from_str(RECORDED).expect("the recorded cases are JSON");
    let mut last: Option<Filled> = None;
    for case in &cases {
        let name = text(&case["name"]);
        let (changes, rest) = parts(list(&case["calls"]));
        let reused = last.take().filter(|filled| filled.changes == changes);
        let (backend, calls) = match reused.filter(|_| !changes_any(rest)) {
            Some(filled) => (filled.backend, rest),
            None => match make().await {
                Ok(backend) => (backend, list(&case["calls"])),
                Err(error) => {
                    let why = format!("{name}: no backend: {error:?}");
                    report.failures.push(why);
                    continue;
                }
            },
        };
        if !is_promised(&case["needs"], &backend.capability()) {
            continue;
        }
        match replayed(&*backend, calls).await {
            Ok(()) => report.passed += 1,
            Err(seen) => report.failures.push(format!("{name}: {seen}")),
        }
        if !changes_any(rest) {
            last = Some(Filled { backend, changes });
        }
    }
}

/// The changes that a case makes first, and its other calls.
fn parts(calls: &[Value]) -> (&[Value], &[Value]) {
    let is_read = |call: &Value| !CHANGES.contains(&text(&call[0]));
    calls.split_at(calls.iter().position(is_read).unwrap_or(calls.len()))
}

fn changes_any(calls: &[Value]) -> bool {
    calls.iter().any(|call| CHANGES.contains(&text(&call[0])))
}

fn is_promised(needs: &Value, has: &Capability) -> bool {
    let word = |value: String| Value::from(value.to_lowercase());
    let has = json!({
        "create": word(format!("{:?}", has.create)),
        "update": word(format!("{:?}", has.update)),
        "directories": word(format!("{:?}", has.directories)),
        "keepsCreated": has.keeps_created,
        "keepsMime": has.keeps_mime,
        "keepsFormat": has.keeps_format,
        "keepsBinary": has.keeps_binary,
        "writable": has.writable,
    });
    let needs = needs.as_object().expect("needs are an object");
    needs
        .iter()
        .all(|(name, allowed)| list(allowed).contains(&has[name]))
}

async fn replayed(backend: &dyn Backend, calls: &[Value]) -> std::result::Result<(), String> {
    for call in calls {
        let (method, args, wanted) = (text(&call[0]), &call[1], &call[2]);
        let seen = answer(backend, method, args).await;
        if !agrees(&seen, wanted) {
            return Err(format!("{method}({args}): saw {seen}, wanted {wanted}"));
        }
    }
    Ok(())
}

/// Whether a result has everything that was recorded. The number of all lines may be missing, if
/// only a part of the file was read.
fn agrees(seen: &Value, wanted: &Value) -> bool {
    match (seen, wanted) {
        (Value::Object(seen), Value::Object(wanted)) => {
            let is_fixed = |code: &Value| SENTENCES.contains(&code.as_str().unwrap_or_default());
            seen.keys().all(|name| wanted.contains_key(name))
                && wanted.iter().all(|(name, value)| match seen.get(name) {
                    None => name == "totalLines",
                    Some(_)
                        if name == "error" && wanted.get("code").is_some_and(|c| !is_fixed(c)) =>
                    {
                        true
                    }
                    Some(other) => agrees(other, value),
                })
        }
        (Value::Array(seen), Value::Array(wanted)) => {
            seen.len() == wanted.len() && seen.iter().zip(wanted).all(|(a, b)| agrees(a, b))
        }
        _ => seen == wanted,
    }
}

/// The result of one call, as JavaScript shows it, without times.
async fn answer(backend: &dyn Backend, method: &str, args: &Value) -> Value {
    let answered = match method {
        "uploadFiles" => return uploaded(backend, list(&args[0])).await,
        "downloadFiles" => return downloaded(backend, list(&args[0])).await,
        "ls" => ls(backend, args).await,
        "read" => read(backend, args).await,
        "readRaw" => read_raw(backend, args).await,
        "grep" => grep(backend, args).await,
        "glob" => glob(backend, args).await,
        "write" => write(backend, args).await,
        "edit" => edit(backend, args).await,
        "delete" => delete(backend, args).await,
        "move" => transfer(backend, args, false).await,
        "copy" => transfer(backend, args, true).await,
        "append" => append(backend, args).await,
        other => panic!("there is no method {other}"),
    };
    answered.unwrap_or_else(|error| json!({ "error": error.to_string(), "code": error.code() }))
}

async fn ls(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let infos = backend.ls(&path(&args[0])?).await?;
    let files: Vec<Value> = infos
        .iter()
        .map(|info| match &info.entry {
            EntryInfo::Directory => json!({ "path": info.shown_path(), "is_dir": true, "size": 0 }),
            EntryInfo::File { size, .. } => {
                json!({ "path": info.shown_path(), "is_dir": false, "size": size })
            }
        })
        .collect();
    Ok(json!({ "files": files }))
}

async fn read(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let page = Page {
        offset: number(&args[1]).unwrap_or(0),
        limit: number(&args[2]).unwrap_or(500),
    };
    let ReadResult {
        content,
        is_text,
        mime,
        position,
    } = backend.read(&file(&args[0])?, page).await?;
    let mut out = json!({ "content": body(&content, is_text) });
    if let Some(mime) = mime {
        out["mimeType"] = mime.as_str().into();
    }
    if let Some(position) = position {
        out["startLine"] = position.start_line.into();
        out["endLine"] = position.end_line.into();
        if let Some(total) = position.total_lines {
            out["totalLines"] = total.into();
        }
        if let Some(next) = position.next_offset {
            out["nextOffset"] = next.into();
        }
    }
    Ok(out)
}

async fn read_raw(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let raw = backend.read_raw(&file(&args[0])?).await?;
    let content = body(&raw.body, raw.is_text);
    Ok(json!({ "data": { "content": content, "mimeType": raw.mime.as_str() } }))
}

async fn grep(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let options = &args[4];
    let is = |name: &str| options[name].as_bool().unwrap_or(false);
    let query = GrepQuery {
        pattern: text(&args[0]).into(),
        path: path_or_root(&args[1])?,
        glob: args[2].as_str().map(Into::into),
        max_count: number(&args[3]),
        max_per_file: number(&options["maxPerFile"]),
        regex: is("regex"),
        ignore_case: is("ignoreCase"),
        before: number(&options["before"]).unwrap_or(0),
        after: number(&options["after"]).unwrap_or(0),
        stats: false,
        sieve: None,
    };
    Ok(grepped(&backend.grep(&query).await?))
}

/// Lines of context belong to the match beside them.
fn grepped(found: &GrepResult) -> Value {
    let mut matches: Vec<Value> = Vec::new();
    let mut before: Vec<String> = Vec::new();
    for row in found.matches.iter() {
        let shown = String::from_utf8_lossy(row.text).into_owned();
        match row.kind {
            RowKind::Before => before.push(shown),
            RowKind::Match => {
                let path = row.path.as_str();
                let mut one = json!({ "path": path, "line": row.line, "text": shown });
                if !before.is_empty() {
                    one["before"] = std::mem::take(&mut before).into();
                }
                matches.push(one);
            }
            RowKind::After => {
                let last = matches.last_mut().expect("a match comes first");
                match &mut last["after"] {
                    Value::Array(after) => after.push(shown.into()),
                    empty => *empty = json!([shown]),
                }
            }
        }
    }
    let mut out = json!({ "matches": matches });
    if found.truncated {
        out["truncated"] = true.into();
    }
    out
}

async fn glob(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let query = GlobQuery::new(text(&args[0]), path_or_root(&args[1])?);
    let found = backend.glob(&query).await?;
    // Files that were written together may have equal times.
    let mut files: Vec<(&str, Option<u64>)> = found
        .files
        .iter()
        .map(|info| match &info.entry {
            EntryInfo::File { size, .. } => (info.path.as_str(), *size),
            EntryInfo::Directory => (info.path.as_str(), None),
        })
        .collect();
    files.sort_unstable();
    let files: Vec<Value> = files
        .iter()
        .map(|(path, size)| json!({ "path": path, "is_dir": false, "size": size }))
        .collect();
    Ok(json!({ "files": files }))
}

async fn write(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let content = Content::Text(text(&args[1]).to_owned().into());
    let at = file(&args[0])?;
    backend.write(&at, content).await?;
    Ok(json!({ "path": at.as_str() }))
}

async fn edit(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let edit = Edit {
        old: text(&args[1]).to_owned().into(),
        new: text(&args[2]).to_owned().into(),
        replace_all: args[3].as_bool().unwrap_or(false),
        whole: false,
        appends: false,
    };
    let at = file(&args[0])?;
    let edited = backend.edit(&at, &edit).await?;
    let mut out = json!({ "path": at.as_str(), "occurrences": edited.occurrences });
    if edited.crlf {
        out["metadata"] = json!({ "lineEndings": "crlf" });
    }
    Ok(out)
}

async fn delete(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let at = file(&args[0])?;
    backend.delete(&at, None).await?;
    Ok(json!({ "path": at.as_str() }))
}

async fn transfer(backend: &dyn Backend, args: &Value, keeps: bool) -> Result<Value> {
    let asked = Transfer {
        from: file(&args[0])?,
        to: file(&args[1])?,
        keeps,
        overwrite: args[2]["overwrite"].as_bool().unwrap_or(false),
    };
    backend.transfer(&asked).await?;
    Ok(json!({ "path": asked.to.as_str() }))
}

async fn append(backend: &dyn Backend, args: &Value) -> Result<Value> {
    let at = file(&args[0])?;
    let edit = Edit {
        old: Bytes::new(),
        new: Bytes::from(text(&args[1]).to_owned()),
        replace_all: false,
        whole: false,
        appends: true,
    };
    backend.edit(&at, &edit).await?;
    Ok(json!({ "path": at.as_str() }))
}

/// A path that cannot be read fails alone.
async fn uploaded(backend: &dyn Backend, files: &[Value]) -> Value {
    let mut batch = Vec::new();
    for file in files {
        if let Ok(at) = path(&file[0]) {
            batch.push((at, bytes(&file[1])));
        }
    }
    let mut answers = backend.upload(batch).await.into_iter();
    let seen = files.iter().map(|file| {
        let answer = path(&file[0]).and_then(|_| answers.next().expect("an answer for each file"));
        json!({ "path": shown(&file[0]), "error": failure(answer.as_ref().err()) })
    });
    seen.collect()
}

async fn downloaded(backend: &dyn Backend, paths: &[Value]) -> Value {
    let good: Vec<VPath> = paths.iter().filter_map(|at| path(at).ok()).collect();
    let mut answers = backend.download(&good).await.into_iter();
    let seen = paths.iter().map(|at| {
        let answer = path(at).and_then(|_| answers.next().expect("an answer for each path"));
        let content = answer
            .as_ref()
            .map_or(Value::Null, |bytes| body(bytes, false));
        json!({ "path": shown(at), "content": content, "error": failure(answer.as_ref().err()) })
    });
    seen.collect()
}

fn failure(error: Option<&Error>) -> Value {
    error.map_or(Value::Null, |error| {
        error.kind().file_operation_error().into()
    })
}

/// A canonical path; one that is none stays as it was given.
fn shown(given: &Value) -> Value {
    path(given).map_or_else(|_| given.clone(), |path| path.as_str().into())
}

fn path(given: &Value) -> Result<VPath> {
    Ok(VPath::parse(text(given))?)
}

fn file(given: &Value) -> Result<VPath> {
    Ok(VPath::parse_file(text(given))?)
}

fn path_or_root(given: &Value) -> Result<VPath> {
    match given.as_str() {
        Some(path) => Ok(VPath::parse(path)?),
        None => Ok(VPath::root()),
    }
}

fn number(given: &Value) -> Option<usize> {
    given.as_u64().and_then(|number| number.try_into().ok())
}

fn text(given: &Value) -> &str {
    given.as_str().expect("a text")
}

fn list(given: &Value) -> &[Value] {
    given.as_array().expect("a list")
}

fn body(bytes: &Bytes, is_text: bool) -> Value {
    if is_text {
        return String::from_utf8_lossy(bytes).into();
    }
    json!({ "base64": STANDARD.encode(bytes) })
}

fn bytes(given: &Value) -> Bytes {
    let decoded = STANDARD.decode(text(&given["base64"]));
    decoded.expect("base64").into()
}
