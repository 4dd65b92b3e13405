//! Line starts of a file that was read up to some point: about one mark every 16 KiB. The list
//! grows as parts arrive, and stays small even for a file of gigabytes.

use crate::core::scan::newlines;

/// Minimum number of bytes between two marks.
const STEP: u64 = 16 * 1024;

/// The start of a line: its byte offset, and the number of lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub byte: u64,
    pub line: usize,
}

impl Mark {
    /// The start of the file.
    pub const FIRST: Mark = Mark { byte: 0, line: 0 };
}

/// Line starts of one version of a file.
#[derive(Debug)]
pub(super) struct Sparse {
    size: u64,
    marks: Vec<Mark>,
    /// The number of bytes counted from the start of the file, and the newlines in them.
    counted: u64,
    newlines: usize,
    /// Whether the counted bytes end inside a line.
    open: bool,
}

impl Sparse {
    /// A file of that size of which nothing is known yet.
    pub fn new(size: u64) -> Sparse {
        Sparse {
            size,
            marks: Vec::new(),
            counted: 0,
            newlines: 0,
            open: false,
        }
    }

    /// Adds bytes that begin at `at`. Bytes after a gap are ignored, since their line numbers are
    /// unknown; bytes that were already counted are not counted again.
    pub fn learn(&mut self, at: u64, body: &[u8]) {
        let fresh = self
            .counted
            .checked_sub(at)
            .and_then(|known| usize::try_from(known).ok())
            .and_then(|known| body.get(known..));
        let Some(fresh) = fresh.filter(|fresh| !fresh.is_empty()) else {
            return;
        };
        let mut rest = fresh;
        let mut base = self.counted;
        loop {
            let last = self.marks.last().map_or(0, |mark| mark.byte);
            // A line that starts there follows the newline one byte before.
            let wanted = last.saturating_add(STEP - 1).saturating_sub(base);
            let from = usize::try_from(wanted).unwrap_or(usize::MAX);
            let newline = rest
                .get(from..)
                .and_then(|tail| memchr::memchr(b'\n', tail));
            let Some(newline) = newline else { break };
            let (before, after) = rest.split_at(from + newline + 1);
            self.newlines += newlines(before);
            base = base.saturating_add(before.len() as u64);
            rest = after;
            self.marks.push(Mark {
                byte: base,
                line: self.newlines,
            });
        }
        self.newlines += newlines(rest);
        self.counted = self.counted.saturating_add(fresh.len() as u64);
        self.open = fresh.last() != Some(&b'\n');
    }

    /// The last mark at or before a line; the start of the file counts as a mark.
    pub fn nearest(&self, line: usize) -> Mark {
        let after = self.marks.partition_point(|mark| mark.line <= line);
        let mark = after.checked_sub(1).and_then(|at| self.marks.get(at));
        // No line starts at the end of the file.
        let inside = mark.filter(|mark| mark.byte < self.size);
        inside.copied().unwrap_or(Mark::FIRST)
    }

    /// The number of lines of the file, once all of it was counted.
    pub fn total(&self) -> Option<usize> {
        (self.counted == self.size).then_some(self.newlines + usize::from(self.open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_line_starts_a_step_apart() {
        let text = "some line or other\n".repeat(20_000);
        for part in [1000, 16 * 1024, 65_536, text.len()] {
            let mut lines = Sparse::new(text.len() as u64);
            for (at, piece) in text.as_bytes().chunks(part).enumerate() {
                assert_eq!(lines.total(), None);
                lines.learn((at * part) as u64, piece);
                // The same part again, or a part after a gap, changes nothing.
                lines.learn((at * part) as u64, piece);
                lines.learn((at * part + part + 7) as u64, piece);
            }
            assert_eq!(lines.total(), Some(20_000));
            assert_eq!(lines.marks.len(), text.len() / (16 * 1024 + 15));
            for wanted in [0, 1, 862, 863, 5000, 19_999] {
                let mark = lines.nearest(wanted);
                assert_eq!(mark.byte, mark.line as u64 * 19);
                assert!(mark.line <= wanted && wanted - mark.line <= 1726 / 2);
            }
        }
    }

    #[test]
    fn a_file_of_one_line_has_no_marks() {
        let mut lines = Sparse::new(100_000);
        lines.learn(0, &[b'x'; 100_000]);
        assert_eq!((lines.total(), lines.nearest(7)), (Some(1), Mark::FIRST));
    }

    #[test]
    fn no_line_starts_at_the_end() {
        let mut body = vec![b'x'; 20_000];
        body.push(b'\n');
        let mut lines = Sparse::new(20_001);
        lines.learn(0, &body);
        assert_eq!((lines.total(), lines.nearest(1)), (Some(1), Mark::FIRST));
    }
}
