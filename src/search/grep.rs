//! Lines that match. A literal is sought over the whole body at once, in `seek`, and line numbers
//! are counted only up to hits; an expression is asked line by line, in `pattern`. Which files to
//! search, and in what order, is the caller's business.
//!
//! Lines are what lies between `\n`: a text that ends with `\n` has an empty last line, which the
//! empty pattern matches, as recorded in the vectors.

mod fold;
mod needles;
mod pattern;
mod seek;

use memchr::{memchr, memchr_iter, memrchr};

use super::scan;
use crate::error::Result;
use crate::file::Texture;
use crate::path::VPath;
use crate::protocol::{GrepQuery, Matches, Row, RowKind, index};

use fold::Folded;
use pattern::LineRegex;
use seek::{AnyCase, Seeker};

/// Bytes of text after which an answer takes no more. Far beyond what any reader wants, and
/// below what would exhaust memory.
pub const MAX_ANSWER_BYTES: usize = 256 << 20;

/// A query made ready to run over many bodies.
pub struct Matcher {
    engine: Engine,
    max_per_file: usize,
    before: usize,
    after: usize,
}

enum Engine {
    /// No line can match.
    Nothing,
    /// Every line matches.
    Everything,
    Literal {
        seeker: Seeker,
        ascii: bool,
    },
    Folded(Folded),
    Regex(Box<LineRegex>),
}

impl Matcher {
    /// Reads the query's pattern; an invalid regular expression is refused.
    pub fn new(query: &GrepQuery) -> Result<Matcher> {
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
            }
        };
        Ok(Matcher {
            engine,
            max_per_file: query.max_per_file.unwrap_or(usize::MAX),
            before: query.before,
            after: query.after,
        })
    }

    /// Bytes that every file with a match contains, where that is known.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.engine {
            Engine::Literal {
                seeker: Seeker::Exact(finder),
                ..
            } => Some(finder.needle()),
            _ => None,
        }
    }

    /// Whether an answer has grown so large that [`Matcher::search`] adds nothing more to it. A
    /// caller stops then, and says that it is truncated.
    pub fn is_full(out: &Matches) -> bool {
        out.text.len() >= MAX_ANSWER_BYTES
    }

    /// Puts the matching lines of one body behind `out`, at most `budget` of them, and tells how
    /// many. Each match stands between its own context: a line in the reach of two matches is
    /// shown for both, and a matching line may also be another's context.
    pub fn search(
        &self,
        path: &VPath,
        body: &[u8],
        texture: Texture,
        budget: usize,
        out: &mut Matches,
    ) -> usize {
        let budget = budget.min(self.max_per_file);
        if budget == 0 || !texture.is_text() {
            return 0;
        }
        let mut sink = Sink {
            matcher: self,
            path,
            body,
            out,
            file: None,
            left: budget,
            line: 1,
            counted: 0,
        };
        match &self.engine {
            Engine::Nothing => {}
            Engine::Everything => sink.run(Some),
            Engine::Literal { ascii, .. } if !ascii && texture == Texture::Ascii => {}
            Engine::Literal { seeker, .. } => sink.run(|from| seeker.find(body, from)),
            Engine::Folded(text) if text.is_wide() && texture == Texture::Ascii => {}
            Engine::Folded(text) => sink.run(text.hits(body)),
            Engine::Regex(regex) => sink.run(regex.hits(body)),
        }
        budget.saturating_sub(sink.left)
    }
}

/// Takes hits in one body and writes their rows.
struct Sink<'a> {
    matcher: &'a Matcher,
    path: &'a VPath,
    body: &'a [u8],
    out: &'a mut Matches,
    /// This path's place among those of `out`, once it has a row.
    file: Option<u32>,
    left: usize,
    /// The line that starts at `counted`.
    line: usize,
    counted: usize,
}

impl Sink<'_> {
    /// Asks for one hit after another, each from the start of the line behind the last. A hit is
    /// any place within a line that matches.
    fn run(&mut self, mut next: impl FnMut(usize) -> Option<usize>) {
        let mut from = 0usize;
        while let Some(hit) = next(from) {
            let gap = self.body.get(from..hit).unwrap_or_default();
            let start = match memrchr(b'\n', gap) {
                Some(place) => from + place + 1,
                None => from,
            };
            let end = self.line_end(hit);
            let skipped = self.body.get(self.counted..start).unwrap_or_default();
            self.line += scan::newlines(skipped);
            self.counted = start;
            self.take(start, end);
            self.left = self.left.saturating_sub(1);
            if self.left == 0 || end >= self.body.len() || Matcher::is_full(self.out) {
                return;
            }
            from = end + 1;
        }
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.body.get(from..).unwrap_or_default();
        memchr(b'\n', rest).map_or(self.body.len(), |place| from + place)
    }

    fn take(&mut self, start: usize, end: usize) {
        if self.matcher.before > 0 {
            self.take_before(start);
        }
        self.row(self.line, start, end, RowKind::Match);
        if self.matcher.after > 0 {
            self.take_after(end);
        }
    }

    fn take_before(&mut self, start: usize) {
        let Some(above) = start.checked_sub(1).and_then(|at| self.body.get(..at)) else {
            return;
        };
        // `above` ends where the line before the match ends.
        let wanted = self.matcher.before.min(self.line - 1);
        let mut first = 0usize;
        let mut rest = above;
        let mut found = 0usize;
        while found < wanted {
            found += 1;
            match memrchr(b'\n', rest) {
                Some(place) => {
                    first = place + 1;
                    rest = rest.get(..place).unwrap_or_default();
                }
                None => {
                    first = 0;
                    break;
                }
            }
        }
        let mut line = self.line - found;
        let mut from = first;
        let shown = above.get(first..).unwrap_or_default();
        for place in memchr_iter(b'\n', shown).map(|place| first + place) {
            self.row(line, from, place, RowKind::Before);
            line += 1;
            from = place + 1;
        }
        self.row(line, from, above.len(), RowKind::Before);
    }

    fn take_after(&mut self, end: usize) {
        let mut line = self.line;
        let mut end = end;
        for _ in 0..self.matcher.after {
            if end >= self.body.len() {
                return;
            }
            let start = end + 1;
            end = self.line_end(start);
            line += 1;
            self.row(line, start, end, RowKind::After);
        }
    }

    fn row(&mut self, line: usize, start: usize, end: usize, kind: RowKind) {
        let file = match self.file {
            Some(file) => file,
            None => {
                if self.out.paths.last() != Some(self.path) {
                    self.out.paths.push(self.path.clone());
                }
                *self
                    .file
                    .insert(index(self.out.paths.len().saturating_sub(1)))
            }
        };
        let text = self.body.get(start..end).unwrap_or_default();
        self.out.text.extend_from_slice(text);
        self.out.rows.push(Row {
            file,
            line: index(line),
            end: index(self.out.text.len()),
            kind,
        });
    }
}

#[cfg(test)]
mod tests;
