//! Differences of two texts by lines. A line includes its line feed, so a missing one at the end is a
//! difference too.

use std::ops::Range;

use crate::search::diff;
pub use crate::search::diff::{Piece, lines_of};
pub use crate::search::merge::{is_text, merge};

/// Where two texts differ.
pub fn pieces(before: &[u8], after: &[u8]) -> Vec<Piece> {
    diff::pieces(&lines_of(before), &lines_of(after))
}

/// Some lines of a text.
pub fn part<'a, 'b>(lines: &'b [&'a [u8]], range: &Range<usize>) -> &'b [&'a [u8]] {
    lines.get(range.clone()).unwrap_or_default()
}

/// The text before, with some of the pieces applied.
pub fn with_pieces(before: &[u8], after: &[u8], chosen: &[Piece]) -> Vec<u8> {
    let (old, new) = (lines_of(before), lines_of(after));
    let mut out: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    for piece in chosen {
        out.extend(part(&old, &(at..piece.before.start)));
        out.extend(part(&new, &piece.after));
        at = piece.before.end;
    }
    out.extend(part(&old, &(at..old.len())));
    out.concat()
}
