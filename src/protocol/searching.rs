//! Searches by text and by name, and what they find.

use std::rc::Rc;

use super::FileInfo;
use crate::path::VPath;

/// What `grep` looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The text, or the regular expression.
    pub pattern: Rc<str>,
    /// The file or directory to look in.
    pub path: VPath,
    /// Which files, by name or by path below `path`.
    pub glob: Option<Rc<str>>,
    /// Stop after so many matches.
    pub max_count: Option<usize>,
    /// Stop in each file after so many matches.
    pub max_per_file: Option<usize>,
    /// Read `pattern` as a regular expression.
    pub regex: bool,
    /// Take capital and small letters as alike.
    pub ignore_case: bool,
    /// Lines to show before each match.
    pub before: usize,
    /// Lines to show after each match.
    pub after: usize,
}

impl GrepQuery {
    /// The plain question: this text, anywhere.
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
        }
    }
}

/// What a line of [`Matches`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// A line that matches.
    Match = 0,
    /// A line shown because the next match follows it.
    Before = 1,
    /// A line shown because the last match stands before it.
    After = 2,
}

/// One line of [`Matches`]; its text ends at `end` in `text`, and begins where the row before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which of `paths`.
    pub file: u32,
    /// The line's number, from 1.
    pub line: u32,
    /// Where its text ends.
    pub end: u32,
    /// What it is.
    pub kind: RowKind,
}

/// What a search found, packed: one text, a row a line, each path once. Fifty thousand matches
/// are three allocations, and cross into JavaScript as one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Files with matches, in order.
    pub paths: Vec<VPath>,
    /// The text of all rows, one behind the other.
    pub text: Vec<u8>,
    /// The rows, in order of path, then line.
    pub rows: Vec<Row>,
}

/// One match, unpacked for a reader's convenience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchLine<'a> {
    /// The file.
    pub path: &'a VPath,
    /// The line's number, from 1.
    pub line: u32,
    /// The line without its end, as stored.
    pub text: &'a [u8],
    /// What it is.
    pub kind: RowKind,
}

impl Matches {
    /// Every row with its text.
    pub fn iter(&self) -> impl Iterator<Item = MatchLine<'_>> {
        let mut start = 0usize;
        self.rows.iter().filter_map(move |row| {
            let end = row.end as usize;
            let text = self.text.get(start..end);
            start = end;
            Some(MatchLine {
                path: self.paths.get(row.file as usize)?,
                line: row.line,
                text: text?,
                kind: row.kind,
            })
        })
    }

    /// How many rows are matches (and not context).
    pub fn count(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| row.kind == RowKind::Match)
            .count()
    }

    /// Keeps the first `count` matches with their context, and drops the rest.
    pub fn keep_first(&mut self, count: usize) {
        let mut matches = self.rows.iter().enumerate();
        let next = matches
            .by_ref()
            .filter(|(_, row)| row.kind == RowKind::Match)
            .nth(count)
            .map(|(at, _)| at);
        let Some(mut cut) = next else { return };
        // The lines shown before the first match to go, go with it.
        while cut > 0
            && self
                .rows
                .get(cut - 1)
                .is_some_and(|row| row.kind == RowKind::Before)
        {
            cut -= 1;
        }
        self.rows.truncate(cut);
        let last = self.rows.last();
        self.text.truncate(last.map_or(0, |row| row.end as usize));
        self.paths
            .truncate(last.map_or(0, |row| row.file as usize + 1));
    }

    /// Puts one row at the end; a path equal to the last one is not stored again.
    pub fn push(&mut self, path: &VPath, line: u32, text: &[u8], kind: RowKind) {
        if self.paths.last() != Some(path) {
            self.paths.push(path.clone());
        }
        self.text.extend_from_slice(text);
        self.rows.push(Row {
            file: index(self.paths.len().saturating_sub(1)),
            line,
            end: index(self.text.len()),
            kind,
        });
    }
}

/// A place in a packed answer. Answers stay far below 4 GiB, which is all the memory there is.
pub fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What `grep` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// The matches.
    pub matches: Matches,
    /// Whether it stopped early, so that there may be more.
    pub truncated: bool,
}

/// What `glob` looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// The pattern, as given.
    pub pattern: Rc<str>,
    /// The directory it is relative to.
    pub path: VPath,
}

/// What `glob` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// The files, newest first.
    pub files: Vec<FileInfo>,
    /// Whether it stopped early, so that there may be more.
    pub truncated: bool,
}
