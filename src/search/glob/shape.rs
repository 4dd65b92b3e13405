//! Matching of alternatives. The common shapes (`**/*.ts`, `src/**/*.js`, `*.md`, an exact name)
//! are text comparisons; the rest is in `general`.
//!
//! Why not `globset`: it matches `?` and `[…]` by byte, so that `?.txt` misses `語.txt`; its classes
//! match `/`; and `**` inside braces depends on the position of the brace.

use super::general::General;
use super::parse::{Alternative, Segment, Token, invalid};
use crate::core::error::Result;
use crate::core::path::Tail;
use crate::search::effort::Effort;

/// Limit on the total weight of the alternatives in `general`.
const MAX_GENERAL: usize = 1 << 16;

/// All alternatives with the same root.
#[derive(Default)]
pub(super) struct Set {
    shapes: Vec<Shape>,
    general: Vec<General>,
}

/// A text comparison: directories, then a name.
struct Shape {
    /// The prefix of the path: empty, or directories with their `/`.
    dirs: String,
    /// Whether any further directories may follow.
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
            // It matches only directories, but only files are matched.
            if alternative.directory || alternative.segments.is_empty() {
                continue;
            }
            match Shape::of(&alternative.segments) {
                Some(shape) => shapes.push(shape),
                None => {
                    size += alternative.segments.iter().map(weight).sum::<usize>();
                    general.push(General::new(&alternative.segments));
                }
            }
        }
        if size > MAX_GENERAL {
            return Err(invalid(pattern, "it has too many wildcards; split it"));
        }
        Ok(Set { shapes, general })
    }

    /// Adds the suffixes of which a matching text has one. Returns whether having one of them is
    /// sufficient, in any directory (a bare name has no directory), or `None` if some suffix is not
    /// known.
    pub(super) fn endings(&self, names: bool, into: &mut Vec<(Tail, u64)>) -> Option<bool> {
        if !self.general.is_empty() {
            return None;
        }
        let mut enough = true;
        for shape in &self.shapes {
            let end = shape.name.end().filter(|end| !end.is_empty())?;
            into.push((Tail::of(end), Tail::mask(end.len())));
            enough &= (shape.deep || names)
                && shape.dirs.is_empty()
                && end.len() <= Tail::BYTES
                && matches!(shape.name, Name::Ends(_));
        }
        Some(enough)
    }

    /// Whether it matches a path. If the work is too much, nothing matches.
    pub(super) fn accepts(&self, relative: &str, effort: Option<&Effort>) -> bool {
        if self.shapes.iter().any(|shape| shape.accepts(relative)) {
            return true;
        }
        if self.general.is_empty() || effort.is_some_and(|effort| !effort.begin()) {
            return false;
        }
        self.general.iter().any(|one| {
            let mut steps = 0;
            let accepts = one.accepts(relative, &mut steps);
            accepts & effort.is_none_or(|effort| effort.worked(steps))
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
        // A suffix without `/` can only be in the name, so the name need not be located.
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

/// Compares bytes from the end: most paths differ at once, so a call of `memcmp` would not pay.
fn ends(text: &[u8], end: &[u8]) -> bool {
    text.len() >= end.len() && text.iter().rev().zip(end.iter().rev()).all(|(a, b)| a == b)
}

impl Name {
    /// The suffix of every matching name.
    fn end(&self) -> Option<&str> {
        match self {
            Name::Exact(end) | Name::Ends(end) | Name::Between(_, end) => Some(end),
            Name::Any | Name::Starts(_) => None,
        }
    }

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

/// The literal text of these tokens, if they are all literals.
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
