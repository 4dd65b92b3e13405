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

/// One line of [`Matches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which of `paths`.
    pub file: u32,
    /// The line's number, from 1.
    pub line: u32,
    /// Which of the texts.
    pub text: u32,
    /// What it is.
    pub kind: RowKind,
}

/// Bytes after which an answer takes no more, rows counted with their texts. Far beyond what any
/// reader wants, and below what would exhaust memory.
pub const MAX_ANSWER_BYTES: usize = 128 << 20;
/// What a row takes beside its text: here, in the packed reply and as a JavaScript object.
pub const ROW_BYTES: usize = 64;

/// What a search found, packed: texts one behind the other, a row a line, each path once. Fifty
/// thousand matches are four allocations, and cross into JavaScript as one buffer. Rows share
/// texts: a line shown as the context of several matches is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Files with matches, in order.
    pub paths: Vec<VPath>,
    /// All texts, one behind the other.
    pub text: Vec<u8>,
    /// Where each text ends in `text`; it begins where the one before ends.
    pub ends: Vec<u32>,
    /// The rows, in order of path, then line.
    pub rows: Vec<Row>,
    /// Whether something was left out for want of room.
    pub cut: bool,
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
        self.rows.iter().filter_map(move |row| {
            Some(MatchLine {
                path: self.paths.get(row.file as usize)?,
                line: row.line,
                text: self.text_at(row.text),
                kind: row.kind,
            })
        })
    }

    /// One of the texts.
    pub fn text_at(&self, text: u32) -> &[u8] {
        let text = text as usize;
        let end_of = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = text.checked_sub(1).map_or(0, end_of);
        self.text.get(start..end_of(text)).unwrap_or_default()
    }

    /// Every text, in order.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0usize;
        self.ends.iter().map(move |end| {
            let end = *end as usize;
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            text
        })
    }

    /// What the answer takes, about.
    pub fn cost(&self) -> usize {
        let rows = self.rows.len().saturating_mul(ROW_BYTES);
        self.text.len().saturating_add(rows)
    }

    /// Whether the answer has grown so large that nothing more may be added.
    pub fn is_full(&self) -> bool {
        self.cut || self.cost() >= MAX_ANSWER_BYTES
    }

    /// Puts the rows of one file behind the others. `rows` are those of `from`.
    pub fn append_file(&mut self, path: VPath, from: &Matches, rows: &[Row]) {
        self.paths.push(path);
        let file = index(self.paths.len().saturating_sub(1));
        // Within a file texts keep their order, and each was first shown by the row it came with.
        let first = rows.first().map_or(0, |row| row.text);
        let placed = index(self.ends.len());
        for row in rows {
            let text = row.text.saturating_sub(first).saturating_add(placed);
            if text as usize == self.ends.len() {
                self.add_text(from.text_at(row.text));
            }
            self.rows.push(Row { file, text, ..*row });
        }
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
        let paths = self.rows.last().map_or(0, |row| row.file as usize + 1);
        self.paths.truncate(paths);
        // Rows behind the last one that is kept may have shared its texts, and none before it.
        let texts = self
            .rows
            .iter()
            .rev()
            .take_while(|row| row.file as usize + 1 == paths)
            .map(|row| row.text as usize + 1)
            .max();
        self.ends.truncate(texts.unwrap_or(0));
        self.text
            .truncate(self.ends.last().map_or(0, |end| *end as usize));
    }

    /// Puts one row at the end; a path equal to the last one is not stored again.
    pub fn push(&mut self, path: &VPath, line: u32, text: &[u8], kind: RowKind) {
        if self.paths.last() != Some(path) {
            self.paths.push(path.clone());
        }
        let text = self.add_text(text);
        self.rows.push(Row {
            file: index(self.paths.len().saturating_sub(1)),
            line,
            text,
            kind,
        });
    }

    /// Puts a text at the end and tells its place.
    pub fn add_text(&mut self, text: &[u8]) -> u32 {
        self.text.extend_from_slice(text);
        self.ends.push(index(self.text.len()));
        index(self.ends.len().saturating_sub(1))
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
