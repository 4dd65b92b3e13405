//! Lines that were found, packed.

use crate::core::path::VPath;

/// What a line of [`Matches`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// A line that matches.
    Match = 0,
    /// A context line before the next match.
    Before = 1,
    /// A context line after the previous match.
    After = 2,
}

/// One line of [`Matches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index into `paths`.
    pub file: u32,
    /// The line's number, from 1.
    pub line: u32,
    /// Index of the text.
    pub text: u32,
    /// What it is.
    pub kind: RowKind,
}

/// Size limit of a result in bytes, rows and texts together. Far more than any reader needs, and
/// less than what would exhaust memory.
pub const MAX_ANSWER_BYTES: usize = 128 << 20;
/// Cost of a row besides its text: here, in the packed reply and as a JavaScript object.
pub const ROW_BYTES: usize = 64;

/// The matches of a search, packed: all texts in one buffer, one row per line, each path once.
/// Fifty thousand matches are four allocations, and cross into JavaScript as one buffer. Rows share
/// texts: a line that is context of several matches is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Files with matches, in order.
    pub paths: Vec<VPath>,
    /// All texts, concatenated.
    pub text: Vec<u8>,
    /// Where each text ends in `text`; it begins where the previous one ends.
    pub ends: Vec<u32>,
    /// The rows, ordered by path, then line.
    pub rows: Vec<Row>,
    /// Whether something was left out because of the size limit.
    pub cut: bool,
}

/// One unpacked match, for convenience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchLine<'a> {
    /// The file.
    pub path: &'a VPath,
    /// The line's number, from 1.
    pub line: u32,
    /// The line without its line ending, as stored.
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

    /// Approximate size of the result in bytes.
    pub fn cost(&self) -> usize {
        let rows = self.rows.len().saturating_mul(ROW_BYTES);
        self.text.len().saturating_add(rows)
    }

    /// Whether the size limit is reached, so that nothing more may be added.
    pub fn is_full(&self) -> bool {
        self.cut || self.cost() >= MAX_ANSWER_BYTES
    }

    /// Appends the rows of one file. `rows` are rows of `from`.
    pub fn append_file(&mut self, path: VPath, from: &Matches, rows: &[Row]) {
        self.paths.push(path);
        let file = index(self.paths.len().saturating_sub(1));
        // Within a file texts keep their order, and the row that came with a text is its first use.
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

    /// Keeps at most `most`, the first ones, if there is a limit; whether any was left out.
    pub fn cap(&mut self, most: Option<usize>) -> bool {
        match most {
            Some(most) if self.count() > most => {
                self.keep_first(most);
                true
            }
            _ => false,
        }
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
        // The context lines before the first dropped match are dropped too.
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
        // Dropped rows may share texts with the kept rows of the last file, but not with earlier
        // files.
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

    /// Appends one row; a path equal to the last one is not stored again.
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

    /// Appends a text and returns its index.
    pub fn add_text(&mut self, text: &[u8]) -> u32 {
        self.text.extend_from_slice(text);
        self.ends.push(index(self.text.len()));
        index(self.ends.len().saturating_sub(1))
    }
}

/// An index in a packed result. Results stay far below 4 GiB, the maximum memory of wasm32.
pub fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
