//! Moves pieces to where a reader expects them. Where lines repeat, the same difference can be told in
//! several ways: a piece that only adds or removes lines is moved together with its neighbours where
//! possible, and else as far down as possible, so that a new function begins with its own first line.

use super::{Lines, Piece};
use crate::core::pace::Pace;

/// The pieces, moved.
pub(super) async fn slid(
    pieces: Vec<Piece>,
    before: &Lines<'_>,
    after: &Lines<'_>,
    pace: &Pace,
) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut rest = pieces.into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        let top = out.last().map_or((0, 0), ends);
        while ends_of_start(&piece) != top && slide(&mut piece, before, after, false) {
            pace.worked(1).await;
        }
        if let Some(last) = out.last()
            && ends_of_start(&piece) == ends(last)
            && let Some(last) = out.pop()
        {
            piece = joined(&last, &piece);
        }
        loop {
            pace.worked(1).await;
            if let Some(next) = rest.next_if(|next| ends(&piece) == ends_of_start(next)) {
                piece = joined(&piece, &next);
            } else if !slide(&mut piece, before, after, true) {
                break;
            }
        }
        out.push(piece);
    }
    out
}

fn ends(piece: &Piece) -> (usize, usize) {
    (piece.before.end, piece.after.end)
}

fn ends_of_start(piece: &Piece) -> (usize, usize) {
    (piece.before.start, piece.after.start)
}

fn joined(one: &Piece, next: &Piece) -> Piece {
    Piece {
        before: one.before.start..next.before.end,
        after: one.after.start..next.after.end,
    }
}

/// Moves a piece by one line. Returns whether that was possible.
fn slide(piece: &mut Piece, before: &Lines<'_>, after: &Lines<'_>, down: bool) -> bool {
    let (range, lines) = match (piece.before.is_empty(), piece.after.is_empty()) {
        (true, false) => (&piece.after, after),
        (false, true) => (&piece.before, before),
        _ => return false,
    };
    let (in_piece, beside) = match down {
        true => (Some(range.start), Some(range.end)),
        false => (range.end.checked_sub(1), range.start.checked_sub(1)),
    };
    let line = |at: Option<usize>| at.and_then(|at| lines.line(at));
    if line(beside).is_none() || line(in_piece) != line(beside) {
        return false;
    }
    for range in [&mut piece.before, &mut piece.after] {
        *range = match down {
            true => range.start + 1..range.end + 1,
            false => range.start.saturating_sub(1)..range.end.saturating_sub(1),
        };
    }
    true
}
