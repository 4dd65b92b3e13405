//! Finds lines that match. A literal is searched in the whole body at once, in `seek`, and line
//! numbers are counted only up to hits; a regular expression is matched line by line, in `lines`.
//! The caller decides which files to search, and in what order.
//!
//! Lines end with `\n`, and what is behind the last one is a line only if there is something. The
//! empty literal alone matches there too, as in the recorded test vectors.

mod fold;
mod lines;
mod seek;

use memchr::{memchr, memrchr};

use super::alike;
use super::matches::{MAX_ANSWER_BYTES, Matches, ROW_BYTES, Row, RowKind, index};
use super::patience::Patience;
use super::query::GrepQuery;
use crate::core::error::{Error, Result};
use crate::core::file::Texture;
use crate::core::path::VPath;
use crate::core::scan;

use fold::Folded;
use lines::LineRegex;
use seek::{AnyCase, Seeker};

pub use seek::rarity;

/// Bytes that a literal search scans in the time of one step of the other engines.
const FAST: usize = 8;

/// A compiled query, which can search many bodies.
pub struct Matcher {
    engine: Engine,
    max_per_file: usize,
    before: usize,
    after: usize,
    patience: Patience,
}

enum Engine {
    /// No line can match.
    Nothing,
    /// Every line matches.
    Everything,
    Literal {
        seeker: Seeker,
        ascii: bool,
        /// Finds the text where other characters count as its letters `k` or `s`.
        kin: Option<Folded>,
    },
    Folded(Folded),
    Regex(Box<LineRegex>),
}

impl Matcher {
    /// Compiles the query's pattern; refuses an invalid or too large regular expression. When the
    /// time limit in `patience` is reached, the search finds nothing more.
    pub fn new(query: &GrepQuery, patience: Patience) -> Result<Matcher> {
        let pattern = &*query.pattern;
        let engine = if query.regex {
            Engine::Regex(Box::new(LineRegex::new(pattern, query.ignore_case)?))
        } else if pattern.contains('\n') {
            Engine::Nothing
        } else if pattern.is_empty() {
            Engine::Everything
        } else if query.ignore_case && !pattern.is_ascii() {
            Engine::Folded(Folded::new(pattern))
        } else {
            let bytes = pattern.as_bytes();
            Engine::Literal {
                seeker: match query.ignore_case {
                    true => Seeker::AnyCase(AnyCase::new(bytes)),
                    false => Seeker::exact(bytes),
                },
                ascii: pattern.is_ascii(),
                kin: (query.ignore_case && pattern.bytes().any(alike::has_kin))
                    .then(|| Folded::new(pattern)),
            }
        };
        Ok(Matcher {
            engine,
            max_per_file: query.max_per_file.unwrap_or(usize::MAX),
            before: query.before,
            after: query.after,
            patience,
        })
    }

    /// The error if the search was stopped early; its results are then incomplete.
    pub fn over(&self) -> Option<Error> {
        let unsure = match &self.engine {
            Engine::Regex(regex) => regex.over(),
            _ => None,
        };
        unsure.or_else(|| self.patience.over())
    }

    /// Bytes that every file with a match contains, if known.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.engine {
            Engine::Literal {
                seeker: Seeker::Exact(finder),
                ..
            } => Some(finder.needle()),
            _ => None,
        }
    }

    /// Texts of which every file with a match contains at least one, in any case of ASCII letters; empty
    /// if they are not known.
    pub fn texts(&self) -> Vec<&[u8]> {
        match &self.engine {
            Engine::Literal {
                seeker, kin: None, ..
            } => vec![seeker.text()],
            Engine::Literal { seeker, .. } => {
                let parts = seeker.text().split(|byte| alike::has_kin(*byte));
                let longest = parts.max_by_key(|part| part.len());
                longest
                    .filter(|part| !part.is_empty())
                    .into_iter()
                    .collect()
            }
            Engine::Regex(regex) => regex.texts(),
            _ => Vec::new(),
        }
    }

    /// Begins the search of one body.
    pub fn begin(&self, budget: usize) -> Progress {
        Progress {
            from: 0,
            left: budget.min(self.max_per_file),
            file: None,
            line: 1,
            counted: 0,
            stored: None,
        }
    }

    /// Appends the matching lines of one body to `out`, as many as `progress` allows. Each match
    /// has its own context: a line within reach of two matches is returned for both (and stored
    /// once), and a matching line may also be context of another one. When `out` is full, context
    /// is cut and nothing more is added; the caller then stops and marks the result as truncated.
    ///
    /// Returns whether the search of this body is finished. If it is not, a pause is due: after
    /// [`Patience::resume`] the search goes on where it stopped. Meanwhile nothing else may be
    /// appended to `out`.
    pub fn search(
        &self,
        path: &VPath,
        body: &[u8],
        texture: Texture,
        progress: &mut Progress,
        out: &mut Matches,
    ) -> bool {
        if progress.left == 0 || !texture.is_text() {
            return true;
        }
        if progress.from == 0 {
            self.patience.covers(body.len());
            if !self.patience.worked(body.len() / FAST) {
                return true;
            }
        }
        let before = out.rows.len();
        let done = self.search_lines(path, body, texture, progress, out);
        self.patience.found(out.rows.len().saturating_sub(before));
        done
    }

    fn search_lines(
        &self,
        path: &VPath,
        body: &[u8],
        texture: Texture,
        progress: &mut Progress,
        out: &mut Matches,
    ) -> bool {
        let divides = self.patience.divides(body.len());
        let mut sink = Sink {
            matcher: self,
            path,
            body,
            out,
            at: progress,
        };
        match &self.engine {
            Engine::Nothing => {}
            Engine::Everything => {
                return sink
                    .in_segments(divides, &mut |part, sink| sink.run(part.len(), &mut Some));
            }
            Engine::Literal { ascii, .. } if !ascii && texture == Texture::Ascii => {}
            Engine::Literal {
                seeker,
                kin: Some(text),
                ..
            } if texture != Texture::Ascii => {
                return sink.in_segments(true, &mut |part, sink| match alike::has_relative(
                    part.get(sink.at.from..).unwrap_or_default(),
                ) {
                    true => sink.run(part.len(), &mut text.hits(part, &self.patience)),
                    false => sink.run(part.len(), &mut |from| seeker.find(part, from)),
                });
            }
            Engine::Literal { seeker, .. } => {
                return sink.in_segments(divides, &mut |part, sink| {
                    sink.run(part.len(), &mut |from| seeker.find(part, from))
                });
            }
            Engine::Folded(text) if text.is_wide() && texture == Texture::Ascii => {}
            Engine::Folded(text) => {
                return sink.in_segments(true, &mut |part, sink| {
                    sink.run(part.len(), &mut text.hits(part, &self.patience))
                });
            }
            Engine::Regex(regex) => {
                return sink.in_segments(true, &mut |part, sink| {
                    sink.run(part.len(), &mut regex.hits(part, &self.patience))
                });
            }
        }
        true
    }

    /// The same for one body from its start to its end. Returns how many matches were added.
    #[cfg(test)]
    pub fn search_whole(
        &self,
        path: &VPath,
        body: &[u8],
        texture: Texture,
        budget: usize,
        out: &mut Matches,
    ) -> usize {
        let mut progress = self.begin(budget);
        let before = progress.left();
        while !self.search(path, body, texture, &mut progress, out) {
            self.patience.resume();
        }
        before - progress.left()
    }

    /// The time limit and the pauses of this search.
    pub fn patience(&self) -> &Patience {
        &self.patience
    }
}

/// How far the search of one body has come.
#[derive(Clone, Copy)]
pub struct Progress {
    /// The start of the line to go on with.
    from: usize,
    /// How many matches may still be added.
    left: usize,
    /// Index of the path in the result, once it has a row.
    file: Option<u32>,
    /// The line that starts at `counted`.
    line: usize,
    counted: usize,
    stored: Option<Stored>,
}

impl Progress {
    /// How many matches may still be added.
    pub fn left(&self) -> usize {
        self.left
    }
}

/// Receives the hits in one body and appends their rows.
struct Sink<'a> {
    matcher: &'a Matcher,
    path: &'a VPath,
    body: &'a [u8],
    out: &'a mut Matches,
    at: &'a mut Progress,
}

/// The last line of this body whose text was stored. The lines above it were stored before it, as
/// far up as the context of any later match can reach.
#[derive(Clone, Copy)]
struct Stored {
    line: usize,
    end: usize,
    text: u32,
}

impl Sink<'_> {
    /// Searches whole lines, so many at a time that a pause is not late, or all of them at once.
    /// Returns whether the body is finished.
    fn in_segments(
        &mut self,
        divides: bool,
        search: &mut dyn FnMut(&[u8], &mut Self) -> bool,
    ) -> bool {
        if !divides {
            search(self.body, self);
            return true;
        }
        loop {
            let patience = &self.matcher.patience;
            let start = self.at.from;
            let least = start
                .saturating_add(patience.segment())
                .min(self.body.len());
            let until = self.line_end(least);
            let part = self.body.get(..until).unwrap_or_default();
            patience.begin();
            let more = search(part, self);
            patience.end(until.saturating_sub(start));
            if !more || until >= self.body.len() || self.matcher.over().is_some() {
                return true;
            }
            self.at.from = until + 1;
            if patience.is_pause_due() {
                return false;
            }
        }
    }

    /// Calls `next` for one hit after another, each time from the start of the line after the last
    /// hit, up to the line that ends at `until`. A hit is any position within a matching line.
    /// Returns whether to search on behind `until`.
    fn run(&mut self, until: usize, next: &mut dyn FnMut(usize) -> Option<usize>) -> bool {
        while let Some(hit) = next(self.at.from) {
            let from = self.at.from;
            let gap = self.body.get(from..hit).unwrap_or_default();
            let start = match memrchr(b'\n', gap) {
                Some(place) => from + place + 1,
                None => from,
            };
            // Behind a final line feed is no line.
            if start >= self.body.len() && !matches!(self.matcher.engine, Engine::Everything) {
                break;
            }
            let end = self.line_end(hit);
            let skipped = self.body.get(self.at.counted..start).unwrap_or_default();
            self.at.line += scan::newlines(skipped);
            self.at.counted = start;
            self.take(start, end);
            self.at.left = self.at.left.saturating_sub(1);
            if self.at.left == 0 || self.out.is_full() {
                return false;
            }
            if end >= until {
                break;
            }
            self.at.from = end + 1;
        }
        true
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.body.get(from..).unwrap_or_default();
        memchr(b'\n', rest).map_or(self.body.len(), |place| from + place)
    }

    /// How many context rows fit on one side of a match, after the match itself.
    fn room(&self) -> usize {
        let left = MAX_ANSWER_BYTES.saturating_sub(self.out.cost());
        (left / ROW_BYTES).saturating_sub(1)
    }

    fn take(&mut self, start: usize, end: usize) {
        if end.saturating_sub(start) > MAX_ANSWER_BYTES {
            self.out.cut = true;
            return;
        }
        let before = self.matcher.before.min(self.at.line - 1).min(self.room());
        if before > 0 {
            self.take_before(start, before);
        }
        let text = self.text_of(self.at.line, start, end);
        self.row(self.at.line, text, RowKind::Match);
        if self.matcher.after > 0 {
            self.take_after(end);
        }
    }

    /// Appends the `wanted` lines above the one that begins at `start`.
    fn take_before(&mut self, start: usize, wanted: usize) {
        let mut first = self.at.line - wanted;
        if let Some(stored) = self.at.stored {
            for line in first..self.at.line.min(stored.line.saturating_add(1)) {
                let above = index(stored.line - line);
                self.row(line, stored.text.saturating_sub(above), RowKind::Before);
            }
            first = first.max(stored.line.saturating_add(1));
        }
        let Some(above) = start.checked_sub(1).and_then(|at| self.body.get(..at)) else {
            return;
        };
        // `above` ends where the line before the match ends. Walks up over lines that are not
        // stored yet, as many as there is space for.
        let room = MAX_ANSWER_BYTES.saturating_sub(self.out.cost());
        let mut from = above.len();
        let mut lines = 0usize;
        while lines < self.at.line.saturating_sub(first) {
            let rest = above.get(..from).unwrap_or_default();
            let begin = memrchr(b'\n', rest).map_or(0, |place| place + 1);
            if above.len() - begin > room {
                self.out.cut = true;
                break;
            }
            lines += 1;
            // Excludes the newline before this line from the next search.
            from = begin.saturating_sub(1);
            if begin == 0 {
                break;
            }
        }
        let mut begin = match lines {
            0 => return,
            _ if self.at.line == lines + 1 => 0,
            _ => from + 1,
        };
        for line in self.at.line - lines..self.at.line {
            let end = self.line_end(begin).min(above.len());
            let text = self.text_of(line, begin, end);
            self.row(line, text, RowKind::Before);
            begin = end + 1;
        }
    }

    fn take_after(&mut self, end: usize) {
        let mut line = self.at.line;
        let mut end = end;
        while line - self.at.line < self.matcher.after && !self.out.is_full() {
            line += 1;
            match self.at.stored {
                Some(stored) if stored.line >= line => {
                    let above = index(stored.line - line);
                    self.row(line, stored.text.saturating_sub(above), RowKind::After);
                    end = stored.end;
                }
                _ => {
                    let start = end.saturating_add(1);
                    if start >= self.body.len() {
                        return;
                    }
                    end = self.line_end(start);
                    if end - start > MAX_ANSWER_BYTES {
                        self.out.cut = true;
                        return;
                    }
                    let text = self.text_of(line, start, end);
                    self.row(line, text, RowKind::After);
                }
            }
        }
    }

    /// The text of a line; stored unless it is already.
    fn text_of(&mut self, line: usize, start: usize, end: usize) -> u32 {
        if let Some(stored) = self.at.stored
            && line <= stored.line
        {
            return stored.text.saturating_sub(index(stored.line - line));
        }
        let text = self.body.get(start..end).unwrap_or_default();
        let text = self.out.add_text(text);
        self.at.stored = Some(Stored { line, end, text });
        text
    }

    fn row(&mut self, line: usize, text: u32, kind: RowKind) {
        let file = match self.at.file {
            Some(file) => file,
            None => {
                if self.out.paths.last() != Some(self.path) {
                    self.out.paths.push(self.path.clone());
                }
                *self
                    .at
                    .file
                    .insert(index(self.out.paths.len().saturating_sub(1)))
            }
        };
        self.out.rows.push(Row {
            file,
            line: index(line),
            text,
            kind,
        });
    }
}

#[cfg(test)]
mod tests;
