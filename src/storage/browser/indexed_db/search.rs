//! How searches read: in one transaction, with few requests. The metadata arrives in sheets, many
//! at once. Wanted bodies that are neighbours are read as one range of keys, a few megabytes at a
//! time, while the previous bodies are searched. Unwanted bodies are read too if skipping them
//! would cost more than reading them.

use std::collections::VecDeque;

use wasm_bindgen::JsCast;

use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::storage::browser::indexed_db::IndexedDb;
use crate::storage::browser::indexed_db::transaction::{Ask, body_of};
use crate::storage::{File, Flow, Meta, Scan};

/// Maximum number of parallel requests for single files.
pub const SINGLES: usize = 64;
/// Maximum bytes of bodies in one request.
const READ_BYTES: u64 = 2 * 1024 * 1024;
/// Maximum number of bodies in one request.
const READ_FILES: usize = 500;
/// Maximum bytes of unwanted bodies to read between two wanted ones.
const ALONG_BYTES: u64 = 128 * 1024;
/// Maximum number of unwanted bodies to read between two wanted ones.
const ALONG_FILES: usize = 16;
/// Maximum number of body requests in progress.
const AHEAD: usize = 3;

/// Neighbouring files that are read with one request, each with a flag whether it is wanted.
#[derive(Default)]
pub struct Run {
    /// The files, in order.
    pub files: Vec<(VPath, Meta, bool)>,
    bytes: u64,
    /// Unwanted files at the end; they are read only if a wanted file follows.
    idle: usize,
    idle_bytes: u64,
}

impl Run {
    /// Whether this file no longer fits into the run.
    fn is_past(&self, meta: &Meta, wanted: bool) -> bool {
        if wanted {
            self.files.len() >= READ_FILES || self.bytes.saturating_add(meta.size) > READ_BYTES
        } else {
            self.idle >= ALONG_FILES || self.idle_bytes.saturating_add(meta.size) > ALONG_BYTES
        }
    }

    fn push(&mut self, path: VPath, meta: Meta, wanted: bool) {
        self.bytes = self.bytes.saturating_add(meta.size);
        if wanted {
            (self.idle, self.idle_bytes) = (0, 0);
        } else {
            self.idle += 1;
            self.idle_bytes = self.idle_bytes.saturating_add(meta.size);
        }
        self.files.push((path, meta, wanted));
    }
}

/// Divides sorted files into runs that begin and end with a wanted file. A file at `root` itself
/// gets a separate run, since other keys may lie between it and the files beneath it (`/a-b`).
pub fn runs(root: &VPath, files: impl IntoIterator<Item = (VPath, Meta, bool)>) -> VecDeque<Run> {
    let mut runs = VecDeque::new();
    let mut run = Run::default();
    let mut close = |run: &mut Run| {
        let mut done = std::mem::take(run);
        let len = done.files.len().saturating_sub(done.idle);
        done.files.truncate(len);
        if !done.files.is_empty() {
            runs.push_back(done);
        }
    };
    for (path, meta, wanted) in files {
        if run.files.is_empty() && !wanted {
            continue;
        }
        if run.is_past(&meta, wanted) {
            close(&mut run);
            if !wanted {
                continue;
            }
        }
        let alone = path == *root;
        run.push(path, meta, wanted);
        if alone {
            close(&mut run);
        }
    }
    close(&mut run);
    runs
}

impl IndexedDb {
    /// Passes the wanted files with their bodies to the visitor.
    pub(super) async fn scan_bodies(
        &self,
        scan: Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let (_transaction, sheets, bodies) = self.reading().await?;
        let mut seen = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            seen.push((path.clone(), meta.clone(), (scan.want)(path, meta)));
            Flow::Continue(())
        };
        let _ = sheets.walk(scan.scope, &mut collect).await?;
        let mut waiting = runs(&scan.scope.root, seen);
        let mut asked: VecDeque<(Run, Ask)> = VecDeque::new();
        loop {
            while asked.len() < AHEAD
                && let Some(run) = waiting.pop_front()
            {
                if let (Some(first), Some(last)) = (run.files.first(), run.files.last()) {
                    let span = self.keys.span(&first.0, &last.0)?;
                    let ask = bodies.get_all(&span, u32::MAX)?;
                    asked.push_back((run, ask));
                }
            }
            let Some((run, ask)) = asked.pop_front() else {
                return Ok(());
            };
            if show(run, &ask.await?, visit)?.is_break() {
                return Ok(());
            }
        }
    }
}

/// Passes the wanted files of a run, whose bodies arrived as one array, to the visitor.
fn show(
    run: Run,
    bodies: &wasm_bindgen::JsValue,
    visit: &mut dyn FnMut(&VPath, &File) -> Flow,
) -> Result<Flow> {
    let bodies: &js_sys::Array = bodies.unchecked_ref();
    if bodies.length() as usize != run.files.len() {
        return Err(Error::internal(
            "The database holds files without bodies, or bodies without files",
        ));
    }
    for (at, (path, meta, wanted)) in run.files.into_iter().enumerate() {
        if !wanted {
            continue;
        }
        let body = body_of(&bodies.get(crate::protocol::index(at)))?;
        if visit(&path, &File { meta, body }).is_break() {
            return Ok(Flow::Break(()));
        }
    }
    Ok(Flow::Continue(()))
}
