//! Where two texts differ, by lines. Lines that occur once in both texts are anchors; what is between
//! two anchors is compared by Myers' algorithm. Its work has a bound, whatever the texts are: when the
//! bound is reached, what is left counts as changed. The result is then coarse, but correct.
//!
//! Why not a library: `imara-diff` took 20 seconds for 150,000 equal lines, and cannot be stopped.
//!
//! Equal texts give equal pieces at any time, so a piece can be named by its number. All of it pauses:
//! two texts of a megabyte can take a tenth of a second.

mod differ;
mod myers;
mod slide;
// proptest runs on the host only.
#[cfg(test)]
#[cfg(host = "native")]
mod tests;

use std::ops::Range;

use crate::core::pace::{ITEMS, Pace};

use differ::Differ;

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
pub struct Lines<'a> {
    text: &'a [u8],
    /// Where each line ends.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub async fn of(text: &'a [u8], pace: &Pace) -> Lines<'a> {
        let mut ends = Vec::new();
        for newline in memchr::memchr_iter(b'\n', text) {
            let end = newline + 1;
            let length = end - ends.last().copied().unwrap_or_default();
            ends.push(end);
            pace.worked(1).await;
            pace.read(length).await;
        }
        if ends.last().copied().unwrap_or_default() < text.len() {
            ends.push(text.len());
        }
        Lines { text, ends }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The text of some lines.
    pub fn part(&self, lines: &Range<usize>) -> &'a [u8] {
        let start = |line: usize| match line.checked_sub(1) {
            Some(before) => self.ends.get(before).copied(),
            None => Some(0),
        };
        let ends = start(lines.start).zip(start(lines.end));
        let part = ends.and_then(|(from, to)| self.text.get(from..to));
        part.unwrap_or_default()
    }

    /// One line, if there is one of this number.
    fn line(&self, number: usize) -> Option<&'a [u8]> {
        (number < self.count()).then(|| self.part(&(number..number + 1)))
    }
}

/// Where two texts differ.
pub async fn pieces(before: &Lines<'_>, after: &Lines<'_>, pace: &Pace) -> Vec<Piece> {
    let (start, end) = common(before, after, pace).await;
    let middle = |lines: &Lines<'_>| start..lines.count() - end;
    let (old, new) = (middle(before), middle(after));
    let mut differ = Differ::new((before, old), (after, new), pace).await;
    differ.run().await;
    let pieces = differ.pieces(start).await;
    slide::slid(pieces, before, after, pace).await
}

/// How many lines two texts have in common at their starts, and behind that at their ends.
async fn common(before: &Lines<'_>, after: &Lines<'_>, pace: &Pace) -> (usize, usize) {
    let most = before.count().min(after.count());
    let start = equal(most, pace, |at| before.line(at) == after.line(at)).await;
    let (last, other) = (before.count(), after.count());
    let end = equal(most - start, pace, |at| {
        before.line(last - at - 1) == after.line(other - at - 1)
    });
    (start, end.await)
}

/// How many of `most` pairs are equal, until the first that is not.
async fn equal(most: usize, pace: &Pace, is_equal: impl Fn(usize) -> bool) -> usize {
    let mut at = 0;
    while at < most {
        let from = at;
        let until = most.min(from + ITEMS);
        while at < until && is_equal(at) {
            at += 1;
        }
        pace.worked(at - from).await;
        if at < until {
            break;
        }
    }
    at
}
