//! One pattern of an ignore file, as git's `wildmatch` reads it. All positions of the pattern that the
//! text may have reached are followed at once, so no pattern takes long.

use std::ops::Range;

use crate::core::path::MAX_BYTES;

/// A part of a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Byte(u8),
    /// `?`: any byte but `/`.
    Any,
    /// `[…]`, by its number: never `/`.
    Class(usize),
    /// `*`: any bytes but `/`.
    Star,
    /// `**/` at the beginning or behind a `/`: any directories, or none.
    Directories,
    /// `**` at the end behind a `/`: anything.
    Rest,
}

/// A set of bytes.
type Bytes = [u64; 4];

fn has(set: &Bytes, byte: u8) -> bool {
    let word = set.get(usize::from(byte / 64));
    word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
}

fn add(set: &mut Bytes, byte: u8) {
    if let Some(word) = set.get_mut(usize::from(byte / 64)) {
        *word |= 1 << (byte % 64);
    }
}

/// Adds all bytes from one to another; none if they are the wrong way round.
fn add_range(set: &mut Bytes, from: u8, to: u8) {
    for (word, first) in set.iter_mut().zip([0u8, 64, 128, 192]) {
        let (low, high) = (from.max(first), to.min(first + 63));
        if low <= high {
            *word |= (u64::MAX << (low % 64)) & (u64::MAX >> (63 - high % 64));
        }
    }
}

/// The parts of many patterns. They lie in two lists, because to free a list for each of 100,000 patterns would
/// take longer than a frame of a page.
#[derive(Default)]
pub struct Patterns {
    parts: Vec<Part>,
    classes: Vec<Bytes>,
}

/// Where the parts of a pattern are.
pub struct Pattern {
    parts: Range<usize>,
    /// The fewest bytes that it matches.
    least: usize,
}

/// What a pattern is if it has a common shape.
pub enum Shape {
    /// One text.
    Exact(Vec<u8>),
    /// `*` and a text behind it.
    Ends(Vec<u8>),
}

impl Patterns {
    /// Reads a pattern without its `!` and the `/` around it. `None` if it matches no path: it is broken,
    /// or needs more bytes than a path has.
    pub fn read(&mut self, text: &[u8]) -> Option<Pattern> {
        let (from, classes) = (self.parts.len(), self.classes.len());
        let least = self.append(text);
        if least.is_none() {
            self.parts.truncate(from);
            self.classes.truncate(classes);
        }
        Some(Pattern {
            parts: from..self.parts.len(),
            least: least?,
        })
    }

    /// Forgets the pattern that was read last, and has no class.
    pub fn forget(&mut self, pattern: &Pattern) {
        self.parts.truncate(pattern.parts.start);
    }

    /// Adds the parts of a pattern; the fewest bytes that it matches.
    fn append(&mut self, text: &[u8]) -> Option<usize> {
        let from = self.parts.len();
        let mut least = 0;
        let mut at = 0;
        let mut is_plain = true;
        while let Some(&byte) = text.get(at) {
            at += 1;
            let part = match byte {
                b'?' => Part::Any,
                b'*' => {
                    // git compares the text before the first wildcard by itself, so what follows it
                    // stands at the beginning.
                    let begins = is_plain || text.get(at.wrapping_sub(2)) == Some(&b'/');
                    let first = at;
                    while text.get(at) == Some(&b'*') {
                        at += 1;
                    }
                    match text.get(at) {
                        None if begins && at > first => Part::Rest,
                        Some(b'/') if begins && at > first => {
                            at += 1;
                            Part::Directories
                        }
                        _ => Part::Star,
                    }
                }
                b'[' => {
                    let (set, length) = class(text.get(at..)?)?;
                    at += length;
                    self.classes.push(set);
                    Part::Class(self.classes.len() - 1)
                }
                b'\\' => {
                    let next = *text.get(at)?;
                    at += 1;
                    Part::Byte(next)
                }
                byte => Part::Byte(byte),
            };
            is_plain &= !b"*?[\\".contains(&byte);
            match part {
                // Any more of them match the same.
                Part::Star | Part::Directories | Part::Rest => {
                    let own = self.parts.get(from..).unwrap_or_default();
                    if own.last() != Some(&part) {
                        self.parts.push(part);
                    }
                }
                Part::Byte(_) | Part::Any | Part::Class(_) => {
                    least += 1;
                    self.parts.push(part);
                }
            }
            if least > MAX_BYTES {
                return None;
            }
        }
        Some(least)
    }

    fn parts(&self, pattern: &Pattern) -> &[Part] {
        self.parts.get(pattern.parts.clone()).unwrap_or_default()
    }

    /// The shape of a pattern, if it is a common one.
    pub fn shape(&self, pattern: &Pattern) -> Option<Shape> {
        let all = self.parts(pattern);
        let (parts, ends) = match all.split_first() {
            Some((Part::Star, rest)) => (rest, true),
            _ => (all, false),
        };
        let byte = |part: &Part| match part {
            Part::Byte(byte) => Some(*byte),
            _ => None,
        };
        let text: Vec<u8> = parts.iter().map(byte).collect::<Option<_>>()?;
        Some(match ends {
            true => Shape::Ends(text),
            false => Shape::Exact(text),
        })
    }

    /// Whether a pattern matches all of a text; adds the steps that this takes to `steps`.
    pub fn matches(&self, pattern: &Pattern, text: &[u8], steps: &mut usize) -> bool {
        *steps += 1;
        if text.len() < pattern.least {
            return false;
        }
        let parts = self.parts(pattern);
        // What it begins and ends with is compared first.
        let same = |(part, byte): (&Part, &u8)| matches!(part, Part::Byte(one) if one == byte);
        let plain = |(part, _): &(&Part, &u8)| matches!(part, Part::Byte(_));
        let mut start = parts.iter().zip(text).take_while(plain);
        let mut end = parts.iter().rev().zip(text.iter().rev());
        if !start.all(same) || !end.by_ref().take_while(plain).all(same) {
            return false;
        }
        let mut now = Places::new(parts.len() + 1);
        let mut next = Places::new(parts.len() + 1);
        reach(parts, &mut now, 0);
        let is_in = |class: usize, byte| self.classes.get(class).is_some_and(|set| has(set, byte));
        for &byte in text {
            *steps += now.list.len() + 1;
            for &at in &now.list {
                match parts.get(at) {
                    Some(Part::Byte(one)) if *one == byte => reach(parts, &mut next, at + 1),
                    Some(Part::Any) if byte != b'/' => reach(parts, &mut next, at + 1),
                    Some(Part::Class(class)) if is_in(*class, byte) => {
                        reach(parts, &mut next, at + 1);
                    }
                    Some(Part::Star) if byte != b'/' => reach(parts, &mut next, at),
                    Some(Part::Directories) => {
                        next.add(at);
                        if byte == b'/' {
                            reach(parts, &mut next, at + 1);
                        }
                    }
                    Some(Part::Rest) => reach(parts, &mut next, at),
                    _ => {}
                }
            }
            if next.list.is_empty() {
                return false;
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
        now.has(parts.len())
    }
}

/// Marks a position, and those behind it that need no byte.
fn reach(parts: &[Part], places: &mut Places, mut at: usize) {
    while places.add(at) {
        match parts.get(at) {
            Some(Part::Star | Part::Directories | Part::Rest) => at += 1,
            _ => return,
        }
    }
}

/// Positions of a pattern, each once.
struct Places {
    list: Vec<usize>,
    marks: Vec<bool>,
}

impl Places {
    fn new(size: usize) -> Places {
        Places {
            list: Vec::new(),
            marks: vec![false; size],
        }
    }

    fn has(&self, at: usize) -> bool {
        self.marks.get(at) == Some(&true)
    }

    /// Adds a position. Returns whether it is new.
    fn add(&mut self, at: usize) -> bool {
        let Some(mark) = self.marks.get_mut(at) else {
            return false;
        };
        let is_new = !std::mem::replace(mark, true);
        if is_new {
            self.list.push(at);
        }
        is_new
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            if let Some(mark) = self.marks.get_mut(at) {
                *mark = false;
            }
        }
    }
}

/// The bytes of a class, and how much text it takes behind its `[`; `None` if it does not end.
fn class(text: &[u8]) -> Option<(Bytes, usize)> {
    let mut set: Bytes = [0; 4];
    let mut at = 0;
    let negates = matches!(text.first(), Some(b'!' | b'^'));
    if negates {
        at += 1;
    }
    let mut is_first = true;
    let mut before: Option<u8> = None;
    // Where the next `]` is, if it was looked for, and which names were added already: neither may be
    // found again and again in a long class.
    let mut close = 0;
    let mut named = [false; NAMES.len()];
    loop {
        let byte = *text.get(at)?;
        at += 1;
        if byte == b']' && !is_first {
            break;
        }
        is_first = false;
        let ranges = byte == b'-' && before.is_some() && text.get(at) != Some(&b']');
        if let (true, Some(from)) = (ranges, before) {
            let mut to = *text.get(at)?;
            at += 1;
            if to == b'\\' {
                to = *text.get(at)?;
                at += 1;
            }
            add_range(&mut set, from, to);
            // The end of a range begins no other one.
            before = None;
            continue;
        }
        if byte == b'[' && text.get(at) == Some(&b':') {
            if close <= at {
                close = at + 1 + memchr::memchr(b']', text.get(at + 1..)?)?;
            }
            // `[:` that is not closed by `:]` is an ordinary `[`.
            let inside = text.get(at + 1..close).unwrap_or_default();
            if let Some(name) = inside.strip_suffix(b":") {
                let number = NAMES.iter().position(|(one, _)| *one == name)?;
                let (is, known) = (NAMES.get(number)?.1, named.get_mut(number)?);
                if !std::mem::replace(known, true) {
                    let all = (0..=255u8).filter(|byte| is(*byte));
                    all.for_each(|byte| add(&mut set, byte));
                }
                at = close + 1;
                before = None;
                continue;
            }
        }
        let byte = match byte {
            b'\\' => {
                let next = *text.get(at)?;
                at += 1;
                next
            }
            byte => byte,
        };
        add(&mut set, byte);
        before = Some(byte);
    }
    if negates {
        set.iter_mut().for_each(|word| *word = !*word);
    }
    // The slash is in the first word.
    if let Some(word) = set.first_mut() {
        *word &= !(1 << b'/');
    }
    Some((set, at))
}

/// A name of bytes, and which they are.
type Named = (&'static [u8], fn(u8) -> bool);

const NAMES: [Named; 12] = [
    (b"alnum", |byte| byte.is_ascii_alphanumeric()),
    (b"alpha", |byte| byte.is_ascii_alphabetic()),
    (b"blank", |byte| byte == b' ' || byte == b'\t'),
    (b"cntrl", |byte| byte.is_ascii_control()),
    (b"digit", |byte| byte.is_ascii_digit()),
    (b"graph", |byte| byte.is_ascii_graphic()),
    (b"lower", |byte| byte.is_ascii_lowercase()),
    (b"print", |byte| byte.is_ascii_graphic() || byte == b' '),
    (b"punct", |byte| byte.is_ascii_punctuation()),
    (b"space", |byte| byte.is_ascii_whitespace() || byte == 0x0b),
    (b"upper", |byte| byte.is_ascii_uppercase()),
    (b"xdigit", |byte| byte.is_ascii_hexdigit()),
];
