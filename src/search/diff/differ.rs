//! The comparison itself: gaps between lines that are known to be the same, until nothing is left to
//! compare.

use std::ops::Range;

use super::myers::{Line, Path, keep, round};
use super::{DEPTH, EFFORT, Lines, Piece, ROUND, equal};
use crate::core::pace::{ITEMS, Pace};
use crate::search::sorted::sorted;

/// A part of both texts that may differ.
pub(super) struct Gap {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
    pub(super) depth: usize,
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

pub(super) struct Differ<'a> {
    pace: &'a Pace,
    /// Equal lines have equal numbers.
    before: Vec<u32>,
    after: Vec<u32>,
    removed: Vec<bool>,
    added: Vec<bool>,
    /// By the number of a line; empty between two gaps.
    seen: Vec<Seen>,
    left: usize,
}

impl<'a> Differ<'a> {
    /// Compares some lines of two texts.
    pub(super) async fn new(
        before: (&Lines<'_>, Range<usize>),
        after: (&Lines<'_>, Range<usize>),
        pace: &'a Pace,
    ) -> Differ<'a> {
        let mut texts = Vec::with_capacity(before.1.len() + after.1.len());
        let split = before.1.len();
        for (lines, range) in [before, after] {
            for number in range {
                texts.extend(lines.line(number));
                pace.worked(1).await;
            }
        }
        let mut numbers = vec![0u32; texts.len()];
        let mut number = 0;
        let mut last: Option<&[u8]> = None;
        for place in sorted(&texts, pace).await {
            let line = texts.get(place).copied().unwrap_or_default();
            if last.is_some_and(|last| last != line) {
                number += 1;
            }
            last = Some(line);
            if let Some(slot) = numbers.get_mut(place) {
                *slot = number;
            }
            pace.worked(1).await;
            pace.read(line.len()).await;
        }
        let after = numbers.split_off(split);
        Differ {
            pace,
            removed: vec![false; numbers.len()],
            added: vec![false; after.len()],
            before: numbers,
            after,
            seen: vec![Seen::default(); number as usize + 1],
            left: EFFORT,
        }
    }

    pub(super) async fn run(&mut self) {
        let mut gaps = vec![Gap {
            before: 0..self.before.len(),
            after: 0..self.after.len(),
            depth: 0,
        }];
        while let Some(gap) = gaps.pop() {
            let gap = self.trimmed(gap).await;
            self.pace.worked(1).await;
            if gap.before.is_empty() || gap.after.is_empty() {
                mark(&mut self.removed, gap.before);
                mark(&mut self.added, gap.after);
                continue;
            }
            self.look(&gap).await;
            // Few changes are found at once, and no anchor can mislead them.
            let is_tried = self.left > EFFORT / 2 && (gap.depth == 0 || gap.lines() < 8 * ROUND);
            if !is_tried || !self.compare(&gap, true).await {
                let anchors = match gap.depth < DEPTH {
                    true => self.anchors(&gap).await,
                    false => Vec::new(),
                };
                match anchors.is_empty() {
                    false => between(&gap, &anchors, &mut gaps, self.pace).await,
                    true => _ = self.compare(&gap, false).await,
                }
            }
            self.forget(&gap).await;
        }
    }

    async fn trimmed(&self, gap: Gap) -> Gap {
        let before = self.before.get(gap.before.clone()).unwrap_or_default();
        let after = self.after.get(gap.after.clone()).unwrap_or_default();
        let most = before.len().min(after.len());
        let start = equal(most, self.pace, |at| before.get(at) == after.get(at)).await;
        let (last, other) = (before.len(), after.len());
        let end = equal(most - start, self.pace, |at| {
            before.get(last - at - 1) == after.get(other - at - 1)
        });
        let end = end.await;
        Gap {
            before: gap.before.start + start..gap.before.end - end,
            after: gap.after.start + start..gap.after.end - end,
            depth: gap.depth,
        }
    }

    /// Counts the lines of a gap.
    pub(super) async fn look(&mut self, gap: &Gap) {
        for place in gap.before.clone() {
            let number = self.before.get(place).copied().unwrap_or_default();
            if let Some(seen) = self.seen.get_mut(number as usize) {
                seen.before += 1;
            }
            self.pace.worked(1).await;
        }
        for place in gap.after.clone() {
            let number = self.after.get(place).copied().unwrap_or_default();
            if let Some(seen) = self.seen.get_mut(number as usize) {
                seen.after += 1;
                seen.place = place;
            }
            self.pace.worked(1).await;
        }
    }

    async fn forget(&mut self, gap: &Gap) {
        let before = self.before.get(gap.before.clone()).unwrap_or_default();
        let after = self.after.get(gap.after.clone()).unwrap_or_default();
        for some in before.chunks(ITEMS).chain(after.chunks(ITEMS)) {
            for number in some {
                if let Some(seen) = self.seen.get_mut(*number as usize) {
                    *seen = Seen::default();
                }
            }
            self.pace.worked(some.len()).await;
        }
    }

    fn seen(&self, number: u32) -> Seen {
        self.seen.get(number as usize).copied().unwrap_or_default()
    }

    /// Lines that occur once in both parts, as pairs of places: the most of them that are in the same
    /// order in both.
    async fn anchors(&self, gap: &Gap) -> Vec<(usize, usize)> {
        // For each length, the last pair of the best row of that length; for each pair, the one
        // before it in its row.
        let mut best: Vec<usize> = Vec::new();
        let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
        for place in gap.before.clone() {
            self.pace.worked(1).await;
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
            self.pace.worked(1).await;
        }
        row.reverse();
        row
    }

    /// Some lines, and where they are; without those that the other part has not, which have changed
    /// and need no comparison.
    async fn shared(&self, lines: &[u32], range: &Range<usize>, in_after: bool) -> Vec<Line> {
        let mut shared = Vec::new();
        for place in range.clone() {
            let number = lines.get(place).copied().unwrap_or_default();
            let seen = self.seen(number);
            if (if in_after { seen.after } else { seen.before }) > 0 {
                shared.push((number, place));
            }
            self.pace.worked(1).await;
        }
        shared
    }

    /// Compares a gap. With `at_once` nothing is marked unless one round comes to the end. Returns
    /// whether it did.
    pub(super) async fn compare(&mut self, gap: &Gap, at_once: bool) -> bool {
        let old = self.shared(&self.before, &gap.before, true).await;
        let new = self.shared(&self.after, &gap.after, false).await;
        // The lines of both that are the same.
        let mut kept: Vec<(usize, usize)> = Vec::new();
        let (mut x, mut y) = (0, 0);
        while let (Some(a), Some(b)) = (old.get(x..), new.get(y..)) {
            if a.is_empty() || b.is_empty() || self.left == 0 {
                break;
            }
            let path: Path = round(a, b, &mut self.left, self.pace).await;
            if at_once && (path.x < a.len() || path.y < b.len()) {
                return false;
            }
            keep(&path, (x, y), &mut kept, self.pace).await;
            (x, y) = (x + path.x, y + path.y);
        }
        mark(&mut self.removed, gap.before.clone());
        mark(&mut self.added, gap.after.clone());
        for (x, y) in kept {
            if let (Some((_, x)), Some((_, y))) = (old.get(x), new.get(y)) {
                unmark(&mut self.removed, *x);
                unmark(&mut self.added, *y);
            }
            self.pace.worked(1).await;
        }
        true
    }

    /// The parts that are marked, `start` lines further on.
    pub(super) async fn pieces(&self, start: usize) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut old, mut new) = (0, 0);
        let is_marked = |marks: &[bool], at: usize| marks.get(at) == Some(&true);
        while old < self.removed.len() || new < self.added.len() {
            let runs = [(&self.removed, old), (&self.added, new)];
            let [removed, added] = runs.map(|(marks, from)| {
                equal(marks.len().saturating_sub(from), self.pace, move |at| {
                    is_marked(marks, from + at)
                })
            });
            let (removed, added) = (old + removed.await, new + added.await);
            if removed > old || added > new {
                pieces.push(Piece {
                    before: start + old..start + removed,
                    after: start + new..start + added,
                });
            }
            // An unchanged line is in both.
            (old, new) = (removed + 1, added + 1);
            self.pace.worked(1).await;
        }
        pieces
    }
}

/// Adds the gaps before, between and behind anchors.
async fn between(gap: &Gap, anchors: &[(usize, usize)], gaps: &mut Vec<Gap>, pace: &Pace) {
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
        pace.worked(1).await;
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
