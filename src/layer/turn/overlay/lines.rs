//! Differences of two texts by lines. A line includes its line feed, so a missing one at the end is a
//! difference too.

use crate::core::pace::Pace;
use crate::search::diff;
pub use crate::search::diff::{Lines, Piece};
pub use crate::search::merge::{is_text, merge};

/// Where two texts differ.
pub async fn pieces(before: &[u8], after: &[u8], pace: &Pace) -> Vec<Piece> {
    let (before, after) = (Lines::of(before, pace).await, Lines::of(after, pace).await);
    diff::pieces(&before, &after, pace).await
}

/// The text before, with some of the pieces applied.
pub async fn with_pieces(before: &[u8], after: &[u8], chosen: &[Piece], pace: &Pace) -> Vec<u8> {
    let (old, new) = (Lines::of(before, pace).await, Lines::of(after, pace).await);
    let mut out = Vec::new();
    let mut at = 0;
    for piece in chosen {
        out.extend(old.part(&(at..piece.before.start)));
        out.extend(new.part(&piece.after));
        at = piece.before.end;
        pace.worked(1).await;
    }
    out.extend(old.part(&(at..old.count())));
    out
}
