//! Classes and escapes of the light parser: `[a-z]`, `\d`, `\x{41}`, `[[:alpha:]]`.

use std::rc::Rc;

use super::{GUESS_DIGIT, GUESS_WORD, LAST, Parser, needs_full, tables, wrong};
use crate::core::error::Result;
use crate::search::alike;
use crate::search::regex::ast::{Ast, Range, Set};

/// A member of a class: a character, which may begin a range, or a set.
pub(super) enum Member {
    Char(char),
    Set(Set),
}

impl Parser<'_> {
    /// What follows a `\`, in a class or outside.
    pub(super) fn member(&mut self) -> Result<Member> {
        let Some(c) = self.rest.next() else {
            return wrong("incomplete escape sequence, reached end of pattern prematurely");
        };
        Ok(Member::Char(match c {
            'd' | 'D' => {
                self.asks_digits = true;
                let digits = vec![(0x30, 0x39), (GUESS_DIGIT, GUESS_DIGIT)];
                return Ok(Member::Set(signed(Set::of(digits), c == 'D')));
            }
            'w' | 'W' => {
                self.asks_words = true;
                let mut words = tables::WORDS.to_vec();
                words.push((GUESS_WORD, GUESS_DIGIT));
                return Ok(Member::Set(signed(Set::of(words), c == 'W')));
            }
            's' | 'S' => {
                let mut spaces = tables::SPACES.to_vec();
                spaces.push(tables::WIDE_SPACE);
                return Ok(Member::Set(signed(Set::of(spaces), c == 'S')));
            }
            'p' | 'P' => return Err(needs_full("it has a Unicode class, \\p{…}")),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            '0'..='9' => return wrong("backreferences are not supported"),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '<' | '>') => c,
            _ => return wrong("unrecognized escape sequence"),
        }))
    }

    pub(super) fn hex(&mut self, digits: usize) -> Result<char> {
        let mut text = String::new();
        if self.rest.next_if_eq(&'{').is_some() {
            loop {
                match self.rest.next() {
                    Some('}') => break,
                    Some(c) if c.is_ascii_hexdigit() && text.len() < 8 => text.push(c),
                    _ => return wrong("invalid hexadecimal digit"),
                }
            }
        } else {
            for _ in 0..digits {
                match self.rest.next() {
                    Some(c) if c.is_ascii_hexdigit() => text.push(c),
                    _ => return wrong("invalid hexadecimal digit"),
                }
            }
        }
        let number = u32::from_str_radix(&text, 16).ok();
        match number.and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => wrong("hexadecimal literal is not a Unicode scalar value"),
        }
    }

    /// A class whose `[` was read.
    pub(super) fn class(&mut self) -> Result<Ast> {
        const UNCLOSED: &str = "unclosed character class";
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges: Vec<Range> = Vec::new();
        let mut is_first = true;
        loop {
            let Some(c) = self.rest.next() else {
                return wrong(UNCLOSED);
            };
            let first = match c {
                ']' if !is_first => break,
                '[' => match self.posix() {
                    Some(set) => Member::Set(set),
                    None => return Err(needs_full("it has a class inside a class")),
                },
                '&' | '~' if self.rest.peek() == Some(&c) => {
                    return Err(needs_full("it has an operator on classes, && or ~~"));
                }
                '-' if !is_first && self.rest.peek() == Some(&'-') => {
                    return Err(needs_full("it has the operator -- on classes"));
                }
                '\\' => self.member()?,
                c => Member::Char(c),
            };
            is_first = is_first && c == '-';
            let first = match first {
                Member::Char(first) => first,
                Member::Set(set) => {
                    let mut ahead = self.rest.clone();
                    if ahead.next() == Some('-') && !matches!(ahead.next(), Some(']' | '-') | None)
                    {
                        return wrong("invalid range boundary, must be a literal");
                    }
                    ranges.extend(set.ranges());
                    continue;
                }
            };
            let mut ahead = self.rest.clone();
            let ranged =
                ahead.next() == Some('-') && !matches!(ahead.next(), Some(']' | '-') | None);
            let last = if ranged {
                self.rest.next();
                match self.rest.next() {
                    Some('\\') => match self.member()? {
                        Member::Char(c) => c,
                        Member::Set(_) => {
                            return wrong("invalid range boundary, must be a literal");
                        }
                    },
                    Some('[') => return wrong("invalid range boundary, must be a literal"),
                    Some(c) => c,
                    None => return wrong(UNCLOSED),
                }
            } else {
                first
            };
            if last < first {
                return wrong("invalid character class range, the start must be <= the end");
            }
            self.add(first.into(), last.into(), &mut ranges);
        }
        let set = signed(Set::of(ranges), negated);
        Ok(Ast::Set(Rc::new(set)))
    }

    /// `[:name:]` in a class, after its first `[`; `None` if it is something else.
    pub(super) fn posix(&mut self) -> Option<Set> {
        if self.rest.peek() != Some(&':') {
            return None;
        }
        let inside: String = self
            .rest
            .clone()
            .skip(1)
            .take_while(|c| *c != ']')
            .collect();
        let name = inside.strip_suffix(':')?;
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let ranges = tables::ascii(name)?;
        self.rest.by_ref().find(|c| *c == ']');
        let mut all = Vec::new();
        for (first, last) in ranges {
            self.add(*first, *last, &mut all);
        }
        Some(signed(Set::of(all), negated))
    }

    /// Adds the characters of a range, in both cases if case is ignored.
    pub(super) fn add(&mut self, first: u32, last: u32, ranges: &mut Vec<Range>) {
        let before = ranges.len();
        ranges.push((first, last));
        if self.flags.ignore_case {
            alike::add_alike(first, last, ranges);
        }
        for (first, last) in ranges.iter().skip(before) {
            if *last > 0x7f {
                self.explicit.push((*first.max(&0x80), *last));
            }
        }
    }
}

fn signed(set: Set, negated: bool) -> Set {
    match negated {
        true => set.negated(LAST),
        false => set,
    }
}
