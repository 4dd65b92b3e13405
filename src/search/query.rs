//! The arguments of searches.

use std::rc::Rc;

use super::sieve::Sieve;
use crate::core::path::VPath;

/// The arguments of `grep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The text, or the regular expression.
    pub pattern: Rc<str>,
    /// The file or directory to search.
    pub path: VPath,
    /// Which files, by name or by path below `path`.
    pub glob: Option<Rc<str>>,
    /// Stop after this many matches.
    pub max_count: Option<usize>,
    /// Stop in each file after this many matches.
    pub max_per_file: Option<usize>,
    /// Treat `pattern` as a regular expression.
    pub regex: bool,
    /// Ignore case.
    pub ignore_case: bool,
    /// Lines to show before each match.
    pub before: usize,
    /// Lines to show after each match.
    pub after: usize,
    /// Whether the result tells how many files were searched, where an index knows that.
    pub stats: bool,
    /// Which files to leave out.
    pub sieve: Option<Sieve>,
}

impl GrepQuery {
    /// A plain search: this text, in all files.
    pub fn literal(pattern: &str) -> GrepQuery {
        GrepQuery {
            pattern: Rc::from(pattern),
            path: VPath::root(),
            glob: None,
            max_count: None,
            max_per_file: None,
            regex: false,
            ignore_case: false,
            before: 0,
            after: 0,
            stats: false,
            sieve: None,
        }
    }
}

/// The arguments of `glob`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// The pattern, as given.
    pub pattern: Rc<str>,
    /// The directory it is relative to.
    pub path: VPath,
    /// Whether the files may come in any order, because the caller sorts them by path. Most backends have them in
    /// that order before they sort them by time.
    pub in_any_order: bool,
}

impl GlobQuery {
    /// The files of a pattern in a directory, newest first.
    pub fn new(pattern: impl Into<Rc<str>>, path: VPath) -> GlobQuery {
        GlobQuery {
            pattern: pattern.into(),
            path,
            in_any_order: false,
        }
    }

    /// Every file below a directory.
    pub fn all(dir: &VPath) -> GlobQuery {
        GlobQuery::new("**", dir.clone())
    }
}
