//! How searches read: everything in one transaction, and in few requests. What is known of the
//! files comes in sheets, many at once; wanted bodies that are neighbours come as one
//! range of keys, a few megabytes at a time, while the bodies before are being searched. Bodies
//! that nobody wants are read along only where leaving them out would cost more than they weigh.

use std::collections::VecDeque;

use wasm_bindgen::JsCast;

use crate::backend::indexed_db::IndexedDb;
use crate::backend::indexed_db::transaction::{Ask, body_of};
use crate::error::{Error, Result};
use crate::path::VPath;
use crate::storage::{File, Flow, Meta, Scan};

/// Single files asked for at once.
pub const SINGLES: usize = 64;
/// Bytes of bodies in one request.
const READ_BYTES: u64 = 2 * 1024 * 1024;
/// Bodies in one request.
const READ_FILES: usize = 500;
/// Unwanted bytes that are read along between two wanted bodies.
const ALONG_BYTES: u64 = 128 * 1024;
/// Unwanted bodies that are read along between two wanted bodies.
const ALONG_FILES: usize = 16;
/// Requests for bodies under way at once.
const AHEAD: usize = 3;

/// Neighbouring files of one request, and which of them are wanted.
#[derive(Default)]
pub struct Run {
    /// The files, in order.
    pub files: Vec<(VPath, Meta, bool)>,
    bytes: u64,
    /// Unwanted files at its end, not yet worth reading.
    idle: usize,
    idle_bytes: u64,
}

impl Run {
    /// Whether this file can no longer be part of it.
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

/// Cuts files, in order, into runs that begin and end with one that is wanted. A file at `root`
/// itself is a run of its own: between its key and those beneath it others may lie (`/a-b`).
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
    /// Shows the wanted files with their bodies.
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

/// Shows the wanted files of a run, whose bodies came as one array.
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
