//! The parser that every build has. It reads the syntax of the crate `regex` and knows little of
//! Unicode (`tables`). It never guesses: an expression that needs more is refused with the line
//! that loads the full parser, and where the answer depends on a character of which it is unsure,
//! the search is.

use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

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

/// A member of a class: a character, which may begin a range, or a set.
enum Member {
    Char(char),
    Set(Set),
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
                '.' => parts.push(Ast::Set(Rc::new(match self.flags.any {
                    true => Set::of(vec![(0, LAST)]),
                    false => Set::of(vec![(0, 9), (0x0b, 0x0c), (0x0e, LAST)]),
                }))),
                '^' => parts.push(Ast::Look(Look::Start)),
                '$' => parts.push(Ast::Look(Look::End)),
                '\\' => {
                    let part = self.escape()?;
                    parts.push(part);
                }
                c => {
                    let part = self.literal(c)?;
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
                // These change nothing within a line.
                Some('m' | 'U' | 'R' | 'u' | 'x') => {}
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
    fn literal(&mut self, c: char) -> Result<Ast> {
        Ok(Ast::Set(Rc::new(self.range(c, c)?)))
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
                    Member::Char(c) => self.literal(c),
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

    /// What follows a `\`, in a class or outside.
    fn member(&mut self) -> Result<Member> {
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

    fn hex(&mut self, digits: usize) -> Result<char> {
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
    fn class(&mut self) -> Result<Ast> {
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
                '[' => match self.posix()? {
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
            ranges.extend(self.range(first, last)?.ranges());
        }
        let set = signed(Set::of(ranges), negated);
        Ok(Ast::Set(Rc::new(set)))
    }

    /// `[:name:]` in a class, after its first `[`; `None` if it is something else.
    fn posix(&mut self) -> Result<Option<Set>> {
        if self.rest.peek() != Some(&':') {
            return Ok(None);
        }
        let inside: String = self
            .rest
            .clone()
            .skip(1)
            .take_while(|c| *c != ']')
            .collect();
        let Some(name) = inside.strip_suffix(':') else {
            return Ok(None);
        };
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let ranges: &[(char, char)] = match name {
            "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
            "alpha" => &[('A', 'Z'), ('a', 'z')],
            "ascii" => &[('\0', '\x7f')],
            "blank" => &[('\t', '\t'), (' ', ' ')],
            "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
            "digit" => &[('0', '9')],
            "graph" => &[('!', '~')],
            "lower" => &[('a', 'z')],
            "print" => &[(' ', '~')],
            "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
            "space" => &[('\t', '\r'), (' ', ' ')],
            "upper" => &[('A', 'Z')],
            "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
            "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
            _ => return Ok(None),
        };
        self.rest.by_ref().find(|c| *c == ']');
        let mut all = Vec::new();
        for (first, last) in ranges {
            all.extend(self.range(*first, *last)?.ranges());
        }
        Ok(Some(signed(Set::of(all), negated)))
    }

    /// The characters of a range, in both cases if case is ignored.
    fn range(&mut self, first: char, last: char) -> Result<Set> {
        let (first, last) = (u32::from(first), u32::from(last));
        let mut ranges = vec![(first, last)];
        if last > 0x7f {
            self.explicit.push((first.max(0x80), last));
        }
        if self.flags.ignore_case {
            let plain = |(from, to): &Range| first.max(0x80) >= *from && last <= *to;
            if last > 0x7f && !tables::ONE_CASE.iter().any(plain) {
                return Err(needs_full("it ignores the case of letters beyond ASCII"));
            }
            for (from, to, other) in [(0x41, 0x5a, 0x61), (0x61, 0x7a, 0x41u32)] {
                let (low, high) = (first.max(from), last.min(to));
                if low <= high {
                    ranges.push((low - from + other, high - from + other));
                }
                // Beyond ASCII these two are the only letters with a case in ASCII.
                for (letter, wide) in [(0x0b, 0x212a), (0x13, 0x17f)] {
                    if (low..=high).contains(&(from + letter - 1)) {
                        ranges.push((wide, wide));
                    }
                }
            }
        }
        Ok(Set::of(ranges))
    }
}

fn signed(set: Set, negated: bool) -> Set {
    match negated {
        true => set.negated(LAST),
        false => set,
    }
}
