//! Myers' algorithm, in rounds: each looks for the shortest path from one list of lines to another.

use super::ROUND;
use crate::core::pace::{ITEMS, Pace};

/// The number of a line, and its place.
pub(super) type Line = (u32, usize);

/// A way from one list to another.
#[derive(Default)]
pub(super) struct Path {
    /// Where it ends.
    pub(super) x: usize,
    pub(super) y: usize,
    /// Places of lines that are removed (`true`) or added.
    edits: Vec<(bool, usize)>,
}

/// Looks for the shortest path from one list to the other: through as many changes as one round
/// allows, and else to the best place that it came to. The steps are taken from `left`.
pub(super) async fn round(old: &[Line], new: &[Line], left: &mut usize, pace: &Pace) -> Path {
    let (Ok(n), Ok(m)) = (i32::try_from(old.len()), i32::try_from(new.len())) else {
        *left = 0;
        return Path::default();
    };
    // For each number of changes, how far each diagonal was followed; -1 if it was not.
    let mut reached: Vec<Vec<i32>> = Vec::new();
    let mut farthest = (0, 0, 0);
    for edits in 0..=ROUND {
        let width = 2 * edits + 1;
        let mut row = vec![-1; width];
        let empty = Vec::new();
        let last = reached.last().unwrap_or(&empty);
        for (slot, x) in row.iter_mut().enumerate().step_by(2) {
            let Some(start) = step(last, slot, edits, n, m) else {
                continue;
            };
            let diagonal = diagonal(slot, edits);
            let at = followed(old, new, start, diagonal, pace).await;
            *x = at;
            let worked = usize::try_from(at - start).unwrap_or_default() + 2;
            *left = left.saturating_sub(worked);
            let y = at - diagonal;
            if at + y > farthest.0 {
                farthest = (at + y, edits, slot);
            }
            if at >= n && y >= m {
                break;
            }
        }
        reached.push(row);
        if farthest.0 >= n + m || *left == 0 {
            break;
        }
    }
    back(&reached, farthest.1, farthest.2, n, m)
}

/// How far a diagonal leads through lines that are the same.
async fn followed(old: &[Line], new: &[Line], start: i32, diagonal: i32, pace: &Pace) -> i32 {
    let number = |list: &[Line], at: i32| {
        let at = usize::try_from(at).ok()?;
        list.get(at).map(|(number, _)| *number)
    };
    let mut at = start;
    let mut worked = 1;
    while number(old, at).is_some() && number(old, at) == number(new, at - diagonal) {
        at += 1;
        worked += 1;
        if worked == ITEMS {
            pace.worked(worked).await;
            worked = 0;
        }
    }
    pace.worked(worked).await;
    at
}

/// The diagonal of a slot: how much further the one list is than the other.
fn diagonal(slot: usize, edits: usize) -> i32 {
    let of = |number: usize| i32::try_from(number).unwrap_or_default();
    of(slot) - of(edits)
}

/// Where a diagonal is entered with one more change.
fn step(last: &[i32], slot: usize, edits: usize, n: i32, m: i32) -> Option<i32> {
    if edits == 0 {
        return Some(0);
    }
    let diagonal = diagonal(slot, edits);
    // A slot of the row before is a diagonal of one change less.
    let at = |slot: Option<usize>| slot.and_then(|slot| last.get(slot)).copied().unwrap_or(-1);
    let (from_left, from_above) = (at(slot.checked_sub(2)), at(Some(slot)));
    let removed = (from_left >= 0 && from_left < n).then_some(from_left + 1);
    let added = (from_above >= 0 && from_above - diagonal <= m).then_some(from_above);
    match (removed, added) {
        (Some(removed), Some(added)) => Some(removed.max(added)),
        (one, other) => one.or(other),
    }
}

/// Follows the changes back from a place.
fn back(reached: &[Vec<i32>], edits: usize, slot: usize, n: i32, m: i32) -> Path {
    let place = |at: i32| usize::try_from(at).unwrap_or_default();
    let end = reached.get(edits).and_then(|row| row.get(slot)).copied();
    let x = end.unwrap_or_default();
    let mut path = Path {
        x: place(x),
        y: place(x - diagonal(slot, edits)),
        edits: Vec::with_capacity(edits),
    };
    let (mut edits, mut slot) = (edits, slot);
    while let Some(before) = edits.checked_sub(1) {
        let empty = Vec::new();
        let last = reached.get(before).unwrap_or(&empty);
        let Some(start) = step(last, slot, edits, n, m) else {
            break;
        };
        let left = slot.checked_sub(2);
        let from = left.and_then(|slot| last.get(slot)).copied();
        match (from, left) {
            (Some(from), Some(left)) if from >= 0 && from + 1 == start && from < n => {
                path.edits.push((true, place(from)));
                slot = left;
            }
            _ => path
                .edits
                .push((false, place(start - diagonal(slot, edits) - 1))),
        }
        edits = before;
    }
    path
}

/// The places on a path from `start` where nothing changes.
pub(super) async fn keep(
    path: &Path,
    start: (usize, usize),
    kept: &mut Vec<(usize, usize)>,
    pace: &Pace,
) {
    let (mut x, mut y) = (0, 0);
    let end = [None];
    for edit in path.edits.iter().rev().map(Some).chain(end) {
        let is_before = |x: usize, y: usize| match edit {
            Some((true, at)) => x < *at,
            Some((false, at)) => y < *at,
            None => x < path.x,
        };
        while is_before(x, y) {
            kept.push((start.0 + x, start.1 + y));
            (x, y) = (x + 1, y + 1);
            pace.worked(1).await;
        }
        match edit {
            Some((true, _)) => x += 1,
            Some((false, _)) => y += 1,
            None => {}
        }
    }
}
