//! Merges of two changes of one text, by lines. A line includes its line feed, so a missing one at the end is
//! a difference too.

use std::ops::Range;

use crate::core::pace::Pace;

use super::diff::{self, Lines};

/// Both changes of one text in one; `None` if they are at the same lines, or side by side, and not
/// the same.
pub async fn merge(base: &[u8], ours: &[u8], theirs: &[u8], pace: &Pace) -> Option<Vec<u8>> {
    let base = Lines::of(base, pace).await;
    let ours = Lines::of(ours, pace).await;
    let theirs = Lines::of(theirs, pace).await;
    let our_pieces = diff::pieces(&base, &ours, pace).await;
    let their_pieces = diff::pieces(&base, &theirs, pace).await;
    let (mut left, mut right) = (our_pieces.iter().peekable(), their_pieces.iter().peekable());
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let (piece, lines) = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(a), Some(b)) if touch(&a.before, &b.before) => {
                let same = a.before == b.before && ours.part(&a.after) == theirs.part(&b.after);
                if !same {
                    return None;
                }
                right.next();
                (left.next()?, &ours)
            }
            (Some(a), Some(b)) if a.before.start < b.before.start => (left.next()?, &ours),
            (Some(_), None) => (left.next()?, &ours),
            _ => (right.next()?, &theirs),
        };
        out.extend(base.part(&(at..piece.before.start)));
        out.extend(lines.part(&piece.after));
        at = piece.before.end;
        pace.worked(1).await;
    }
    out.extend(base.part(&(at..base.count())));
    Some(out)
}

fn touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// Whether differences of lines make sense for it.
pub async fn is_text(body: &[u8], pace: &Pace) -> bool {
    pace.read(body.len()).await;
    is_text_at_once(body)
}

/// The same of at most a megabyte, without a pause.
pub fn is_text_at_once(body: &[u8]) -> bool {
    memchr::memchr(0, body).is_none() && std::str::from_utf8(body).is_ok()
}
