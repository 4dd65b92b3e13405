//! Results of searches by text and by name.

use super::FileInfo;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::search::matches::Matches;

/// The result of `grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// The matches.
    pub matches: Matches,
    /// Whether the search stopped early, so that there may be more matches.
    pub truncated: bool,
    /// Number of files that ignore files left out.
    pub ignored: usize,
    /// What the search cost, if the query asked for it and an index took part.
    pub stats: Option<GrepStats>,
}

/// What a search with an index cost. Files that a rule hides are in none of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrepStats {
    /// Reads of the index.
    pub requests: u64,
    /// Files that the index knows and did not exclude; they were searched.
    pub candidates: u64,
    /// Files that the index does not know; they were searched.
    pub unindexed: u64,
    /// Files that the index excluded.
    pub indexed: u64,
    /// Bytes of the index that were read, and of the files that were searched.
    pub bytes: u64,
    /// Whether changes are known from notes of their writers instead of a listing. In a sum, whether it is so
    /// for one of the searches.
    pub by_notes: bool,
}

impl GrepStats {
    /// The numbers, in the order of the fields.
    pub fn numbers(self) -> [f64; 6] {
        let GrepStats {
            requests,
            candidates,
            unindexed,
            indexed,
            bytes,
            by_notes,
        } = self;
        let by_notes = u64::from(by_notes);
        [requests, candidates, unindexed, indexed, bytes, by_notes].map(|number| number as f64)
    }

    /// The sum of two searches; none if neither tells.
    pub fn sum(a: Option<GrepStats>, b: Option<GrepStats>) -> Option<GrepStats> {
        let (Some(a), Some(b)) = (a, b) else {
            return a.or(b);
        };
        Some(GrepStats {
            requests: a.requests.saturating_add(b.requests),
            candidates: a.candidates.saturating_add(b.candidates),
            unindexed: a.unindexed.saturating_add(b.unindexed),
            indexed: a.indexed.saturating_add(b.indexed),
            bytes: a.bytes.saturating_add(b.bytes),
            by_notes: a.by_notes || b.by_notes,
        })
    }
}

/// The result of `glob`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// The files, newest first.
    pub files: Vec<FileInfo>,
    /// Whether they are in order of their paths instead, each once.
    pub by_path: bool,
    /// Whether the search stopped early, so that there may be more files.
    pub truncated: bool,
    /// Number of files that ignore files left out.
    pub ignored: usize,
}

impl GlobResult {
    /// The files of [`GlobQuery::all`] of `dir`, for what must be done with all of them or none: a
    /// listing that was cut short is an error.
    pub fn complete(self, dir: &VPath) -> Result<Vec<FileInfo>> {
        match self.truncated {
            true => Err(Error::at(
                Kind::Unavailable,
                "The backend does not list every file below '",
                dir,
                "', and this cannot be done with some of them only; take a smaller directory",
            )),
            false => Ok(self.files),
        }
    }
}
