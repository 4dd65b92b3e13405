//! The parser that every build has. It reads the syntax of the crate `regex` and knows little of
//! Unicode (`tables`). It never guesses: an expression that needs more is refused with the line
//! that loads the full parser, and where the answer depends on a character of which it is unsure,
//! the search is.

mod class;

use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

use self::class::Member;
use super::ast::{Ast, Edge, Look, Range, Set};
use super::nfa::Facts;
use super::tables;
use super::{Parsed, needs_full};
use crate::core::error::Result;

/// The deepest nesting, so that parsing cannot overflow the stack.
const MAX_DEPTH: usize = 100;
/// Stand-ins for an unsure character: a word character, a digit, and neither.
const GUESS_WORD: u32 = 0x11_0000;
const GUESS_DIGIT: u32 = 0x11_0001;
const GUESS_OTHER: u32 = 0x11_0002;
const LAST: u32 = GUESS_OTHER;

/// Parses an expression.
pub(super) fn parse(pattern: &str, ignore_case: bool) -> Result<Parsed> {
    let mut parser = Parser {
        rest: pattern.chars().peekable(),
        flags: Flags {
            ignore_case,
            any: false,
            crlf: true,
        },
        depth: 0,
        repeated: 0,
        asks_words: false,
        asks_digits: false,
        named: Vec::new(),
        explicit: Vec::new(),
    };
    let ast = parser.alternatives()?;
    if parser.rest.peek().is_some() {
        return Err(super::invalid("unopened group: a ')' without a '('"));
    }
    let known = |ranges: &[&[Range]]| Set::of(ranges.concat()).negated(u32::from(char::MAX));
    let unsure = match (parser.asks_words, parser.asks_digits) {
        (true, _) => known(&[&[(0, 0x7f)], &tables::WORDS, &tables::OTHERS]),
        (false, true) => known(&[&[(0, 0x7f)], &tables::NO_DIGITS]),
        (false, false) => Set::default(),
    };
    if unsure.meets(&parser.explicit) {
        return Err(needs_full(
            "it has \\w, \\d or \\b beside letters of other scripts",
        ));
    }
    let mut words = tables::WORDS.to_vec();
    words.extend([(GUESS_WORD, GUESS_DIGIT)]);
    let guesses = match unsure.ranges() {
        [] => Vec::new(),
        _ => vec![GUESS_WORD, GUESS_DIGIT, GUESS_OTHER],
    };
    Ok(Parsed {
        ast,
        facts: Facts {
            words: Rc::new(Set::of(words)),
            unsure,
            guesses,
        },
    })
}

#[derive(Clone, Copy)]
struct Flags {
    ignore_case: bool,
    /// `.` matches line endings too.
    any: bool,
    /// `\r` ends a line, so `.` does not match it.
    crlf: bool,
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    flags: Flags,
    depth: usize,
    /// Repetitions of a repetition, such as `a**`.
    repeated: usize,
    /// Whether the expression asks which characters are word characters, or digits.
    asks_words: bool,
    asks_digits: bool,
    named: Vec<String>,
    /// The ranges that the expression itself names.
    explicit: Vec<Range>,
}

fn wrong<T>(why: &'static str) -> Result<T> {
    Err(super::invalid(why))
}

impl Parser<'_> {
    /// Everything up to the `)` that closes this group.
    fn alternatives(&mut self) -> Result<Ast> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return wrong("its groups are nested too deeply");
        }
        let outer = self.flags;
        let mut branches = Vec::new();
        let mut parts: Vec<Ast> = Vec::new();
        while let Some(c) = self.rest.next_if(|c| *c != ')') {
            match c {
                '|' => branches.push(Ast::Concat(std::mem::take(&mut parts))),
                '*' => self.repeat(&mut parts, 0, None)?,
                '+' => self.repeat(&mut parts, 1, None)?,
                '?' => self.repeat(&mut parts, 0, Some(1))?,
                '{' => {
                    let (least, most) = self.counts()?;
                    self.repeat(&mut parts, least, most)?;
                }
                '(' => {
                    if let Some(group) = self.group()? {
                        parts.push(group);
                    } else {
                        // Flags for the rest of this group; they cannot be repeated.
                        parts.push(Ast::Alt(Vec::new()));
                    }
                }
                '[' => parts.push(self.class()?),
                '.' => {
                    let ends = match self.flags {
                        Flags { any: true, .. } => Vec::new(),
                        Flags { crlf: true, .. } => vec![(0x0a, 0x0a), (0x0d, 0x0d)],
                        _ => vec![(0x0a, 0x0a)],
                    };
                    parts.push(Ast::Set(Rc::new(Set::of(ends).negated(LAST))));
                }
                '^' => parts.push(Ast::Look(Look::Start)),
                '$' => parts.push(Ast::Look(Look::End)),
                '\\' => {
                    let part = self.escape()?;
                    parts.push(part);
                }
                c => {
                    let part = self.literal(c);
                    parts.push(part);
                }
            }
        }
        self.flags = outer;
        self.depth -= 1;
        branches.push(Ast::Concat(parts));
        Ok(match branches.len() {
            1 => branches.pop().unwrap_or(Ast::Empty),
            _ => Ast::Alt(branches),
        })
    }

    /// Repeats the last part.
    fn repeat(&mut self, parts: &mut Vec<Ast>, least: u32, most: Option<u32>) -> Result<()> {
        // Whether it is lazy makes no difference to a search by lines.
        self.rest.next_if_eq(&'?');
        let inner = match parts.pop() {
            None => return wrong("repetition operator missing expression"),
            Some(Ast::Alt(branches)) if branches.is_empty() => {
                return wrong("repetition operator missing expression");
            }
            Some(inner) => inner,
        };
        if matches!(inner, Ast::Repeat { .. }) {
            self.repeated += 1;
            if self.repeated > MAX_DEPTH {
                return wrong("it repeats too many repetitions");
            }
        }
        parts.push(match (least, most) {
            (1, Some(1)) => inner,
            _ => Ast::Repeat {
                inner: Box::new(inner),
                least,
                most,
            },
        });
        Ok(())
    }

    /// `3}`, `3,}` or `3,5}`.
    fn counts(&mut self) -> Result<(u32, Option<u32>)> {
        let least = self.number()?;
        let comma = self.rest.next_if_eq(&',').is_some();
        let most = if comma { self.number()? } else { least };
        if self.rest.next() != Some('}') {
            return wrong("unclosed counted repetition");
        }
        match (least, most) {
            (None, _) => wrong("repetition quantifier expects a valid decimal"),
            (Some(least), Some(most)) if most < least => {
                wrong("invalid repetition count range, the start must be <= the end")
            }
            (Some(least), most) => Ok((least, most)),
        }
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let mut text = String::new();
        while self.rest.next_if_eq(&' ').is_some() {}
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            text.push(digit);
        }
        while self.rest.next_if_eq(&' ').is_some() {}
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => wrong("a repetition count is too large"),
        }
    }

    /// A group whose `(` was read; `None` for flags that hold up to the end of the outer group.
    fn group(&mut self) -> Result<Option<Ast>> {
        let outer = self.flags;
        if self.rest.next_if_eq(&'?').is_some() && !self.head()? {
            return Ok(None);
        }
        let inner = self.alternatives()?;
        if self.rest.next() != Some(')') {
            return wrong("unclosed group");
        }
        self.flags = outer;
        Ok(Some(match inner {
            // An empty list of branches marks flags only.
            Ast::Alt(branches) if branches.is_empty() => Ast::Empty,
            inner => inner,
        }))
    }

    /// What follows `(?`: a name or flags. Returns whether a group follows.
    fn head(&mut self) -> Result<bool> {
        if matches!(self.rest.peek(), Some('=' | '!')) {
            return wrong("look-around, including look-ahead and look-behind, is not supported");
        }
        let python = self.rest.next_if_eq(&'P').is_some();
        if self.rest.next_if_eq(&'<').is_some() {
            if !python && matches!(self.rest.peek(), Some('=' | '!')) {
                return wrong(
                    "look-around, including look-ahead and look-behind, is not supported",
                );
            }
            return self.name().map(|()| true);
        }
        if python {
            return wrong("unrecognized flag");
        }
        let mut on = true;
        let mut count = 0usize;
        loop {
            match self.rest.next() {
                Some(':') if on || count > 0 => return Ok(true),
                Some(')') if count > 0 => return Ok(false),
                Some('-') if on => (on, count) = (false, 0),
                Some('i') => self.flags.ignore_case = on,
                Some('s') => self.flags.any = on,
                Some('u') if !on => return Err(needs_full("it turns Unicode off by (?-u)")),
                Some('x') if on => return Err(needs_full("it has white space and comments, (?x)")),
                Some('R') => self.flags.crlf = on,
                // These change nothing within a line.
                Some('m' | 'U' | 'u' | 'x') => {}
                Some(')') => return wrong("repetition operator missing expression"),
                None => return wrong("unclosed group"),
                Some(_) => return wrong("unrecognized flag"),
            }
            count += usize::from(on) | 1;
        }
    }

    fn name(&mut self) -> Result<()> {
        let mut name = String::new();
        loop {
            match self.rest.next() {
                Some('>') => break,
                Some(c) if c.is_ascii_alphabetic() || c == '_' => name.push(c),
                Some(c) if !name.is_empty() && (c.is_ascii_digit() || ".[]".contains(c)) => {
                    name.push(c);
                }
                Some(c) if !c.is_ascii() => {
                    return Err(needs_full("it names a group beyond ASCII"));
                }
                Some(_) => return wrong("invalid capture group character"),
                None => return wrong("unclosed capture group name"),
            }
        }
        if name.is_empty() {
            return wrong("empty capture group name");
        }
        if self.named.contains(&name) {
            return wrong("duplicate capture group name");
        }
        self.named.push(name);
        Ok(())
    }

    /// A character that stands for itself.
    fn literal(&mut self, c: char) -> Ast {
        let mut ranges = Vec::new();
        self.add(c.into(), c.into(), &mut ranges);
        Ast::Set(Rc::new(Set::of(ranges)))
    }

    /// What an escape outside a class stands for.
    fn escape(&mut self) -> Result<Ast> {
        let edge = match self.rest.peek() {
            Some('A') => return Ok(self.look(Look::Start)),
            Some('z') => return Ok(self.look(Look::End)),
            Some('b') => Edge::Any,
            Some('B') => Edge::None,
            Some('<') => Edge::Start,
            Some('>') => Edge::End,
            _ => {
                return match self.member()? {
                    Member::Char(c) => Ok(self.literal(c)),
                    Member::Set(set) => Ok(Ast::Set(Rc::new(set))),
                };
            }
        };
        self.rest.next();
        let mut edge = edge;
        if edge == Edge::Any && self.rest.peek() == Some(&'{') {
            let name: String = self
                .rest
                .clone()
                .skip(1)
                .take_while(|c| *c != '}')
                .collect();
            edge = match &*name {
                "start" => Edge::Start,
                "end" => Edge::End,
                "start-half" => Edge::StartHalf,
                "end-half" => Edge::EndHalf,
                // A repetition, which the caller reads.
                _ if name.starts_with(|c: char| c.is_ascii_digit()) => Edge::Any,
                _ => return wrong("unrecognized word boundary assertion"),
            };
            if edge != Edge::Any {
                self.rest.by_ref().find(|c| *c == '}');
            }
        }
        self.asks_words = true;
        Ok(Ast::Look(Look::Word { edge, ascii: false }))
    }

    fn look(&mut self, look: Look) -> Ast {
        self.rest.next();
        Ast::Look(look)
    }
}
