//! Which bodies a search reads with one request. Wanted bodies that are neighbours are read as one
//! range of keys, a few megabytes at a time. Unwanted bodies are read too if skipping them would
//! cost more than reading them.

use std::collections::VecDeque;

use crate::core::path::VPath;
use crate::storage::Meta;

/// Maximum bytes of bodies in one request.
const READ_BYTES: u64 = 2 * 1024 * 1024;
/// Maximum number of bodies in one request.
const READ_FILES: usize = 500;
/// Maximum bytes of unwanted bodies to read between two wanted ones.
const ALONG_BYTES: u64 = 128 * 1024;
/// Maximum number of unwanted bodies to read between two wanted ones.
const ALONG_FILES: usize = 16;
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
