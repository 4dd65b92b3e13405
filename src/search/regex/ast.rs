//! The parsed form of an expression, the same from both parsers. Groups and laziness are gone:
//! a search only asks whether a line matches.

use std::rc::Rc;

use crate::core::order;
use crate::search::alike;

/// The first and the last character of a range.
pub type Range = (u32, u32);

/// A set of characters: sorted ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(Vec<Range>);

impl Set {
    /// The set of all characters in these ranges.
    pub fn of(mut ranges: Vec<Range>) -> Set {
        order::sort(&mut ranges);
        let mut set: Vec<Range> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match set.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => set.push((first, last)),
            }
        }
        Set(set)
    }

    /// The characters up to `last` that are not in the set.
    pub fn negated(&self, last: u32) -> Set {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0u32;
        for (first, end) in &self.0 {
            if next < *first {
                gaps.push((next, first - 1));
            }
            next = end.saturating_add(1);
        }
        if next <= last {
            gaps.push((next, last));
        }
        Set(gaps)
    }

    /// The characters of both sets.
    pub fn union(&self, other: &Set) -> Set {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all: Vec<Range> = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            let first = match (ours.peek(), theirs.peek()) {
                (Some(one), Some(another)) if another < one => theirs.next(),
                (None, _) => theirs.next(),
                _ => ours.next(),
            };
            match first {
                Some(range) => all.push(*range),
                None => return Set::of(all),
            }
        }
    }

    /// The set with all characters that are alike to one in it but for their case.
    pub fn folded(&self) -> Set {
        let mut all = self.0.clone();
        for (first, last) in &self.0 {
            alike::add_alike(*first, *last, &mut all);
        }
        Set::of(all)
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[Range] {
        &self.0
    }

    /// Whether the character is in the set.
    pub fn contains(&self, c: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= c);
        let range = after.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|(_, last)| c <= *last)
    }

    /// Whether the two sets have a character in common.
    pub fn meets(&self, other: &[Range]) -> bool {
        let apart = |a: &Range, b: &Range| a.1 < b.0 || b.1 < a.0;
        self.0
            .iter()
            .any(|range| other.iter().any(|one| !apart(range, one)))
    }
}

/// A condition at a position between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The start of the line.
    Start,
    /// The end of the line.
    End,
    /// A condition on word characters: of ASCII only if `ascii` is set.
    Word {
        /// The condition.
        edge: Edge,
        /// Whether only ASCII characters are word characters.
        ascii: bool,
    },
}

/// Where a position is, seen from words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// `\b`.
    Any,
    /// `\B`.
    None,
    /// `\b{start}`.
    Start,
    /// `\b{end}`.
    End,
    /// `\b{start-half}`: no word character before.
    StartHalf,
    /// `\b{end-half}`: no word character after.
    EndHalf,
}

impl Edge {
    /// Whether the condition holds between two characters, which are word characters or not.
    pub fn holds(self, before: bool, after: bool) -> bool {
        match self {
            Edge::Any => before != after,
            Edge::None => before == after,
            Edge::Start => !before && after,
            Edge::End => before && !after,
            Edge::StartHalf => !before,
            Edge::EndHalf => !after,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ast {
    /// Matches everywhere.
    Empty,
    /// One character of a set.
    Set(Rc<Set>),
    /// A condition.
    Look(Look),
    /// One after the other.
    Concat(Vec<Ast>),
    /// Any of these.
    Alt(Vec<Ast>),
    /// So many times; without `most`, any larger number of times.
    Repeat {
        /// What is repeated.
        inner: Box<Ast>,
        /// The smallest number.
        least: u32,
        /// The largest number.
        most: Option<u32>,
    },
}

impl Ast {
    /// The size with repetitions expanded. An engine takes at most this many steps per byte.
    pub fn weight(&self) -> usize {
        let sum = |some: &[Ast]| {
            some.iter()
                .map(Ast::weight)
                .fold(0usize, usize::saturating_add)
        };
        match self {
            Ast::Empty | Ast::Set(_) | Ast::Look(_) => 1,
            Ast::Concat(parts) => sum(parts).max(1),
            Ast::Alt(branches) => sum(branches).max(1),
            Ast::Repeat { inner, least, most } => {
                let times = most.unwrap_or(*least).max(*least).max(1);
                let times = usize::try_from(times).unwrap_or(usize::MAX);
                inner.weight().saturating_mul(times)
            }
        }
    }
}
