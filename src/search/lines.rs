//! Lines and pages. A page of a large file is found through a sparse index: the total, and where
//! every 256th line starts, counted block by block with SIMD. A dense index would cost more
//! memory than many a file; none at all would read twenty megabytes again for every page.

use std::ops::Range;

use memchr::memchr_iter;

use crate::protocol::{Page, Position};

/// Lines between two noted starts.
const STRIDE: usize = 256;
/// Bytes counted at once, and the finer step around a start to note.
const BLOCK: usize = 2048;
const FINE: usize = 256;

/// How many newlines `bytes` hold.
pub(super) fn count_newlines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// Where lines start, sparsely, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// Where line 256, 512, … (from 0) starts.
    starts: Vec<usize>,
    newlines: usize,
    total: usize,
}

impl LineIndex {
    /// Reads the whole text once.
    pub fn build(text: &[u8]) -> LineIndex {
        let mut starts = Vec::new();
        let mut newlines = 0usize;
        let mut base = 0usize;
        for block in text.chunks(BLOCK) {
            let inside = count_newlines(block);
            if newlines % STRIDE + inside >= STRIDE {
                let mut seen = newlines;
                let mut at = base;
                for fine in block.chunks(FINE) {
                    let here = count_newlines(fine);
                    if seen % STRIDE + here >= STRIDE {
                        let skip = STRIDE - seen % STRIDE - 1;
                        let places = memchr_iter(b'\n', fine).skip(skip).step_by(STRIDE);
                        starts.extend(places.map(|place| at + place + 1));
                    }
                    seen += here;
                    at += fine.len();
                }
            }
            newlines += inside;
            base += block.len();
        }
        let open = !text.is_empty() && text.last() != Some(&b'\n');
        LineIndex {
            starts,
            newlines,
            total: newlines + usize::from(open),
        }
    }

    /// Lines of the text: a final `\n` ends the last line and starts none.
    pub fn total_lines(&self) -> usize {
        self.total
    }

    /// Bytes that the index itself takes.
    pub fn memory(&self) -> usize {
        size_of::<LineIndex>() + self.starts.capacity() * size_of::<usize>()
    }

    /// Where a line (from 0) starts; `None` past the last `\n`.
    fn start_of(&self, text: &[u8], line: usize) -> Option<usize> {
        if line > self.newlines {
            return None;
        }
        let noted = match (line / STRIDE).checked_sub(1) {
            Some(at) => *self.starts.get(at)?,
            None => 0,
        };
        match (line % STRIDE).checked_sub(1) {
            None => Some(noted),
            Some(skip) => {
                let found = memchr_iter(b'\n', text.get(noted..)?).nth(skip)?;
                Some(noted + found + 1)
            }
        }
    }
}

/// A page: which bytes to show, and where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged {
    /// The bytes of the text that the page shows.
    pub range: Range<usize>,
    /// Where it stands; absent where nothing is shown.
    pub position: Option<Position>,
}

/// Finds a page in the text that `index` was built from. Pages are cut between `\n`, so that the
/// page that reaches the end has the final `\n`, and no other page has one.
pub fn page(text: &[u8], page: Page, index: &LineIndex) -> Paged {
    let total = index.total_lines();
    let nothing = Paged {
        range: 0..0,
        position: None,
    };
    if page.limit == 0 || page.offset >= total {
        return nothing;
    }
    let Some(start) = index.start_of(text, page.offset) else {
        return nothing;
    };
    let until = page.offset.saturating_add(page.limit);
    let end = match index.start_of(text, until) {
        Some(next) => next.saturating_sub(1),
        None => text.len(),
    };
    let end_line = until.min(total);
    Paged {
        range: start..end,
        position: Some(Position {
            total_lines: Some(total),
            start_line: page.offset + 1,
            end_line,
            next_offset: (end_line < total).then_some(end_line),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The twin: split, slice, join.
    fn naive(text: &str, offset: usize, limit: usize) -> (String, Option<Position>) {
        let lines: Vec<&str> = text.split('\n').collect();
        let total = match text {
            "" => 0,
            _ => lines.len() - usize::from(text.ends_with('\n')),
        };
        if limit == 0 || offset >= total {
            return (String::new(), None);
        }
        let until = offset.saturating_add(limit);
        let shown = lines[offset..until.min(lines.len())].join("\n");
        let end_line = until.min(total);
        let position = Position {
            total_lines: Some(total),
            start_line: offset + 1,
            end_line,
            next_offset: (end_line < total).then_some(end_line),
        };
        (shown, Some(position))
    }

    fn check(text: &str, offset: usize, limit: usize) {
        let index = LineIndex::build(text.as_bytes());
        let paged = page(text.as_bytes(), Page { offset, limit }, &index);
        let shown = text[paged.range].to_owned();
        let expected = naive(text, offset, limit);
        assert!(
            (&shown, &paged.position) == (&expected.0, &expected.1),
            "offset {offset}, limit {limit} of {} bytes",
            text.len()
        );
    }

    #[test]
    fn lines_at_the_seams_of_the_index_are_found() {
        for line in ["", "x", "a longer line of some forty characters....\r"] {
            for count in [255, 256, 257, 511, 512, 513, 2000, 9000] {
                let open = vec![line; count].join("\n");
                let closed = format!("{open}\n");
                for text in [&open, &closed] {
                    for offset in [0, 1, 254, 255, 256, 257, 511, 512, 1999, 8999, 9000] {
                        for limit in [0, 1, 2, 255, 256, 257, 5000, usize::MAX] {
                            check(text, offset, limit);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_index_is_small() {
        let text = "some line or other\n".repeat(100_000);
        let index = LineIndex::build(text.as_bytes());
        assert_eq!(index.total_lines(), 100_000);
        assert!(index.memory() < 10_000, "{}", index.memory());
    }

    proptest! {
        #[test]
        fn a_page_is_what_splitting_gives(
            text in "[a\u{e9}\r\n\n]{0,2000}",
            offset in 0usize..1200,
            limit in 0usize..600,
        ) {
            check(&text, offset, limit);
        }

        #[test]
        fn pages_read_on_cover_the_whole_text(text in "[ab\n\n]{1,3000}", limit in 1usize..300) {
            let index = LineIndex::build(text.as_bytes());
            let mut whole = Vec::new();
            let mut offset = Some(0);
            while let Some(at) = offset {
                let paged = page(text.as_bytes(), Page { offset: at, limit }, &index);
                whole.push(text[paged.range].to_owned());
                offset = paged.position.and_then(|position| position.next_offset);
            }
            let joined = whole.join("\n");
            prop_assert_eq!(joined.trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
    }
}
