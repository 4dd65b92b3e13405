//! Files of a machine that can only be reached by running commands there. Every operation is a
//! script of the shell ([`script`]) whose arguments cannot become syntax and whose answer is
//! marked ([`wire`]). Large bodies go in pieces, or by the sandbox's own uploads and downloads
//! where it has them. A search is narrowed by `grep` over there; what matches is decided here.

#[cfg(target_arch = "wasm32")]
pub mod host;
mod script;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod wire;

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::backend::sandbox::script::{Finish, RESERVED};
use crate::env::{random, timer};
use crate::error::{Error, Kind, Result};
use crate::file::{self, Format};
use crate::path::VPath;
use crate::protocol::{Capability, Directories, ExecuteResult, Reach};
use crate::storage::{
    Cursor, Depth, Entry, File, Flow, Listing, Meta, NewFile, Pending, PutMode, Removed, Scan,
    Scope, Storage, Version, literal_dir,
};
use crate::time::Time;

/// Bytes of a body in one command; a shell takes 128 KiB for one argument.
const PUT_CHUNK: usize = 60 * 1024;
/// Bytes of bodies in one answer, to begin with; less where answers are cut.
const GET_CHUNK: usize = 512 * 1024;
/// The least that is asked for before giving up on a sandbox that cuts its answers.
const LEAST_CHUNK: usize = 1024;
/// Bytes of names in one answer.
const NAMES: usize = 8 << 20;
/// Bytes of bodies that one search fetches at most.
const SEARCHED: u64 = 256 << 20;
/// Tries of a read or write that met another writer.
const TRIES: u32 = 64;

/// The way to run commands in a sandbox, and to move files where it has one of its own.
pub trait Machine {
    /// Runs a command to its end.
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult>;

    /// Puts a file at a path of the sandbox; `false` where there is no such way.
    fn upload<'a>(&'a self, _path: &'a str, _body: &'a Bytes) -> Pending<'a, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Fetches a file; `None` where there is no such way.
    fn download<'a>(&'a self, _path: &'a str) -> Pending<'a, Option<Bytes>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// A sandbox as a storage.
pub struct Sandbox<M> {
    machine: M,
    /// What stands before every path over there; empty for the root itself.
    root: String,
    max_file_bytes: u64,
    chunk: Cell<usize>,
}

fn odd(output: &str) -> Error {
    let shown: String = output.trim().chars().take(300).collect();
    Error::new(
        Kind::Unavailable,
        format!(
            "The sandbox gave no proper answer; it needs sh, base64, sha256sum, find, grep and stat. It said: {shown}"
        ),
    )
}

fn too_large(path: &VPath, size: u64, limit: u64) -> Error {
    Error::at(
        Kind::TooLarge,
        "'",
        path,
        format!("' has {size} bytes, over the limit of {limit} (maxFileBytes)"),
    )
}

fn denied(path: &VPath, what: &'static str) -> Error {
    Error::at(Kind::PermissionDenied, "'", path, what)
}

fn seconds(text: &str) -> Option<Time> {
    Some(Time::from_micros(
        text.trim().parse::<i64>().ok()?.checked_mul(1_000_000)?,
    ))
}

fn meta(size: u64, modified: Time, version: Option<String>) -> Meta {
    Meta {
        size,
        created: None,
        modified,
        mime: None,
        format: Format::V2,
        texture: None,
        version: version.map(|tag| Version::Tag(Rc::from(tag))),
    }
}

/// `F size time …` of a file, or the letter of what else it is.
fn told(line: &str) -> Result<Option<Meta>, char> {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("F") => {
            let size = words.next().and_then(|size| size.parse().ok());
            let time = words.next().and_then(seconds);
            match (size, time) {
                (Some(size), Some(time)) => Ok(Some(meta(size, time, None))),
                _ => Err('?'),
            }
        }
        Some("N" | "D") => Ok(None),
        Some(other) => Err(other.chars().next().unwrap_or('?')),
        None => Err('?'),
    }
}

fn refusal(path: &VPath, letter: char, output: &str) -> Error {
    match letter {
        'X' => denied(path, "' may not be read by the sandbox's user"),
        'O' => denied(path, "' is a device, a pipe or a socket, not a file"),
        _ => odd(output),
    }
}

impl<M: Machine> Sandbox<M> {
    /// The sandbox behind `machine`; its directory `root` is `/` here.
    pub fn new(machine: M, root: &str, max_file_bytes: u64) -> Sandbox<M> {
        Sandbox {
            machine,
            root: root.trim_end_matches('/').to_owned(),
            max_file_bytes,
            chunk: Cell::new(GET_CHUNK),
        }
    }

    fn real(&self, path: &VPath) -> String {
        match (self.root.as_str(), path.is_root()) {
            ("", true) => String::from("/"),
            (root, true) => root.to_owned(),
            (root, false) => format!("{root}{path}"),
        }
    }

    fn path_of(&self, real: &str) -> Option<VPath> {
        VPath::from_stored(real.strip_prefix(&self.root)?)
    }

    fn looked(&self, path: &VPath) -> Result<String> {
        if path.segments().any(|segment| segment.starts_with(RESERVED)) {
            return Err(Error::at(
                Kind::InvalidPath,
                "'",
                path,
                format!("': names that begin with '{RESERVED}' are kitbag's own"),
            ));
        }
        Ok(self.real(path))
    }

    /// Runs a script and gives what it printed between its marks; `None` where that was cut.
    async fn try_run(&self, script: &str) -> Result<Option<String>> {
        let frame = wire::Frame::new();
        let answer = self.machine.run(&frame.around(script)).await?;
        match frame.within(&answer.output) {
            Some(text) => Ok(Some(text.to_owned())),
            None if answer.truncated => Ok(None),
            None => Err(odd(&answer.output)),
        }
    }

    async fn run(&self, script: &str) -> Result<String> {
        self.try_run(script).await?.ok_or_else(|| {
            Error::new(
                Kind::TooLarge,
                "The sandbox cut its answer; look into a directory further down",
            )
        })
    }

    /// Runs what asks for so many bytes, and for fewer where the answer was cut.
    async fn run_sized(&self, script: impl Fn(usize) -> String) -> Result<(String, usize)> {
        loop {
            let chunk = self.chunk.get();
            if let Some(answer) = self.try_run(&script(chunk)).await? {
                return Ok((answer, chunk));
            }
            if chunk <= LEAST_CHUNK {
                return Err(Error::new(
                    Kind::TooLarge,
                    "The sandbox cuts even short answers; raise the limit of its output",
                ));
            }
            self.chunk.set(chunk / 2);
        }
    }

    async fn look(&self, path: &VPath) -> Result<Option<Meta>> {
        let answer = self.run(&script::stat(&self.looked(path)?)).await?;
        told(&answer).map_err(|letter| refusal(path, letter, &answer))
    }

    async fn fetch(&self, path: &VPath) -> Result<Option<File>> {
        let real = self.looked(path)?;
        for _ in 0..TRIES {
            let (answer, asked) = self.run_sized(|count| script::head(&real, count)).await?;
            let (line, encoded) = answer.split_once('\n').unwrap_or((&answer, ""));
            let found = told(line).map_err(|letter| refusal(path, letter, &answer))?;
            let Some(known) = found else { return Ok(None) };
            if known.size > self.max_file_bytes {
                return Err(too_large(path, known.size, self.max_file_bytes));
            }
            let mut body = wire::bytes(encoded).ok_or_else(|| odd(&answer))?;
            let whole = body.len() as u64 >= known.size || body.len() < asked;
            if !whole && !self.rest(&real, &mut body, known.size).await? {
                // It was changed while it was fetched piece by piece.
                continue;
            }
            let version = wire::checksum(&body);
            return Ok(Some(File {
                meta: meta(body.len() as u64, known.modified, Some(version)),
                body: Bytes::from(body),
            }));
        }
        Err(Error::conflict(path))
    }

    /// Fetches the rest of a file; `false` where it is not the same file any more.
    async fn rest(&self, real: &str, body: &mut Vec<u8>, size: u64) -> Result<bool> {
        if let Some(all) = self.machine.download(real).await? {
            *body = all.to_vec();
        } else {
            while (body.len() as u64) < size {
                let offset = body.len();
                let ask = |count| script::part(real, offset, count);
                let (answer, _) = self.run_sized(ask).await?;
                let more = wire::bytes(&answer).ok_or_else(|| odd(&answer))?;
                if more.is_empty() {
                    return Ok(false);
                }
                body.extend_from_slice(&more);
            }
        }
        let now = self.run(&script::version(real)).await?;
        Ok(now.trim() == wire::checksum(body))
    }

    async fn store(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        let real = self.looked(path)?;
        let dir = real.rsplit_once('/').map_or("", |(dir, _)| dir);
        let finish = match &mode {
            PutMode::Create => Finish::Create,
            PutMode::Overwrite => Finish::Overwrite,
            PutMode::Update(Version::Tag(version)) => Finish::Update(version),
            PutMode::Update(_) => return Err(Error::conflict(path)),
        };
        for attempt in 0..TRIES {
            let aside = format!("{dir}/{RESERVED}t-{}", random::id());
            let small = file.body.len() <= PUT_CHUNK;
            if !small && let Err(error) = self.aside(path, &aside, &file.body).await {
                // What was written is of no use now; what went wrong is what counts.
                let _ = self.run(&script::discard(&aside)).await;
                return Err(error);
            }
            let content = small.then_some(&*file.body);
            let script = script::finish(&real, &aside, content, &finish);
            let answer = self.run(&script).await?;
            return Err(match answer.chars().next() {
                Some('K') => {
                    let version = wire::checksum(&file.body);
                    let size = file.body.len() as u64;
                    return Ok(meta(size, file.modified, Some(version)));
                }
                Some('A') => Error::already_exists(path),
                Some('C') if matches!(mode, PutMode::Update(_)) => Error::conflict(path),
                Some('B' | 'C') => {
                    self.pause(attempt).await;
                    continue;
                }
                Some('D') => {
                    Error::at(Kind::IsDirectory, "'", path, "' is a directory, not a file")
                }
                Some('O') => denied(path, "' is a device, a pipe or a socket, not a file"),
                Some('P') => Error::at(
                    Kind::InvalidPath,
                    "'",
                    path,
                    "' has no place: its directory cannot be made",
                ),
                Some('E') => denied(path, "' could not be written by the sandbox's user"),
                _ => odd(&answer),
            });
        }
        Err(Error::conflict(path))
    }

    /// Writes a large body aside, by an upload or in pieces.
    async fn aside(&self, path: &VPath, aside: &str, body: &Bytes) -> Result<()> {
        if self.machine.upload(aside, body).await? {
            return Ok(());
        }
        for chunk in body.chunks(PUT_CHUNK) {
            let answer = self.run(&script::append(aside, chunk)).await?;
            if !answer.starts_with('K') {
                return Err(denied(path, "' could not be written by the sandbox's user"));
            }
        }
        Ok(())
    }

    async fn remove(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let real = self.looked(path)?;
        let version = match &version {
            Some(Version::Tag(tag)) => Some(&**tag),
            Some(_) => return Err(Error::conflict(path)),
            None => None,
        };
        for attempt in 0..TRIES {
            let answer = self.run(&script::remove(&real, version)).await?;
            match answer.chars().next() {
                Some('K') => return Ok(true),
                Some('N') => return Ok(false),
                Some('C') => return Err(Error::conflict(path)),
                Some('B') => self.pause(attempt).await,
                Some('E') => {
                    return Err(denied(path, "' could not be removed by the sandbox's user"));
                }
                _ => return Err(odd(&answer)),
            }
        }
        Err(Error::conflict(path))
    }

    async fn level(&self, dir: &VPath) -> Result<Listing> {
        let answer = self.run(&script::level(&self.looked(dir)?, NAMES)).await?;
        self.full(dir, &answer)?;
        let mut listing = Listing::default();
        for row in answer.lines() {
            let mut columns = row.trim_end_matches('\r').splitn(4, '|');
            let (Some(kind), Some(size), Some(time), Some(name)) = (
                columns.next(),
                columns.next().and_then(|size| size.parse().ok()),
                columns.next().and_then(seconds),
                columns.next(),
            ) else {
                continue;
            };
            let Some(name) = name.rsplit('/').next() else {
                continue;
            };
            let Ok(path) = dir.join(name) else { continue };
            if kind == "directory" {
                listing.dirs.push(path);
            } else if kind.starts_with("regular") {
                listing.files.push(Entry {
                    path,
                    meta: meta(size, time, None),
                });
            }
        }
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        listing.dirs.sort();
        Ok(listing)
    }

    fn full(&self, dir: &VPath, answer: &str) -> Result<()> {
        if answer.len() < NAMES.saturating_sub(2) {
            return Ok(());
        }
        Err(Error::at(
            Kind::TooLarge,
            "There are too many files beneath '",
            dir,
            "' to list them all; look into a directory further down",
        ))
    }

    /// The files in scope, in order; with a text, only those that contain it.
    async fn files(&self, scope: &Scope, literal: Option<&[u8]>) -> Result<Vec<Entry>> {
        let dir = literal_dir(scope);
        // A shell's variable holds no NUL, and a line of grep's no line break.
        let literal = literal.filter(|text| {
            !text.is_empty() && text.len() < PUT_CHUNK && memchr::memchr2(0, b'\n', text).is_none()
        });
        let real = self.looked(&dir)?;
        let answer = self.run(&script::files(&real, literal, NAMES)).await?;
        self.full(&dir, &answer)?;
        let mut files = Vec::new();
        for row in answer.lines() {
            let mut columns = row.trim_end_matches('\r').splitn(3, '|');
            let size = columns.next().and_then(|size| size.parse().ok());
            let time = columns.next().and_then(seconds);
            let path = columns.next().and_then(|real| self.path_of(real));
            if let (Some(size), Some(time), Some(path)) = (size, time, path)
                && scope.admits(&path)
            {
                files.push(Entry {
                    path,
                    meta: meta(size, time, None),
                });
            }
        }
        // A file may stand at the root of the scope as well as a directory.
        if files.is_empty() && scope.prefix.is_empty() && !scope.root.is_root() {
            let found = self.look(&scope.root).await?;
            files.extend(found.map(|meta| Entry {
                path: scope.root.clone(),
                meta,
            }));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Several bodies in one command; those that cannot be read are left out.
    async fn bodies(
        &self,
        batch: &[Entry],
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<Flow> {
        let reals: Vec<String> = batch.iter().map(|entry| self.real(&entry.path)).collect();
        let largest = batch.iter().map(|entry| entry.meta.size).max().unwrap_or(0);
        // One more byte tells of a file that has grown meanwhile.
        let count = usize::try_from(largest)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let answer = match batch.len() {
            1 => None,
            _ => self.try_run(&script::heads(&reals, count)).await?,
        };
        let Some(answer) = answer else {
            // One file, or an answer that was cut: file by file then.
            for entry in batch {
                if let Ok(Some(file)) = self.fetch(&entry.path).await
                    && visit(&entry.path, &file).is_break()
                {
                    return Ok(Flow::Break(()));
                }
            }
            return Ok(Flow::Continue(()));
        };
        let mut lines = answer.lines();
        for entry in batch {
            let line = lines.next().ok_or_else(|| odd(&answer))?;
            let encoded = lines.next().unwrap_or_default();
            let Ok(Some(known)) = told(line) else {
                continue;
            };
            let body = wire::bytes(encoded).ok_or_else(|| odd(&answer))?;
            let file = File {
                meta: meta(body.len() as u64, known.modified, None),
                body: Bytes::from(body),
            };
            if visit(&entry.path, &file).is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }
}

/// The end of a batch that begins at `from`: so many bytes, and so many files, at most.
fn batch_end(files: &[Entry], from: usize, bytes: usize) -> usize {
    const FILES: usize = 200;
    let mut sum = 0u64;
    let mut end = from;
    for entry in files.iter().skip(from).take(FILES) {
        sum = sum.saturating_add(entry.meta.size);
        if end > from && sum > bytes as u64 {
            break;
        }
        end += 1;
    }
    end
}

impl<M: Machine> Storage for Sandbox<M> {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            ranged_reads: false,
            native_search: true,
            directories: Directories::Real,
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            max_file_bytes: Some(self.max_file_bytes),
            notes: vec![Rc::from(
                "A command that changes a file in the very moment of an edit is not held up by it.",
            )],
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(self.look(path))
    }

    fn get<'a>(&'a self, path: &'a VPath, _range: Option<Range<u64>>) -> Pending<'a, Option<File>> {
        Box::pin(self.fetch(path))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(self.store(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(self.remove(path, version))
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        _from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            if depth == Depth::One {
                return self.level(dir).await;
            }
            let mut files = self.files(&Scope::all(dir), None).await?;
            files.retain(|entry| entry.path != *dir);
            Ok(Listing {
                files,
                ..Listing::default()
            })
        })
    }

    fn walk<'a>(
        &'a self,
        scope: &'a Scope,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for entry in self.files(scope, None).await? {
                if visit(&entry.path, &entry.meta).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut files = self.files(scan.scope, scan.literal).await?;
            files.retain(|entry| {
                entry.meta.size <= self.max_file_bytes
                    && !file::is_binary_name(&entry.path)
                    && (scan.want)(&entry.path, &entry.meta)
            });
            let total: u64 = files.iter().map(|entry| entry.meta.size).sum();
            if total > SEARCHED {
                return Err(Error::at(
                    Kind::TooLarge,
                    "This search would fetch more than 256 MiB from beneath '",
                    &scan.scope.root,
                    "'; search in a directory further down, or for a longer text",
                ));
            }
            let mut from = 0;
            while from < files.len() {
                let end = batch_end(&files, from, self.chunk.get());
                let batch = files.get(from..end).unwrap_or_default();
                if self.bodies(batch, visit).await?.is_break() {
                    break;
                }
                from = end;
            }
            Ok(())
        })
    }

    fn pause(&self, attempt: u32) -> LocalBoxFuture<'_, ()> {
        let limit = 5.0 + f64::from(attempt.min(40)) * 5.0;
        timer::sleep(Duration::from_secs_f64(random::unit() * limit / 1000.0))
    }

    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let answer = match self.looked(root) {
                Ok(real) => self.run(&script::remove_tree(&real)).await,
                Err(error) => Err(error),
            };
            let failed = |error| Removed {
                error: Some(error),
                ..Removed::default()
            };
            match answer.as_deref().map(|answer| answer.chars().next()) {
                Ok(Some('K')) => Removed {
                    directories: true,
                    ..Removed::default()
                },
                Ok(Some('N')) => match self.remove(root, None).await {
                    Ok(true) => Removed {
                        paths: vec![root.clone()],
                        ..Removed::default()
                    },
                    Ok(false) => Removed::default(),
                    Err(error) => failed(error),
                },
                Ok(Some('E')) => failed(denied(
                    root,
                    "' could be removed only in part, if at all, by the sandbox's user",
                )),
                Ok(_) => failed(odd("nothing")),
                Err(error) => failed(error.clone()),
            }
        })
    }
}
