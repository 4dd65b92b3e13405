//! What a commit checks and changes, and the single steps of it.

use bytes::Bytes;

use super::super::overlay::{Digests, Read};
use super::Author;
use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::layer::kit::body;
use crate::protocol::{Backend, Replacement};

/// Something that is not as the turn found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file, or the directory of a listing or search.
    pub path: VPath,
    /// The operation that found something else: `write` for a file that the turn changes.
    pub operation: &'static str,
    /// For a file that the turn changes, its content before, if there was a file.
    pub before: Option<Bytes>,
    /// What the file holds now, if there is one.
    pub now: Option<Bytes>,
}

/// What a commit checks and does.
pub(super) struct Plan {
    pub(super) digests: Digests,
    pub(super) reads: Vec<(Read, u128)>,
    pub(super) files: Vec<Replacement>,
    /// Who commits, and over which backend; `reads` are read there again.
    pub(super) author: Author,
    /// What was stored instead of `files`, if a rule has replaced contents.
    pub(super) stored: RefCell<Option<Vec<Replacement>>>,
}

impl Plan {
    /// What was stored, once the plan was carried out.
    pub(super) fn into_stored(self) -> Vec<Replacement> {
        self.stored.take().unwrap_or(self.files)
    }

    /// What was read and differs now.
    pub(super) async fn changed_reads(&self) -> Result<Vec<Conflict>> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        if has(Bug::ReadsUnchecked) {
            return Ok(conflicts);
        }
        for (read, digest) in &self.reads {
            if self.digests.of_read(&*self.author.top, read).await? != *digest {
                let path = read.path().clone();
                let operation = read.operation();
                let known = |one: &Conflict| one.path == path && one.operation == operation;
                if !conflicts.iter().any(known) {
                    conflicts.push(Conflict {
                        path,
                        operation,
                        before: None,
                        now: None,
                    });
                }
            }
        }
        for conflict in conflicts.iter_mut().filter(|one| one.operation == "read") {
            conflict.now = body(&*self.author.top, &conflict.path).await?;
        }
        Ok(conflicts)
    }

    /// The conflicts of files that differ from what is to be replaced.
    pub(super) async fn differing(
        &self,
        at: &dyn Backend,
        paths: &[VPath],
    ) -> Result<Vec<Conflict>> {
        let mut files: Vec<&Replacement> = self.files.iter().collect();
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        let mut conflicts = Vec::new();
        for path in paths {
            let place = files.partition_point(|one| one.path < *path);
            let file = files.get(place).filter(|one| one.path == *path);
            conflicts.push(Conflict {
                path: path.clone(),
                operation: "write",
                before: file.and_then(|file| file.before.clone()),
                now: body(at, path).await?,
            });
        }
        Ok(conflicts)
    }
}

/// Deletions first: they make room.
pub(super) fn in_order(files: &[Replacement]) -> impl Iterator<Item = &Replacement> {
    let deletions = files.iter().filter(|file| file.after.is_none());
    deletions.chain(files.iter().filter(|file| file.after.is_some()))
}

/// The change back.
pub(super) fn reversed(file: &Replacement) -> Replacement {
    Replacement {
        path: file.path.clone(),
        before: file.after.clone(),
        after: file.before.clone(),
        mode: file.mode,
    }
}
