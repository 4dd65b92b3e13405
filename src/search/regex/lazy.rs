//! Runs an automaton over text. A set of states that can be reached together is one state of a
//! deterministic automaton, which is built as far as the text needs it: a known transition is one
//! look into a table. If the table grows too large, it is dropped and begun again, so memory is
//! bounded, and no byte costs more than the number of states.

use memchr::memchr;

use super::ast::Look;
use super::nfa::{MORE, Nfa, State, WORD, WORD_ASCII};
use crate::search::patience::Patience;

/// The transition is not known yet.
const UNKNOWN: u32 = SPECIAL + 4;
/// The line matches.
const MATCH: u32 = SPECIAL + 3;
/// No match can follow in this line.
const DEAD: u32 = SPECIAL + 2;
/// It depends on a character of which it is not known what it is.
const UNSURE: u32 = SPECIAL + 1;
/// The numbers from here on are those above. No table is so large, so they have no row, and adding
/// a column to them does not overflow.
const SPECIAL: u32 = 1 << 30;
/// The largest table, in bytes.
const MAX_BYTES: usize = 2 << 20;
/// Work between two reports of it.
const SLICE: usize = 1 << 16;
/// A flag of a state: it contains conditions.
const LOOKS: u8 = 0x80;
/// A flag of a state: it is at the start of a line.
const AT_START: u8 = 0x40;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The line at this position matches.
    Hit(usize),
    /// No further line matches.
    Nothing,
    /// The answer depends on Unicode tables that are not loaded.
    Unsure,
    /// The time was over.
    Over,
}

/// The deterministic automaton, as far as it is built.
#[derive(Default)]
pub(super) struct Lazy {
    /// A row for each state: its transitions. A state is named by the start of its row.
    rows: Vec<u32>,
    /// For each state, the bits of the automaton's states.
    sets: Vec<u64>,
    /// For each state: what is known of the character before, and [`LOOKS`].
    flags: Vec<u8>,
    /// A hash table of states; 0 is free.
    index: Vec<u32>,
    start: Option<u32>,
    /// The state to leave, with conditions resolved, and the one to reach.
    from: Vec<u64>,
    now: Vec<u64>,
    next: Vec<u64>,
    stack: Vec<u32>,
    /// Steps that were not reported yet.
    work: usize,
}

/// Where one step leads, before it has a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Match,
    To(u8),
}

impl Lazy {
    /// Searches the lines from `at`, the start of a line.
    pub(super) fn run(
        &mut self,
        nfa: &Nfa,
        body: &[u8],
        mut at: usize,
        patience: &Patience,
    ) -> Found {
        let mut state = self.start(nfa);
        loop {
            if self.work >= SLICE && !patience.worked(std::mem::take(&mut self.work)) {
                return Found::Over;
            }
            if state < SPECIAL {
                let began = at;
                (state, at) = self.glide(nfa, body, state, at);
                self.work += at - began;
            } else if state == MATCH {
                return Found::Hit(at);
            } else {
                let rest = body.get(at..).unwrap_or_default();
                let newline = memchr(b'\n', rest).unwrap_or(rest.len());
                self.work += newline / 16;
                at += newline;
            }
            let next = body.get(at + 1);
            let (column, length) = match body.get(at) {
                None if self.ends(nfa, state) => return Found::Hit(at),
                None => return Found::Nothing,
                Some(b'\n') if self.ends(nfa, state) => return Found::Hit(at),
                Some(b'\n') => {
                    self.work += 1;
                    at += 1;
                    state = self.start(nfa);
                    continue;
                }
                // The `\r` of a line ending is not part of the line, unless that is a match.
                Some(b'\r') if matches!(next, None | Some(b'\n')) && self.ends(nfa, state) => {
                    return Found::Hit(at);
                }
                Some(byte) if *byte < 128 => (nfa.class(u32::from(*byte)), 1),
                Some(_) => {
                    let (c, length) = decode(body.get(at..).unwrap_or_default());
                    (nfa.class(c), length)
                }
            };
            self.work += 4;
            match self.go(nfa, state, column) {
                UNSURE => return Found::Unsure,
                MATCH => return Found::Hit(at),
                next => state = next,
            }
            at += length;
        }
    }

    /// Follows known transitions over ASCII, for one slice at most.
    fn glide(&self, nfa: &Nfa, body: &[u8], mut state: u32, mut at: usize) -> (u32, usize) {
        let end = body.len().min(at.saturating_add(SLICE));
        let rows = self.rows.as_slice();
        let column = |byte: u8| {
            let column = nfa.bytes.get(usize::from(byte)).copied();
            usize::from(column.unwrap_or_default())
        };
        let follow = |state: u32, byte: u8| {
            let next = rows.get(state as usize + column(byte)).copied();
            next.unwrap_or(UNKNOWN)
        };
        let text = body.get(at..end).unwrap_or_default();
        // Four at a time: a special state has no row, so all that follow it are special too.
        for four in text.chunks_exact(4) {
            let &[a, b, c, d] = four else { break };
            let next = follow(follow(follow(follow(state, a), b), c), d);
            if next >= SPECIAL {
                break;
            }
            state = next;
            at += 4;
        }
        for byte in body.get(at..end).unwrap_or_default() {
            let next = follow(state, *byte);
            if next >= SPECIAL {
                break;
            }
            state = next;
            at += 1;
        }
        (state, at)
    }

    /// The transition of a state by a column of its row.
    fn go(&mut self, nfa: &Nfa, state: u32, column: usize) -> u32 {
        if state >= SPECIAL {
            return state;
        }
        let place = state as usize + column;
        match self.rows.get(place) {
            Some(next) if *next != UNKNOWN => *next,
            _ => self.build(nfa, state, column),
        }
    }

    /// Whether a line that ends in this state matches.
    fn ends(&mut self, nfa: &Nfa, state: u32) -> bool {
        self.go(nfa, state, nfa.classes + 1) == MATCH
    }

    /// The state at the start of a line.
    fn start(&mut self, nfa: &Nfa) -> u32 {
        if let Some(start) = self.start {
            return start;
        }
        let words = nfa.states.len().div_ceil(64);
        for set in [&mut self.from, &mut self.now, &mut self.next] {
            set.clear();
            set.resize(words, 0);
        }
        self.stack.push(nfa.start);
        let step = self.close(nfa, None, AT_START);
        let start = self.intern(nfa, step);
        self.start = Some(start);
        start
    }

    fn build(&mut self, nfa: &Nfa, state: u32, column: usize) -> u32 {
        let width = nfa.classes + MORE;
        let number = state as usize / width;
        let words = self.from.len();
        let set = self.sets.get(number * words..(number + 1) * words);
        self.from.copy_from_slice_or_clear(set);
        let flags = self.flags.get(number).copied().unwrap_or_default();
        let built = self.rows.len();
        let next = if column < nfa.classes {
            let step = self.step(nfa, flags, column);
            self.intern(nfa, step)
        } else if column == nfa.classes {
            self.unsure(nfa, flags)
        } else {
            match self.resolve(nfa, flags, None) {
                true => MATCH,
                false => DEAD,
            }
        };
        // The table may have been dropped meanwhile; the state then has no row any more.
        if self.rows.len() >= built
            && let Some(place) = self.rows.get_mut(state as usize + column)
        {
            *place = next;
        }
        next
    }

    /// The transition by an unsure character: known if it does not matter what it is.
    fn unsure(&mut self, nfa: &Nfa, flags: u8) -> u32 {
        let mut first: Option<(Step, Vec<u64>)> = None;
        for class in &nfa.guesses {
            let step = self.step(nfa, flags, *class);
            match &first {
                None => first = Some((step, self.next.clone())),
                Some((other, set)) => {
                    if *other != step || step != Step::Match && *set != self.next {
                        return UNSURE;
                    }
                }
            }
        }
        match first {
            Some((step, _)) => self.intern(nfa, step),
            None => UNSURE,
        }
    }

    /// One character: from `from` to `next`.
    fn step(&mut self, nfa: &Nfa, flags: u8, class: usize) -> Step {
        let kind = nfa.kinds.get(class).copied().unwrap_or_default();
        if self.resolve(nfa, flags, Some(kind)) {
            return Step::Match;
        }
        self.next.fill(0);
        let now = std::mem::take(&mut self.now);
        for state in members(&now) {
            if let Some(State::Set(set, next)) = nfa.states.get(state)
                && nfa.has(*set, class)
            {
                self.stack.push(*next);
            }
            self.work += 4;
        }
        self.now = now;
        // A match may also begin after this character.
        self.stack.push(nfa.start);
        self.close(nfa, None, kind)
    }

    /// Resolves the conditions in `from`, into `now`. `after` is the kind of the next character;
    /// `None` at the end of the line. Returns whether that completes a match.
    fn resolve(&mut self, nfa: &Nfa, flags: u8, after: Option<u8>) -> bool {
        self.work += self.from.len() * 4 + 64;
        self.now.copy_from_slice_or_clear(Some(&self.from));
        if flags & LOOKS == 0 {
            return false;
        }
        for state in members(&self.from) {
            if let Some(State::Look(look, next)) = nfa.states.get(state)
                && holds(*look, flags, after)
            {
                self.stack.push(*next);
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        let step = self.close(nfa, Some((flags, after)), 0);
        std::mem::swap(&mut self.now, &mut self.next);
        step == Step::Match
    }

    /// Adds the states on the stack to `next`, with all that follow without a character. Conditions
    /// on the next character are resolved if it is known (`known`), else kept.
    fn close(&mut self, nfa: &Nfa, known: Option<(u8, Option<u8>)>, kind: u8) -> Step {
        let mut looks = false;
        let mut matched = false;
        while let Some(state) = self.stack.pop() {
            let Some(bits) = self.next.get_mut(state as usize / 64) else {
                continue;
            };
            let bit = 1u64 << (state % 64);
            if *bits & bit != 0 {
                continue;
            }
            *bits |= bit;
            self.work += 4;
            match nfa.states.get(state as usize) {
                Some(State::Split(one, other)) => self.stack.extend([*one, *other]),
                Some(State::Look(look, next)) => match (look, known) {
                    (Look::Start, None) if kind & AT_START != 0 => self.stack.push(*next),
                    (Look::Start, None) => {}
                    (_, None) => looks = true,
                    (look, Some((before, after))) => {
                        if holds(*look, before, after) {
                            self.stack.push(*next);
                        }
                    }
                },
                Some(State::Match) => matched = true,
                Some(State::Set(..)) | None => {}
            }
        }
        match (matched, looks) {
            (true, _) => Step::Match,
            (false, true) => Step::To(kind | LOOKS),
            (false, false) => Step::To(0),
        }
    }

    /// The row of the state in `next`.
    fn intern(&mut self, nfa: &Nfa, step: Step) -> u32 {
        let Step::To(flags) = step else {
            return MATCH;
        };
        let alive = members(&self.next).any(|state| {
            matches!(
                nfa.states.get(state),
                Some(State::Set(..) | State::Look(..))
            )
        });
        if !alive {
            return DEAD;
        }
        let width = nfa.classes + MORE;
        let words = self.next.len();
        let hash = self.next.iter().fold(u64::from(flags), |hash, word| {
            (hash ^ word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(31)
        });
        let count = self.flags.len();
        let used = self.rows.len() * 4 + self.sets.len() * 8;
        if used + width * 4 + words * 8 > MAX_BYTES.max(width * 4 * 4) {
            self.rows.clear();
            self.sets.clear();
            self.flags.clear();
            self.index.clear();
            self.start = None;
        } else if (count + 1) * 2 > self.index.len() {
            self.rehash(words);
        }
        if self.index.is_empty() {
            self.index.resize(64, 0);
        }
        let mask = self.index.len() - 1;
        let mut bucket = hash as usize & mask;
        loop {
            let state = match self.index.get(bucket) {
                None | Some(0) => break,
                Some(state) => *state as usize - 1,
            };
            let set = self.sets.get(state * words..(state + 1) * words);
            if self.flags.get(state) == Some(&flags) && set == Some(&self.next) {
                return u32::try_from(state * width).unwrap_or(DEAD);
            }
            bucket = (bucket + 1) & mask;
        }
        let state = self.flags.len();
        self.flags.push(flags);
        self.sets.extend_from_slice(&self.next);
        let row = self.rows.len();
        self.rows.resize(row + width, UNKNOWN);
        self.work += width + words;
        if let Some(place) = self.index.get_mut(bucket) {
            *place = u32::try_from(state + 1).unwrap_or(0);
        }
        u32::try_from(row).unwrap_or(DEAD)
    }

    fn rehash(&mut self, words: usize) {
        let size = (self.index.len() * 2).max(64);
        self.index.clear();
        self.index.resize(size, 0);
        for (state, flags) in self.flags.iter().enumerate() {
            let set = self.sets.get(state * words..(state + 1) * words);
            let hash = set
                .unwrap_or_default()
                .iter()
                .fold(u64::from(*flags), |hash, word| {
                    (hash ^ word)
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        .rotate_left(31)
                });
            let mut bucket = hash as usize & (size - 1);
            while self.index.get(bucket).is_some_and(|taken| *taken != 0) {
                bucket = (bucket + 1) & (size - 1);
            }
            if let Some(place) = self.index.get_mut(bucket) {
                *place = u32::try_from(state + 1).unwrap_or(0);
            }
        }
    }
}

/// Whether a condition holds after a character of the kind `before`.
fn holds(look: Look, before: u8, after: Option<u8>) -> bool {
    match look {
        Look::Start => before & AT_START != 0,
        Look::End => after.is_none(),
        Look::Word { edge, ascii } => {
            let bit = if ascii { WORD_ASCII } else { WORD };
            let after = after.unwrap_or_default();
            edge.holds(before & bit != 0, after & bit != 0)
        }
    }
}

/// The numbers of the bits that are set.
fn members(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some(at * 64 + bit as usize)
        })
    })
}

/// The first character of a text with a byte above 127, and its length. What is not UTF-8 counts
/// as U+FFFD, in the same pieces as in the text that callers receive.
fn decode(text: &[u8]) -> (u32, usize) {
    let known = match text {
        [a @ 0xc2..=0xdf, b, ..] => Some((u32::from(a & 0x1f) << 6 | tail(*b), 2, *b >= 0xc0)),
        [a @ 0xe0..=0xef, b, c, ..] => Some((
            u32::from(a & 0x0f) << 12 | tail(*b) << 6 | tail(*c),
            3,
            b & c & 0xc0 != 0x80,
        )),
        _ => None,
    };
    if let Some((c, length, false)) = known
        && text.iter().take(length).skip(1).all(|b| b & 0xc0 == 0x80)
        && char::from_u32(c).is_some_and(|c| c.len_utf8() == length)
    {
        return (c, length);
    }
    let piece = text.get(..4).unwrap_or(text);
    let Some(chunk) = piece.utf8_chunks().next() else {
        return (0xfffd, 1);
    };
    match chunk.valid().chars().next() {
        Some(c) => (u32::from(c), c.len_utf8()),
        None => (0xfffd, chunk.invalid().len().max(1)),
    }
}

fn tail(byte: u8) -> u32 {
    u32::from(byte & 0x3f)
}

trait CopyOrClear {
    fn copy_from_slice_or_clear(&mut self, from: Option<&[u64]>);
}

impl CopyOrClear for Vec<u64> {
    fn copy_from_slice_or_clear(&mut self, from: Option<&[u64]>) {
        match from {
            Some(from) if from.len() == self.len() => self.copy_from_slice(from),
            _ => self.fill(0),
        }
    }
}
