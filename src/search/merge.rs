//! Merges of two changes of one text, by lines. A line includes its line feed, so a missing one at the end is
//! a difference too.

use std::ops::Range;

use super::diff::{lines_of, pieces};

fn part<'a, 'b>(lines: &'b [&'a [u8]], range: &Range<usize>) -> &'b [&'a [u8]] {
    lines.get(range.clone()).unwrap_or_default()
}

/// Both changes of one text in one; `None` if they are at the same lines, or side by side, and not
/// the same.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let (our_lines, their_lines) = (&lines_of(ours), &lines_of(theirs));
    let base_lines = lines_of(base);
    let our_pieces = pieces(&base_lines, our_lines);
    let their_pieces = pieces(&base_lines, their_lines);
    let (mut left, mut right) = (our_pieces.iter().peekable(), their_pieces.iter().peekable());
    let mut out: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    loop {
        let (piece, lines) = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(a), Some(b)) if touch(&a.before, &b.before) => {
                let same = a.before == b.before
                    && part(our_lines, &a.after) == part(their_lines, &b.after);
                if !same {
                    return None;
                }
                right.next();
                (left.next()?, our_lines)
            }
            (Some(a), Some(b)) if a.before.start < b.before.start => (left.next()?, our_lines),
            (Some(_), None) => (left.next()?, our_lines),
            _ => (right.next()?, their_lines),
        };
        out.extend(part(&base_lines, &(at..piece.before.start)));
        out.extend(part(lines, &piece.after));
        at = piece.before.end;
    }
    out.extend(part(&base_lines, &(at..base_lines.len())));
    Some(out.concat())
}

fn touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// Whether differences of lines make sense for it.
pub fn is_text(body: &[u8]) -> bool {
    memchr::memchr(0, body).is_none() && std::str::from_utf8(body).is_ok()
}
