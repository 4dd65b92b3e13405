//! One call of the protocol: parses its message, calls the backend, packs the reply.

use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::operations::{
    AnyPath, AppendArguments, DeleteArguments, EditArguments, ExecuteArguments, FileArguments,
    GlobArguments, GrepArguments, LsArguments, NamedFile, ReadArguments, TransferArguments,
    WriteArguments, Written,
};
use crate::boundary::read;
use crate::core::error::{Error, Kind, Result};
use crate::core::links;
use crate::core::path::VPath;
use crate::core::running;
use crate::core::time::Time;
use crate::protocol::{
    BackendExt, Capability, Content, Directories, Edit, EntryInfo, ExecuteOptions, FileInfo,
    FileSet, FilesUpdate, GlobQuery, GrepQuery, Matches, Operation, Page, RawFile, Reach, RowKind,
    SharedBackend, Transfer, may_create, read_part,
};
use crate::wasm::batch::{download, upload};
use crate::wasm::reply::{Reply, reply_done, reply_ptr};
use crate::wasm::{audits, handles, task};

/// No file has more bytes: the largest whole number of JavaScript.
const LARGEST: u64 = (1 << 53) - 1;

/// Packs a result, or the error instead.
pub fn answered<T>(answer: Result<T>, pack: impl FnOnce(&mut Reply, T)) -> Reply {
    match answer {
        Ok(value) => {
            let mut reply = Reply::ok();
            pack(&mut reply, value);
            reply
        }
        Err(error) => Reply::error(&error),
    }
}

/// Packs paths.
pub fn put_paths(reply: &mut Reply, paths: &[VPath]) {
    reply.len(paths.len());
    for path in paths {
        reply.str(path.as_str());
    }
}

/// Packs a content, if there is one.
pub fn put_body(reply: &mut Reply, body: Option<Bytes>) {
    reply.bool(body.is_some());
    if let Some(body) = body {
        reply.body(body);
    }
}

/// Completes a call synchronously and returns the address of the reply. For backends whose futures
/// are always ready. `limit` is in milliseconds; a negative value means no limit.
#[wasm_bindgen]
pub fn call_now(handle: u32, operation: u8, len: usize, limit: f64) -> *const u8 {
    let mut future = pin!(prepared(handle, operation, len));
    let call = running::Call {
        called: method(operation),
        ..task::call_within(limit)
    };
    let polled = running::within(call, || {
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    });
    let reply = match polled {
        Poll::Ready(reply) => reply,
        Poll::Pending => Reply::error(&Error::internal("A synchronous backend did not answer")),
    };
    reply.send();
    reply_ptr()
}

/// Starts a call; 0 if it has completed already, else its task. `limit` is as above.
#[wasm_bindgen]
pub fn call_start(handle: u32, operation: u8, len: usize, limit: f64) -> task::Begun {
    task::start_as(method(operation), limit, prepared(handle, operation, len))
}

fn method(operation: u8) -> Option<&'static str> {
    Operation::numbered(operation).map(Operation::name)
}

fn prepared(handle: u32, operation: u8, len: usize) -> LocalBoxFuture<'static, Reply> {
    // The previous reply was read completely; while it holds bodies, they cannot be edited in
    // place.
    reply_done();
    let asked = asked(handle, operation, len);
    match asked {
        Ok(future) if handles::refuses_links(handle) => Box::pin(links::refusing(future)),
        Ok(future) => future,
        Err(error) => {
            if let Some(operation) = Operation::numbered(operation) {
                audits::refused(handle, operation, error.code());
            }
            Box::pin(std::future::ready(Reply::error(&error)))
        }
    }
}

fn asked(handle: u32, operation: u8, len: usize) -> Asked {
    let backend = handles::backend(handle)?;
    let operation = Operation::numbered(operation)
        .ok_or_else(|| Error::internal("There is no such operation"))?;
    match operation {
        Operation::Ls => Ok(ls(backend, read(len)?)),
        Operation::Read => Ok(read_page(backend, read(len)?)),
        Operation::ReadRaw => Ok(read_raw(backend, read(len)?)),
        Operation::Grep => Ok(grep(backend, read(len)?)),
        Operation::Glob => Ok(glob(backend, read(len)?)),
        Operation::Write => write(backend, read(len)?),
        Operation::Edit => Ok(edit(backend, read(len)?)),
        Operation::Delete => Ok(delete(backend, read(len)?)),
        Operation::UploadFiles => Ok(upload(handle, backend, read(len)?)),
        Operation::DownloadFiles => Ok(download(handle, backend, read(len)?)),
        Operation::Execute => Ok(execute(backend, read(len)?)),
        Operation::Move => transfer(backend, read(len)?, false),
        Operation::Copy => transfer(backend, read(len)?, true),
        Operation::Append => Ok(append(backend, read(len)?)),
    }
}

/// Packs the capability of a backend.
#[wasm_bindgen]
pub fn capability(handle: u32) {
    let capability = handles::backend(handle).map(|backend| backend.capability());
    answered(capability, put_capability).send();
}

type Replying = LocalBoxFuture<'static, Reply>;
type Asked = Result<Replying>;

fn ls(backend: SharedBackend, given: LsArguments) -> Replying {
    let AnyPath(path) = given.path;
    Box::pin(async move {
        answered(backend.ls(&path).await, |reply, files| {
            put_infos(reply, &files)
        })
    })
}

fn read_page(backend: SharedBackend, given: ReadArguments) -> Replying {
    let path = given.path.path;
    let default = Page::default();
    let page = Page {
        offset: given.offset.0.unwrap_or(default.offset),
        limit: given.limit.0.unwrap_or(default.limit),
    };
    Box::pin(async move {
        answered(backend.read(&path, page).await, |reply, read| {
            reply.bool(read.is_text);
            reply.optional_str(read.mime.as_ref().map(|mime| mime.as_str()));
            reply.bool(read.position.is_some());
            if let Some(position) = read.position {
                reply.f64(position.total_lines.map_or(-1.0, |total| total as f64));
                reply.f64(position.start_line as f64);
                reply.f64(position.end_line as f64);
                reply.f64(position.next_offset.map_or(-1.0, |offset| offset as f64));
            }
            reply.body(read.content);
        })
    })
}

fn read_raw(backend: SharedBackend, given: FileArguments) -> Replying {
    let path = given.path.path;
    let range = range_of(given.start, given.end);
    Box::pin(async move {
        let answer = match range {
            Some(range) => read_part(&*backend, &path, range).await,
            None => backend.read_raw(&path).await,
        };
        answered(answer, |reply, mut file| {
            let section = file.section.take();
            reply.bool(section.is_some());
            if let Some(section) = section {
                reply.f64(section.start as f64);
                reply.f64(section.size as f64);
                reply.optional_str(section.version.as_deref());
                reply.bool(file.mime.is_text() && is_text(&file.body));
            }
            put_raw(reply, file);
        })
    })
}

/// Whether bytes are text in UTF-8, but for characters that are cut at their ends.
fn is_text(bytes: &[u8]) -> bool {
    let continues = |byte: &&u8| **byte & 0xC0 == 0x80;
    let cut = bytes.iter().take(3).take_while(continues).count();
    match std::str::from_utf8(bytes.get(cut..).unwrap_or_default()) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// The part of a file that is asked for; JavaScript sends a negative number for an end that is not named.
fn range_of(start: f64, end: f64) -> Option<Range<u64>> {
    // Casts saturate.
    let (from, to) = (start as u64, end as u64);
    match (start >= 0.0, end >= 0.0) {
        (false, false) => None,
        (_, true) => Some(from.min(to)..to),
        (true, false) => Some(from..LARGEST.max(from)),
    }
}

fn grep(backend: SharedBackend, given: GrepArguments) -> Replying {
    let query = GrepQuery {
        pattern: given.pattern,
        path: given.path.0,
        glob: given.glob,
        max_count: given.max_count.0,
        max_per_file: given.max_per_file.0,
        before: given.before.0.unwrap_or(0),
        after: given.after.0.unwrap_or(0),
        regex: given.regex,
        ignore_case: given.ignore_case,
        stats: given.stats,
        sieve: None,
    };
    Box::pin(async move {
        let context = query.before > 0 || query.after > 0;
        answered(backend.grep(&query).await, |reply, found| {
            reply.bool(found.truncated);
            reply.len(found.ignored);
            put_matches(reply, &found.matches, context);
            reply.bool(found.stats.is_some());
            if let Some(stats) = found.stats {
                reply.f64s(stats.numbers().into_iter());
            }
        })
    })
}

fn glob(backend: SharedBackend, given: GlobArguments) -> Replying {
    let query = GlobQuery::new(given.pattern, given.path.0);
    Box::pin(async move {
        answered(backend.glob(&query).await, |reply, found| {
            reply.bool(found.truncated);
            reply.len(found.ignored);
            put_infos(reply, &found.files);
        })
    })
}

fn write(backend: SharedBackend, given: WriteArguments) -> Asked {
    let NamedFile { path, as_given } = given.path;
    may_create(&*backend, &path)?;
    let content = match given.what {
        Written::Text => Content::Text(given.content),
        Written::Raw => Content::Raw(given.content, None),
        Written::New => Content::New(given.content, None),
    };
    Ok(Box::pin(async move {
        answered(backend.write(&path, content).await, |reply, written| {
            reply.path(&path, as_given);
            put_update(reply, written.files_update);
        })
    }))
}

fn edit(backend: SharedBackend, given: EditArguments) -> Replying {
    let edit = Edit {
        whole: given.whole,
        old: given.old,
        new: given.fresh,
        replace_all: given.all,
        appends: false,
    };
    let NamedFile { path, as_given } = given.path;
    Box::pin(async move {
        answered(backend.edit(&path, &edit).await, |reply, edited| {
            reply.path(&path, as_given);
            reply.len(edited.occurrences);
            reply.bool(edited.crlf);
            put_update(reply, edited.files_update);
        })
    })
}

fn transfer(backend: SharedBackend, given: TransferArguments, keeps: bool) -> Asked {
    let NamedFile { path: to, as_given } = given.to;
    may_create(&*backend, &to)?;
    let asked = Transfer {
        from: given.from.path,
        to,
        keeps,
        overwrite: given.overwrite,
    };
    Ok(Box::pin(async move {
        answered(backend.transfer(&asked).await, |reply, done| {
            reply.path(&asked.to, as_given);
            put_update(reply, done.files_update);
        })
    }))
}

fn append(backend: SharedBackend, given: AppendArguments) -> Replying {
    let edit = Edit {
        old: Bytes::new(),
        new: given.content,
        replace_all: false,
        whole: false,
        appends: true,
    };
    let NamedFile { path, as_given } = given.path;
    Box::pin(async move {
        answered(backend.edit(&path, &edit).await, |reply, edited| {
            reply.path(&path, as_given);
            put_update(reply, edited.files_update);
        })
    })
}

fn delete(backend: SharedBackend, given: DeleteArguments) -> Replying {
    let unchanged = given.unchanged;
    let NamedFile { path, as_given } = given.path;
    Box::pin(async move {
        answered(
            backend.delete(&path, unchanged.as_ref()).await,
            |reply, deleted| {
                reply.path(&path, as_given);
                put_update(reply, deleted.files_update);
            },
        )
    })
}

fn execute(backend: SharedBackend, given: ExecuteArguments) -> Replying {
    let (command, timeout) = (given.command, given.timeout_ms);
    let options = ExecuteOptions {
        timeout: (timeout >= 0.0).then(|| Duration::from_secs_f64(timeout.min(1e9) / 1000.0)),
    };
    Box::pin(async move {
        answered(backend.execute(&command, options).await, |reply, ran| {
            reply.body(Bytes::from(ran.output));
            reply.bool(ran.exit_code.is_some());
            reply.f64(f64::from(ran.exit_code.unwrap_or(0)));
            reply.bool(ran.truncated);
        })
    })
}

/// The `id` of the backend, if it supports commands.
#[wasm_bindgen]
pub fn shell_id(handle: u32) -> Option<String> {
    let backend = handles::backend(handle).ok()?;
    Some(backend.shell()?.to_string())
}

fn put_infos(reply: &mut Reply, infos: &[FileInfo]) {
    // Only the shown paths of directories differ from their paths.
    let dirs: Vec<String> = infos
        .iter()
        .filter(|info| info.is_dir())
        .map(FileInfo::shown_path)
        .collect();
    let mut dirs = dirs.iter();
    reply.texts(infos.iter().map(|info| match info.entry {
        EntryInfo::Directory => dirs.next().map_or(&b""[..], |dir| dir.as_bytes()),
        EntryInfo::File { .. } => info.path.as_str().as_bytes(),
    }));
    // A negative size marks a directory.
    reply.f64s(infos.iter().map(|info| match info.entry {
        EntryInfo::Directory => -1.0,
        EntryInfo::File { size, .. } => size.map_or(f64::NAN, |size| size as f64),
    }));
    reply.f64s(infos.iter().map(|info| match info.entry {
        EntryInfo::File { modified, .. } => put_time(modified),
        EntryInfo::Directory => f64::NAN,
    }));
}

fn put_time(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, |time| time.micros() as f64)
}

fn put_matches(reply: &mut Reply, matches: &Matches, context: bool) {
    reply.texts(matches.paths.iter().map(|path| path.as_str().as_bytes()));
    reply.texts(matches.texts());
    reply.len(matches.rows.len());
    reply.u32s(matches.rows.iter().map(|row| row.file));
    reply.u32s(matches.rows.iter().map(|row| row.line));
    // Without context every row has its own text.
    reply.bool(context);
    if context {
        reply.u32s(matches.rows.iter().map(|row| row.text));
        reply.u32s(matches.rows.iter().map(|row| match row.kind {
            RowKind::Match => 0,
            RowKind::Before => 1,
            RowKind::After => 2,
        }));
    }
}

/// Packs a stored file.
pub fn put_raw(reply: &mut Reply, file: RawFile) {
    reply.bool(file.is_text);
    reply.bool(file.format == crate::core::file::Format::V1);
    reply.str(file.mime.as_str());
    reply.f64(put_time(file.created));
    reply.f64(put_time(file.modified));
    reply.body(file.body);
}

/// Packs changes for state that the caller owns.
pub fn put_update(reply: &mut Reply, update: Option<FilesUpdate>) {
    reply.bool(update.is_some());
    let Some(update) = update else { return };
    reply.len(update.len());
    for (path, file) in update {
        reply.str(path.as_str());
        reply.bool(file.is_some());
        if let Some(file) = file {
            put_raw(reply, file);
        }
    }
}

fn put_capability(reply: &mut Reply, capability: Capability) {
    let reach = |reach: Reach| match reach {
        Reach::Storage => 0,
        Reach::Instance => 1,
        Reach::Never => 2,
    };
    reply.u8(reach(capability.create));
    reply.u8(reach(capability.update));
    for promise in [
        capability.directories == Directories::Real,
        capability.keeps_created,
        capability.keeps_mime,
        capability.keeps_format,
        capability.keeps_modes,
        capability.keeps_binary,
        capability.writable,
        capability.overwrites,
        capability.lists_versions,
        capability.indexed,
        capability.files != FileSet::Same,
        capability.names.case,
        capability.names.composition,
    ] {
        reply.bool(promise);
    }
    reply.f64(capability.max_file_bytes.map_or(-1.0, |bytes| bytes as f64));
    reply.len(capability.notes.len());
    for note in &capability.notes {
        reply.str(note);
    }
}

/// The error for a value that cannot be converted to a string or number.
pub fn wrong_argument(name: &str, expected: &str) -> Error {
    Error::new(Kind::InvalidArgument, format!("{name} must be {expected}"))
}
