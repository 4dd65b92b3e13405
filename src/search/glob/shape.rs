//! What an alternative matches. The common shapes (`**/*.ts`, `src/**/*.js`, `*.md`, an exact
//! name) are comparisons of text; whatever is left becomes one regular expression, which takes
//! linear time and is built from the tokens, never from text that would need escaping.
//!
//! Why not `globset`: it reads `?` and `[…]` by byte, so that `?.txt` misses `語.txt`; its classes
//! match `/`; and `**` inside braces depends on where the brace stands.

use regex_automata::meta::{Config, Regex};
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, Look, Repetition};

use super::parse::{Alternative, Segment, Token, invalid};
use crate::error::Result;

/// The most characters that may become a regular expression.
const MAX_GENERAL: usize = 1 << 16;

/// All alternatives with the same root.
#[derive(Default)]
pub(super) struct Set {
    shapes: Vec<Shape>,
    general: Option<Box<Regex>>,
}

/// A comparison of text: directories, then a name.
struct Shape {
    /// What the path starts with: empty, or directories with their `/`.
    dirs: String,
    /// Whether any directories may follow.
    deep: bool,
    name: Name,
}

enum Name {
    Any,
    Exact(String),
    Starts(String),
    Ends(String),
    Between(String, String),
}

impl Set {
    pub(super) fn new(pattern: &str, alternatives: &[&Alternative]) -> Result<Set> {
        let mut shapes = Vec::new();
        let mut general = Vec::new();
        let mut size = 0usize;
        for alternative in alternatives {
            // A directory is asked for, and only files are matched.
            if alternative.directory || alternative.segments.is_empty() {
                continue;
            }
            match Shape::of(&alternative.segments) {
                Some(shape) => shapes.push(shape),
                None => {
                    size += alternative.segments.iter().map(weight).sum::<usize>();
                    general.push(alternative);
                }
            }
        }
        if size > MAX_GENERAL {
            return Err(invalid(pattern, "it has too many wildcards; split it"));
        }
        let general = if general.is_empty() {
            None
        } else {
            let hirs = general.into_iter().map(|one| hir(&one.segments)).collect();
            let whole = Hir::concat(vec![
                Hir::look(Look::Start),
                Hir::alternation(hirs),
                Hir::look(Look::End),
            ]);
            let config = Config::new()
                .utf8_empty(false)
                .nfa_size_limit(Some(16 << 20))
                .onepass_size_limit(Some(1 << 20))
                .hybrid_cache_capacity(4 << 20);
            let regex = Regex::builder().configure(config).build_from_hir(&whole);
            let regex = regex.map_err(|_| invalid(pattern, "it is too complex; split it"))?;
            Some(Box::new(regex))
        };
        Ok(Set { shapes, general })
    }

    pub(super) fn accepts(&self, relative: &str) -> bool {
        self.shapes.iter().any(|shape| shape.accepts(relative))
            || self.general.as_ref().is_some_and(|regex| {
                let input = Input::new(relative).anchored(Anchored::Yes).earliest(true);
                regex.search_half(&input).is_some()
            })
    }
}

impl Shape {
    fn of(segments: &[Segment]) -> Option<Shape> {
        let (last, before) = segments.split_last()?;
        let (name, before, mut deep) = match last {
            Segment::Deep => (Name::Any, before, true),
            Segment::Tokens(tokens) => (Name::of(tokens)?, before, false),
        };
        let before = match before.split_last() {
            Some((Segment::Deep, rest)) => {
                deep = true;
                rest
            }
            _ => before,
        };
        let mut dirs = String::new();
        for segment in before {
            let Segment::Tokens(tokens) = segment else {
                return None;
            };
            dirs.push_str(&literal(tokens)?);
            dirs.push('/');
        }
        Some(Shape { dirs, deep, name })
    }

    fn accepts(&self, path: &str) -> bool {
        if !self.dirs.is_empty() && !path.as_bytes().starts_with(self.dirs.as_bytes()) {
            return false;
        }
        let rest = path.get(self.dirs.len()..).unwrap_or_default();
        // A suffix without `/` can only lie in the name, so nobody needs to look for it.
        let name = match (&self.name, self.deep) {
            (Name::Any, true) => return true,
            (Name::Ends(end), true) => return ends(rest.as_bytes(), end.as_bytes()),
            _ => match memchr::memrchr(b'/', rest.as_bytes()) {
                None => rest,
                Some(_) if !self.deep => return false,
                Some(slash) => rest.get(slash + 1..).unwrap_or_default(),
            },
        };
        match &self.name {
            Name::Any => true,
            Name::Exact(exact) => name == exact,
            Name::Starts(start) => name.starts_with(start.as_str()),
            Name::Ends(end) => name.ends_with(end.as_str()),
            Name::Between(start, end) => name
                .strip_prefix(start.as_str())
                .is_some_and(|rest| rest.ends_with(end.as_str())),
        }
    }
}

/// Byte by byte from the end: most paths differ at once, before any call would pay.
fn ends(text: &[u8], end: &[u8]) -> bool {
    text.len() >= end.len() && text.iter().rev().zip(end.iter().rev()).all(|(a, b)| a == b)
}

impl Name {
    fn of(tokens: &[Token]) -> Option<Name> {
        let Some(star) = tokens.iter().position(|token| *token == Token::Star) else {
            return Some(Name::Exact(literal(tokens)?));
        };
        let start = literal(tokens.get(..star)?)?;
        let end = literal(tokens.get(star + 1..)?)?;
        Some(match (start.is_empty(), end.is_empty()) {
            (true, true) => Name::Any,
            (false, true) => Name::Starts(start),
            (true, false) => Name::Ends(end),
            (false, false) => Name::Between(start, end),
        })
    }
}

/// The text that these tokens are, where they are nothing but text.
pub(super) fn literal(tokens: &[Token]) -> Option<String> {
    tokens
        .iter()
        .map(|token| match token {
            Token::Literal(c) => Some(*c),
            _ => None,
        })
        .collect()
}

fn weight(segment: &Segment) -> usize {
    match segment {
        Segment::Deep => 2,
        Segment::Tokens(tokens) => tokens
            .iter()
            .map(|token| match token {
                Token::Class { ranges, .. } => 4 + ranges.len(),
                Token::Any => 4,
                _ => 1,
            })
            .sum::<usize>()
            .saturating_add(1),
    }
}

/// The expression of whole segments. Paths hold no empty segment, so `.*/` is any directories.
fn hir(segments: &[Segment]) -> Hir {
    let mut parts = Vec::new();
    let mut rest = segments.iter().peekable();
    while let Some(segment) = rest.next() {
        let last = rest.peek().is_none();
        match segment {
            Segment::Deep if last => parts.push(repeat(1, None, any_byte())),
            Segment::Deep => {
                let dirs = Hir::concat(vec![repeat(0, None, any_byte()), Hir::literal(*b"/")]);
                parts.push(repeat(0, Some(1), dirs));
            }
            Segment::Tokens(tokens) => {
                parts.extend(tokens.iter().map(token_hir));
                if !last {
                    parts.push(Hir::literal(*b"/"));
                }
            }
        }
    }
    Hir::concat(parts)
}

fn token_hir(token: &Token) -> Hir {
    match token {
        Token::Literal(c) => Hir::literal(c.to_string().into_bytes()),
        Token::Separator => Hir::literal(*b"/"),
        // By bytes: between whole characters of valid text the outcome is the same, for less.
        Token::Star => repeat(0, None, byte_but_slash()),
        Token::Any => one_of(&[], true),
        Token::Class { negated, ranges } => one_of(ranges, *negated),
    }
}

/// One character of the ranges, or outside them; never `/`.
fn one_of(ranges: &[(char, char)], negated: bool) -> Hir {
    let ranges = ranges
        .iter()
        .map(|(start, end)| ClassUnicodeRange::new(*start, *end));
    let mut class = ClassUnicode::new(ranges);
    if negated {
        class.negate();
    }
    class.difference(&ClassUnicode::new([ClassUnicodeRange::new('/', '/')]));
    Hir::class(Class::Unicode(class))
}

fn any_byte() -> Hir {
    let all = ClassBytesRange::new(0, 255);
    Hir::class(Class::Bytes(ClassBytes::new([all])))
}

fn byte_but_slash() -> Hir {
    let around = [
        ClassBytesRange::new(0, b'/' - 1),
        ClassBytesRange::new(b'/' + 1, 255),
    ];
    Hir::class(Class::Bytes(ClassBytes::new(around)))
}

fn repeat(min: u32, max: Option<u32>, sub: Hir) -> Hir {
    Hir::repetition(Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(sub),
    })
}
