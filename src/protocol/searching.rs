//! Results of searches by text and by name.

use super::FileInfo;
use crate::search::matches::Matches;

/// The result of `grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// The matches.
    pub matches: Matches,
    /// Whether the search stopped early, so that there may be more matches.
    pub truncated: bool,
}

/// The result of `glob`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// The files, newest first.
    pub files: Vec<FileInfo>,
    /// Whether the search stopped early, so that there may be more files.
    pub truncated: bool,
}
