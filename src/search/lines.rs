//! Lines and pages. A page of a large file is found through a sparse index: the number of newlines
//! up to the end of each block of the text, counted with SIMD. A dense index would need more memory
//! than many files do; without an index, every page would scan up to twenty megabytes again.

use std::ops::Range;

use memchr::memchr_iter;

use super::matches::index;
use crate::core::scan;

/// Which lines `read` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of lines to skip.
    pub offset: usize,
    /// Maximum number of lines.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Page {
        Page {
            offset: 0,
            limit: 500,
        }
    }
}

/// Where a page is in its file. Absent for empty content and past the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of lines of the whole file; `None` if only a part of it was read.
    pub total_lines: Option<usize>,
    /// The first line of the page, from 1.
    pub start_line: usize,
    /// The last line of the page.
    pub end_line: usize,
    /// The offset of the next page; `None` at the end.
    pub next_offset: Option<usize>,
}

/// Block size in bytes: finding a line scans from the start of one block.
const BLOCK: usize = 4096;

/// A sparse index of line positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// Newlines from the start of the text to the end of each block.
    counts: Vec<u32>,
    newlines: usize,
    total: usize,
}

impl LineIndex {
    /// Scans the whole text once. Texts are always below four gigabytes, so counts fit in a `u32`.
    pub fn build(text: &[u8]) -> LineIndex {
        let mut counts = Vec::with_capacity(text.len().div_ceil(BLOCK));
        let mut newlines = 0usize;
        for block in text.chunks(BLOCK) {
            newlines += scan::newlines(block);
            counts.push(index(newlines));
        }
        let open = !text.is_empty() && text.last() != Some(&b'\n');
        LineIndex {
            counts,
            newlines,
            total: newlines + usize::from(open),
        }
    }

    /// Number of lines: a final `\n` ends the last line and does not start another.
    pub fn total_lines(&self) -> usize {
        self.total
    }

    /// Size of the index in bytes.
    pub fn memory(&self) -> usize {
        size_of::<LineIndex>() + self.counts.capacity() * size_of::<u32>()
    }

    /// Where a line (from 0) starts; `None` past the last `\n`.
    fn start_of(&self, text: &[u8], line: usize) -> Option<usize> {
        if line == 0 {
            return Some(0);
        }
        if line > self.newlines {
            return None;
        }
        // The line begins after the newline with that number, which is in the first block whose
        // count reaches it.
        let block = self
            .counts
            .partition_point(|count| (*count as usize) < line);
        let before = match block.checked_sub(1) {
            Some(at) => *self.counts.get(at)? as usize,
            None => 0,
        };
        let base = block * BLOCK;
        let found = memchr_iter(b'\n', text.get(base..)?).nth(line - before - 1)?;
        Some(base + found + 1)
    }
}

/// A page: its byte range and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged {
    /// The byte range of the page in the text.
    pub range: Range<usize>,
    /// Where the page is; absent if it is empty.
    pub position: Option<Position>,
}

/// Finds a page in the text that `index` was built from. Pages are cut between `\n`: the page that
/// reaches the end includes the final `\n`, no other page ends with one.
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
    use proptest::prelude::*;

    use super::*;
    use crate::core::testing::cases;

    /// The naive twin: split, slice, join.
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
        for line in [
            "",
            "x",
            "a line of sixty-three characters; the newline makes it 64......",
        ] {
            for count in [63, 64, 65, 2047, 2048, 2049, 4095, 4096, 4097, 9000] {
                let open = vec![line; count].join("\n");
                let closed = format!("{open}\n");
                for text in [&open, &closed] {
                    for offset in [0, 1, 62, 63, 64, 65, 2047, 2048, 4095, 4096, 8999, 9000] {
                        for limit in [0, 1, 2, 63, 64, 4096, 5000, usize::MAX] {
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
        #![proptest_config(cases(256))]

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
