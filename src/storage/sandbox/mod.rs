//! Files on a machine that can only be reached by running commands. Every operation is a shell
//! script ([`script`]) whose arguments cannot become syntax and whose output is enclosed in markers
//! ([`wire`]). Large bodies are transferred in parts, or by the sandbox's own upload and download
//! functions if it has them. For a search, `grep` on the machine preselects files; the matching
//! itself happens here.

mod answers;
mod bodies;
mod listing;
mod moves;
mod script;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod wire;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::Pending;
use crate::core::links;
use crate::core::path::VPath;
use crate::env::random;
use crate::protocol::{Capability, Directories, ExecuteResult, Reach};
use crate::storage::sandbox::answers::{denied, odd, refusal, told};
use crate::storage::sandbox::listing::batch_end;
use crate::storage::sandbox::script::RESERVED;
use crate::storage::{
    Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, PutMode, Removed, Scan, Scope,
    Search, Storage, Trees, Version,
};

/// Initial bytes of bodies in one result; reduced if results are truncated.
const GET_CHUNK: usize = 512 * 1024;

/// The smallest part size that is tried with a sandbox that truncates its output.
const LEAST_CHUNK: usize = 1024;

/// Maximum bytes of bodies that one search fetches.
const SEARCHED: u64 = 256 << 20;

/// Runs commands in a sandbox, and transfers files if the sandbox supports it.
pub trait Machine {
    /// Runs a command and waits for its end.
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult>;

    /// Uploads a file to a path in the sandbox; `false` if uploads are not supported.
    fn upload<'a>(&'a self, _path: &'a str, _body: &'a Bytes) -> Pending<'a, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Downloads a file; `None` if downloads are not supported.
    fn download<'a>(&'a self, _path: &'a str) -> Pending<'a, Option<Bytes>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// A sandbox as a storage.
pub struct Sandbox<M> {
    machine: M,
    /// The prefix of every path in the sandbox; empty for the root directory.
    root: String,
    max_file_bytes: u64,
    chunk: Cell<usize>,
}

impl<M: Machine> Sandbox<M> {
    /// A storage over `machine`; the directory `root` there is `/` here.
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

    /// Runs a script and returns its output between the markers; `None` if the output was
    /// truncated.
    async fn try_run(&self, script: &str) -> Result<Option<String>> {
        let frame = wire::Frame::new();
        let rules = script::rules(&self.root, links::refused());
        let answer = self
            .machine
            .run(&frame.around(&format!("{rules}{script}")))
            .await?;
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

    /// Runs a script that requests a number of bytes; halves the number while the output is
    /// truncated.
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
}

impl<M: Machine> Storage for Sandbox<M> {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            directories: Directories::Real,
            keeps_created: false,
            keeps_mime: false,
            keeps_format: false,
            keeps_modes: true,
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

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
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

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            search: Some(self),
            trees: Some(self),
            pause: Some(backoff),
            ..Extras::NONE
        }
    }
}

impl<M: Machine> Search for Sandbox<M> {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for entry in self.files(find.scope, None).await? {
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
            let mut files = self.files(scan.scope, scan.hints.literal).await?;
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
}

impl<M: Machine> Trees for Sandbox<M> {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let answer = match self.looked(root) {
                Ok(real) => self.run(&script::remove_tree(&real)).await,
                Err(error) => Err(error),
            };
            let failed = Removed::failed;
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
                Ok(Some('L')) => failed(refusal(root, 'L', "")),
                Ok(Some('E')) => failed(denied(
                    root,
                    "' could be removed only in part, if at all, by the sandbox's user",
                )),
                Ok(_) => failed(odd("nothing")),
                Err(error) => failed(error.clone()),
            }
        })
    }

    fn prune<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            // Directories that stay behind are empty.
            if let Ok(real) = self.looked(root) {
                let _ = self.run(&script::prune(&real)).await;
            }
        })
    }
}

/// How long to wait before retry number `attempt` of a change.
fn backoff(attempt: u32) -> Duration {
    random::wait(5.0 + f64::from(attempt.min(40)) * 5.0)
}
