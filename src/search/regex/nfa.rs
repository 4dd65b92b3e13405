//! The automaton of an expression. Its states consume whole characters, not bytes: `\w` is one
//! state here and several hundred in an automaton over UTF-8. Characters that the expression does
//! not distinguish form one class, so that a table of transitions stays small.

use std::rc::Rc;

use super::ast::{Ast, Look, Range, Set};
use crate::core::order;

/// Columns of a row besides the classes: an unsure character, the end of the line, and one that is
/// never known, for bytes that need more than a look into the table.
pub(super) const MORE: usize = 3;
/// Bit of a class: its characters are word characters of ASCII.
pub(super) const WORD_ASCII: u8 = 1;
/// Bit of a class: its characters are word characters.
pub(super) const WORD: u8 = 2;
/// The most ranges of all sets together.
pub(super) const MAX_RANGES: usize = 30_000;
/// Characters below this have their classes in a table: those of one or two bytes.
const NEAR: usize = 0x800;
const ASCII_WORDS: [Range; 4] = [(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];

/// What the parser knows beside the expression.
#[derive(Debug, Default)]
pub struct Facts {
    /// The word characters.
    pub words: Rc<Set>,
    /// Characters of which the parser does not know what they are.
    pub unsure: Set,
    /// Stand-ins for everything that such a character can be.
    pub guesses: Vec<u32>,
}

/// A state; the numbers are those of the states that follow.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Consumes a character of a set.
    Set(u32, u32),
    /// Goes on at two places.
    Split(u32, u32),
    /// Goes on if a condition holds.
    Look(Look, u32),
    /// The expression matches.
    Match,
}

/// A compiled expression.
pub(super) struct Nfa {
    pub(super) states: Vec<State>,
    pub(super) start: u32,
    /// Number of classes. The columns of a row after them are described at [`MORE`].
    pub(super) classes: usize,
    /// For each byte its column: the last one for line ends and bytes above 127.
    pub(super) bytes: [u16; 256],
    /// For each class, which words its characters belong to.
    pub(super) kinds: Vec<u8>,
    /// The classes that an unsure character can have.
    pub(super) guesses: Vec<usize>,
    /// For each set a row of bits, one for each class.
    members: Vec<u64>,
    row: usize,
    near: Vec<u16>,
    /// The first character of each range of one class, and the class.
    starts: Vec<u32>,
    class_at: Vec<u16>,
}

/// The expression has too many ranges.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Nfa {
    pub(super) fn new(ast: &Ast, facts: &Facts) -> Result<Nfa, TooLarge> {
        let mut builder = Builder::default();
        let end = builder.add(State::Match);
        let start = builder.compile(ast, end);
        let ascii = Set::of(ASCII_WORDS.to_vec());
        let has_words = builder.has_words;
        let mut sets: Vec<&Set> = builder.sets.iter().map(|(_, set)| &**set).collect();
        let own = sets.len();
        if has_words {
            sets.extend([&ascii, &*facts.words]);
        }
        let unsure = facts.unsure.ranges();
        if !unsure.is_empty() {
            sets.push(&facts.unsure);
        }
        let (starts, class_at, classes) = partition(&sets)?;
        let row = classes.div_ceil(64);
        let mut nfa = Nfa {
            states: builder.states,
            start,
            classes,
            bytes: [column(classes + MORE - 1); 256],
            kinds: vec![0; classes],
            guesses: Vec::new(),
            members: vec![0; row * own],
            row,
            near: Vec::new(),
            starts,
            class_at,
        };
        for (number, set) in sets.iter().enumerate() {
            let kind = match number.checked_sub(own) {
                Some(0) if has_words => WORD_ASCII,
                Some(1) if has_words => WORD,
                // The unsure characters.
                Some(_) => continue,
                None => 0,
            };
            for (first, last) in set.ranges() {
                let from = nfa.starts.partition_point(|start| start < first);
                let until = nfa.starts.partition_point(|start| start <= last);
                for class in nfa.class_at.get(from..until).unwrap_or_default() {
                    let class = usize::from(*class);
                    if kind > 0 {
                        if let Some(bits) = nfa.kinds.get_mut(class) {
                            *bits |= kind;
                        }
                    } else if let Some(bits) = nfa.members.get_mut(number * row + class / 64) {
                        *bits |= 1 << (class % 64);
                    }
                }
            }
        }
        nfa.guesses = facts.guesses.iter().map(|c| nfa.known(*c)).collect();
        // From here on the unsure characters have the column behind the classes.
        for (at, start) in nfa.starts.iter().enumerate() {
            if facts.unsure.contains(*start)
                && let Some(class) = nfa.class_at.get_mut(at)
            {
                *class = column(classes);
            }
        }
        for byte in (0..128u8).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            let class = nfa.known(u32::from(byte));
            if let Some(place) = nfa.bytes.get_mut(usize::from(byte)) {
                *place = column(class);
            }
        }
        nfa.near = (0..NEAR)
            .map(|c| nfa.found(u32::try_from(c).unwrap_or_default()))
            .collect();
        Ok(nfa)
    }

    fn found(&self, c: u32) -> u16 {
        let after = self.starts.partition_point(|start| *start <= c);
        let at = after.saturating_sub(1);
        self.class_at.get(at).copied().unwrap_or_default()
    }

    fn known(&self, c: u32) -> usize {
        usize::from(self.found(c))
    }

    /// The class of a character.
    pub(super) fn class(&self, c: u32) -> usize {
        match self.near.get(c as usize) {
            Some(class) => usize::from(*class),
            None => self.known(c),
        }
    }

    /// Whether the characters of a class are in a set.
    pub(super) fn has(&self, set: u32, class: usize) -> bool {
        let bits = self.members.get(set as usize * self.row + class / 64);
        bits.is_some_and(|bits| bits >> (class % 64) & 1 == 1)
    }
}

/// There are far fewer columns than fit.
fn column(number: usize) -> u16 {
    u16::try_from(number).unwrap_or_default()
}

type Partition = (Vec<u32>, Vec<u16>, usize);

/// Cuts the characters into ranges that no set divides, and gives ranges that are in the same sets
/// the same class.
fn partition(sets: &[&Set]) -> Result<Partition, TooLarge> {
    let ranges: usize = sets.iter().map(|set| set.ranges().len()).sum();
    if ranges > MAX_RANGES {
        return Err(TooLarge);
    }
    let mut starts = vec![0u32];
    for set in sets {
        for (first, last) in set.ranges() {
            starts.extend([*first, last.saturating_add(1)]);
        }
    }
    order::sort_by_key(&mut starts, |start| *start);
    starts.dedup();
    let mut class_at = vec![0usize; starts.len()];
    let mut classes = 1usize;
    let mut renamed: Vec<usize> = Vec::new();
    for set in sets {
        // The part of each class that is in the set becomes a class of its own.
        renamed.clear();
        renamed.resize(classes, 0);
        for (first, last) in set.ranges() {
            let from = starts.partition_point(|start| start < first);
            let until = starts.partition_point(|start| start <= last);
            for class in class_at.get_mut(from..until).unwrap_or_default() {
                let Some(new) = renamed.get_mut(*class) else {
                    continue;
                };
                if *new == 0 {
                    *new = classes;
                    classes += 1;
                }
                *class = *new;
            }
        }
    }
    // Classes without characters are left out.
    renamed.clear();
    renamed.resize(classes, usize::MAX);
    let mut count = 0usize;
    let mut dense = Vec::with_capacity(class_at.len());
    for class in class_at {
        let Some(new) = renamed.get_mut(class) else {
            continue;
        };
        if *new == usize::MAX {
            *new = count;
            count += 1;
        }
        dense.push(u16::try_from(*new).map_err(|_| TooLarge)?);
    }
    Ok((starts, dense, count))
}

#[derive(Default)]
struct Builder {
    states: Vec<State>,
    /// The distinct sets, with a hash of each.
    sets: Vec<(u64, Rc<Set>)>,
    has_words: bool,
}

impl Builder {
    fn add(&mut self, state: State) -> u32 {
        let number = self.states.len();
        self.states.push(state);
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Adds the states of `ast`, after which `next` follows; returns the first one.
    fn compile(&mut self, ast: &Ast, next: u32) -> u32 {
        match ast {
            Ast::Empty => next,
            Ast::Set(set) => {
                let number = self.set(set);
                self.add(State::Set(number, next))
            }
            Ast::Look(look) => {
                self.has_words |= matches!(look, Look::Word { .. });
                self.add(State::Look(*look, next))
            }
            Ast::Concat(parts) => parts
                .iter()
                .rev()
                .fold(next, |next, part| self.compile(part, next)),
            Ast::Alt(branches) => {
                let mut entry = None;
                for branch in branches.iter().rev() {
                    let first = self.compile(branch, next);
                    entry = Some(match entry {
                        None => first,
                        Some(others) => self.add(State::Split(first, others)),
                    });
                }
                entry.unwrap_or(next)
            }
            Ast::Repeat { inner, least, most } => {
                let mut entry = match most {
                    None => {
                        let split = self.add(State::Split(next, next));
                        let first = self.compile(inner, split);
                        if let Some(state) = self.states.get_mut(split as usize) {
                            *state = State::Split(first, next);
                        }
                        split
                    }
                    Some(most) => (*least..*most).fold(next, |entry, _| {
                        let first = self.compile(inner, entry);
                        self.add(State::Split(first, next))
                    }),
                };
                for _ in 0..*least {
                    entry = self.compile(inner, entry);
                }
                entry
            }
        }
    }

    /// The number of a set; equal sets have one number.
    fn set(&mut self, set: &Rc<Set>) -> u32 {
        let hash = set.ranges().iter().fold(0u64, |hash, (first, last)| {
            (hash ^ (u64::from(*first) << 32 | u64::from(*last)))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        });
        let same = |(other, one): &(u64, Rc<Set>)| *other == hash && one == set;
        let number = match self.sets.iter().position(same) {
            Some(number) => number,
            None => {
                self.sets.push((hash, set.clone()));
                self.sets.len() - 1
            }
        };
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}
