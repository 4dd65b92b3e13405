//! Where two texts differ, by lines. Lines that occur once in both texts are anchors; what is between
//! two anchors is compared by Myers' algorithm. Its work has a bound, whatever the texts are: when the
//! bound is reached, what is left counts as changed. The result is then coarse, but correct.
//!
//! Why not a library: `imara-diff` took 20 seconds for 150,000 equal lines, and cannot be stopped.
//!
//! Equal texts give equal pieces at any time, so a piece can be named by its number.

mod slide;
// proptest runs on the host only.
#[cfg(test)]
#[cfg(host = "native")]
mod tests;

use std::ops::Range;

use crate::core::order;

/// Steps that Myers' algorithm may take for two texts: a tenth of a second on a slow machine.
const EFFORT: usize = 1 << 23;
/// Changed lines that one round looks for. A round that finds no end goes on from its best place.
const ROUND: usize = 256;
/// How often anchors are looked for between anchors.
const DEPTH: usize = 16;

/// A part of a text that differs, as ranges of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The lines before.
    pub before: Range<usize>,
    /// The lines after.
    pub after: Range<usize>,
}

/// The lines of a text, each with its line feed.
pub fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut from = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        lines.push(text.get(from..=newline).unwrap_or_default());
        from = newline + 1;
    }
    if from < text.len() {
        lines.push(text.get(from..).unwrap_or_default());
    }
    lines
}

/// Where two texts differ.
pub fn pieces(before: &[&[u8]], after: &[&[u8]]) -> Vec<Piece> {
    let (start, end) = common(before, after);
    let middle = |lines: &[&[u8]]| start..lines.len() - end;
    let (old, new) = (middle(before), middle(after));
    let mut differ = Differ::new(
        before.get(old).unwrap_or_default(),
        after.get(new).unwrap_or_default(),
    );
    differ.run();
    slide::slid(differ.pieces(start), before, after)
}

/// How many items two lists have in common at their starts, and behind that at their ends.
fn common<T: PartialEq>(a: &[T], b: &[T]) -> (usize, usize) {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - start;
    let ends = a.iter().rev().zip(b.iter().rev()).take(most);
    (start, ends.take_while(|(a, b)| a == b).count())
}

/// A part of both texts that may differ.
struct Gap {
    before: Range<usize>,
    after: Range<usize>,
    depth: usize,
}

impl Gap {
    fn lines(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// What is known of a line in a gap.
#[derive(Clone, Copy, Default)]
struct Seen {
    before: u32,
    after: u32,
    /// The last place in the text after.
    place: usize,
}

struct Differ {
    /// Equal lines have equal numbers.
    before: Vec<u32>,
    after: Vec<u32>,
    removed: Vec<bool>,
    added: Vec<bool>,
    /// By the number of a line; empty between two gaps.
    seen: Vec<Seen>,
    left: usize,
}

impl Differ {
    fn new(before: &[&[u8]], after: &[&[u8]]) -> Differ {
        // Sorted instead of hashed: no text makes that slow.
        let mut places: Vec<usize> = (0..before.len() + after.len()).collect();
        let line = |place: usize| match before.get(place) {
            Some(line) => *line,
            None => after.get(place - before.len()).copied().unwrap_or_default(),
        };
        order::sort_by(&mut places, |a, b| line(*a).cmp(line(*b)));
        let mut numbers = vec![0u32; places.len()];
        let mut number = 0;
        let mut last: Option<&[u8]> = None;
        for place in places {
            let line = line(place);
            if last.is_some_and(|last| last != line) {
                number += 1;
            }
            last = Some(line);
            if let Some(slot) = numbers.get_mut(place) {
                *slot = number;
            }
        }
        let after_numbers = numbers.split_off(before.len());
        Differ {
            removed: vec![false; before.len()],
            added: vec![false; after.len()],
            before: numbers,
            after: after_numbers,
            seen: vec![Seen::default(); number as usize + 1],
            left: EFFORT,
        }
    }

    fn run(&mut self) {
        let mut gaps = vec![Gap {
            before: 0..self.before.len(),
            after: 0..self.after.len(),
            depth: 0,
        }];
        while let Some(gap) = gaps.pop() {
            let gap = self.trimmed(gap);
            if gap.before.is_empty() || gap.after.is_empty() {
                mark(&mut self.removed, gap.before);
                mark(&mut self.added, gap.after);
                continue;
            }
            self.look(&gap);
            // Few changes are found at once, and no anchor can mislead them.
            let is_tried = self.left > EFFORT / 2 && (gap.depth == 0 || gap.lines() < 8 * ROUND);
            if !is_tried || !self.compare(&gap, true) {
                let anchors = match gap.depth < DEPTH {
                    true => self.anchors(&gap),
                    false => Vec::new(),
                };
                match anchors.is_empty() {
                    false => between(&gap, &anchors, &mut gaps),
                    true => _ = self.compare(&gap, false),
                }
            }
            self.forget(&gap);
        }
    }

    fn trimmed(&self, gap: Gap) -> Gap {
        let before = self.before.get(gap.before.clone()).unwrap_or_default();
        let after = self.after.get(gap.after.clone()).unwrap_or_default();
        let (start, end) = common(before, after);
        Gap {
            before: gap.before.start + start..gap.before.end - end,
            after: gap.after.start + start..gap.after.end - end,
            depth: gap.depth,
        }
    }

    /// Counts the lines of a gap.
    fn look(&mut self, gap: &Gap) {
        for number in self.before.get(gap.before.clone()).unwrap_or_default() {
            if let Some(seen) = self.seen.get_mut(*number as usize) {
                seen.before += 1;
            }
        }
        for place in gap.after.clone() {
            let number = self.after.get(place).copied().unwrap_or_default();
            if let Some(seen) = self.seen.get_mut(number as usize) {
                seen.after += 1;
                seen.place = place;
            }
        }
    }

    fn forget(&mut self, gap: &Gap) {
        let before = self.before.get(gap.before.clone()).unwrap_or_default();
        let after = self.after.get(gap.after.clone()).unwrap_or_default();
        for number in before.iter().chain(after) {
            if let Some(seen) = self.seen.get_mut(*number as usize) {
                *seen = Seen::default();
            }
        }
    }

    fn seen(&self, number: u32) -> Seen {
        self.seen.get(number as usize).copied().unwrap_or_default()
    }

    /// Lines that occur once in both parts, as pairs of places: the most of them that are in the same
    /// order in both.
    fn anchors(&self, gap: &Gap) -> Vec<(usize, usize)> {
        // For each length, the last pair of the best row of that length; for each pair, the one
        // before it in its row.
        let mut best: Vec<usize> = Vec::new();
        let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
        for place in gap.before.clone() {
            let number = self.before.get(place).copied().unwrap_or_default();
            let seen = self.seen(number);
            if seen.before != 1 || seen.after != 1 {
                continue;
            }
            let ends_before = |pair: &usize| {
                let pair = pairs.get(*pair);
                pair.is_some_and(|(_, other, _)| *other < seen.place)
            };
            let length = best.partition_point(ends_before);
            let last = length.checked_sub(1).and_then(|at| best.get(at)).copied();
            pairs.push((place, seen.place, last));
            match best.get_mut(length) {
                Some(slot) => *slot = pairs.len() - 1,
                None => best.push(pairs.len() - 1),
            }
        }
        let mut row = Vec::with_capacity(best.len());
        let mut at = best.last().copied();
        while let Some((before, after, last)) = at.and_then(|at| pairs.get(at)) {
            row.push((*before, *after));
            at = *last;
        }
        row.reverse();
        row
    }

    /// Compares a gap. With `at_once` nothing is marked unless one round comes to the end. Returns
    /// whether it did.
    fn compare(&mut self, gap: &Gap, at_once: bool) -> bool {
        // Lines that only one part has have changed, and need no comparison.
        let place = |lines: &[u32], place: usize| {
            let number = lines.get(place).copied().unwrap_or_default();
            (number, place)
        };
        let old = gap.before.clone().map(|at| place(&self.before, at));
        let new = gap.after.clone().map(|at| place(&self.after, at));
        let old: Vec<_> = old.filter(|(line, _)| self.seen(*line).after > 0).collect();
        let new: Vec<_> = new
            .filter(|(line, _)| self.seen(*line).before > 0)
            .collect();
        // The lines of both that are the same.
        let mut kept: Vec<(usize, usize)> = Vec::new();
        let (mut x, mut y) = (0, 0);
        while let (Some(a), Some(b)) = (old.get(x..), new.get(y..)) {
            if a.is_empty() || b.is_empty() || self.left == 0 {
                break;
            }
            let path = self.round(a, b);
            if at_once && (path.x < a.len() || path.y < b.len()) {
                return false;
            }
            keep(&path, (x, y), &mut kept);
            (x, y) = (x + path.x, y + path.y);
        }
        mark(&mut self.removed, gap.before.clone());
        mark(&mut self.added, gap.after.clone());
        for (x, y) in kept {
            if let (Some((_, x)), Some((_, y))) = (old.get(x), new.get(y)) {
                unmark(&mut self.removed, *x);
                unmark(&mut self.added, *y);
            }
        }
        true
    }

    /// Looks for the shortest path from one list to the other: through as many changes as one round
    /// allows, and else to the best place that it came to.
    fn round(&mut self, old: &[(u32, usize)], new: &[(u32, usize)]) -> Path {
        let (Ok(n), Ok(m)) = (i32::try_from(old.len()), i32::try_from(new.len())) else {
            self.left = 0;
            return Path::default();
        };
        let number = |list: &[(u32, usize)], at: i32| {
            let at = usize::try_from(at).ok()?;
            list.get(at).map(|(number, _)| *number)
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
                let mut at = start;
                let diagonal = diagonal(slot, edits);
                while number(old, at).is_some() && number(old, at) == number(new, at - diagonal) {
                    at += 1;
                }
                *x = at;
                let worked = usize::try_from(at - start).unwrap_or_default() + 2;
                self.left = self.left.saturating_sub(worked);
                let y = at - diagonal;
                if at + y > farthest.0 {
                    farthest = (at + y, edits, slot);
                }
                if at >= n && y >= m {
                    break;
                }
            }
            reached.push(row);
            if farthest.0 >= n + m || self.left == 0 {
                break;
            }
        }
        back(&reached, farthest.1, farthest.2, n, m)
    }

    /// The parts that are marked, `start` lines further on.
    fn pieces(&self, start: usize) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut old, mut new) = (0, 0);
        let run = |marks: &[bool], from: usize| {
            let rest = marks.get(from..).unwrap_or_default();
            from + rest.iter().take_while(|marked| **marked).count()
        };
        while old < self.removed.len() || new < self.added.len() {
            let (removed, added) = (run(&self.removed, old), run(&self.added, new));
            if removed > old || added > new {
                pieces.push(Piece {
                    before: start + old..start + removed,
                    after: start + new..start + added,
                });
            }
            // An unchanged line is in both.
            (old, new) = (removed + 1, added + 1);
        }
        pieces
    }
}

/// A way from one list to another.
#[derive(Default)]
struct Path {
    /// Where it ends.
    x: usize,
    y: usize,
    /// Places of lines that are removed (`true`) or added.
    edits: Vec<(bool, usize)>,
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

/// The gaps before, between and behind anchors.
fn between(gap: &Gap, anchors: &[(usize, usize)], gaps: &mut Vec<Gap>) {
    let (mut old, mut new) = (gap.before.start, gap.after.start);
    let end = [(gap.before.end, gap.after.end)];
    for (before, after) in anchors.iter().chain(&end) {
        if *before > old || *after > new {
            gaps.push(Gap {
                before: old..*before,
                after: new..*after,
                depth: gap.depth + 1,
            });
        }
        (old, new) = (before + 1, after + 1);
    }
}

fn mark(marks: &mut [bool], range: Range<usize>) {
    marks.get_mut(range).unwrap_or_default().fill(true);
}

fn unmark(marks: &mut [bool], at: usize) {
    if let Some(mark) = marks.get_mut(at) {
        *mark = false;
    }
}

/// The places on a path from `start` where nothing changes.
fn keep(path: &Path, start: (usize, usize), kept: &mut Vec<(usize, usize)>) {
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
        }
        match edit {
            Some((true, _)) => x += 1,
            Some((false, _)) => y += 1,
            None => {}
        }
    }
}
