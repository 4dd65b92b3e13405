//! Alternatives of any shape. A `*` first matches nothing, and the rest is tried; on a mismatch
//! only the last `*` takes one more character, because backtracking to an earlier one cannot help.
//! `**` works in the same way with whole segments. So matching a path costs at most the product of
//! the lengths of path and pattern.

use super::parse::{Segment, Token};

/// A compiled alternative.
pub(super) struct General {
    parts: Vec<Part>,
    /// The suffix of every path that it accepts.
    end: String,
}

enum Part {
    /// `**`: any number of whole segments.
    Deep,
    Within(Vec<Piece>),
}

/// Part of a segment. Segments contain no `/`, so the pieces need not exclude it.
enum Piece {
    Text(String),
    Any,
    Star,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl General {
    pub(super) fn new(segments: &[Segment]) -> General {
        let parts: Vec<Part> = segments.iter().map(part).collect();
        let end = match parts.last() {
            Some(Part::Within(pieces)) => match pieces.last() {
                Some(Piece::Text(text)) => text.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        General { parts, end }
    }

    /// Whether it matches a path; adds the steps that this takes to `steps`.
    pub(super) fn accepts(&self, path: &str, steps: &mut usize) -> bool {
        *steps += 1;
        path.ends_with(self.end.as_str()) && across(&self.parts, path, steps)
    }
}

fn part(segment: &Segment) -> Part {
    let tokens = match segment {
        Segment::Deep => return Part::Deep,
        Segment::Tokens(tokens) => tokens,
    };
    let mut pieces = Vec::new();
    for token in tokens {
        let piece = match token {
            Token::Any => Piece::Any,
            Token::Star => Piece::Star,
            Token::Class { negated, ranges } => Piece::Class {
                negated: *negated,
                ranges: ranges.clone(),
            },
            // Segments were already split at separators.
            Token::Separator => continue,
            Token::Literal(c) => match pieces.last_mut() {
                Some(Piece::Text(text)) => {
                    text.push(*c);
                    continue;
                }
                _ => Piece::Text(c.to_string()),
            },
        };
        pieces.push(piece);
    }
    Part::Within(pieces)
}

/// Whether these parts match the whole path. A `**` at the end needs at least one segment.
fn across(mut parts: &[Part], path: &str, steps: &mut usize) -> bool {
    // The rest of the path; `None` after its last segment.
    let mut rest = Some(path);
    let mut retry: Option<(&[Part], Option<&str>)> = None;
    loop {
        *steps += 1;
        match parts.split_first() {
            Some((Part::Deep, [])) => return rest.is_some(),
            Some((Part::Deep, behind)) => {
                retry = Some((behind, rest));
                parts = behind;
                continue;
            }
            Some((Part::Within(pieces), behind)) => {
                if let Some((name, left)) = rest.map(cut)
                    && within(pieces, name, steps)
                {
                    (parts, rest) = (behind, left);
                    continue;
                }
            }
            None if rest.is_none() => return true,
            None => {}
        }
        let Some((behind, Some(from))) = retry else {
            return false;
        };
        (parts, rest) = (behind, cut(from).1);
        retry = Some((parts, rest));
    }
}

/// The first segment, and the rest after its `/`.
fn cut(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    }
}

/// Whether these pieces match the whole name.
fn within(mut pieces: &[Piece], name: &str, steps: &mut usize) -> bool {
    let mut rest = name;
    let mut retry: Option<(&[Piece], &str)> = None;
    loop {
        *steps += 1;
        match pieces.split_first() {
            Some((Piece::Star, [])) => return true,
            Some((Piece::Star, behind)) => {
                retry = Some((behind, rest));
                pieces = behind;
                continue;
            }
            Some((piece, behind)) => {
                *steps += piece.weight();
                if let Some(left) = piece.take(rest) {
                    (pieces, rest) = (behind, left);
                    continue;
                }
            }
            None if rest.is_empty() => return true,
            None => {}
        }
        let Some((behind, from)) = retry else {
            return false;
        };
        let mut chars = from.chars();
        if chars.next().is_none() {
            return false;
        }
        (pieces, rest) = (behind, chars.as_str());
        retry = Some((pieces, rest));
    }
}

impl Piece {
    /// The steps that a comparison takes at most.
    fn weight(&self) -> usize {
        match self {
            Piece::Text(text) => text.len() / 8,
            Piece::Class { ranges, .. } => ranges.len(),
            Piece::Any | Piece::Star => 0,
        }
    }

    /// The rest of the text after this piece, if the text begins with it.
    fn take<'a>(&self, text: &'a str) -> Option<&'a str> {
        if let Piece::Text(start) = self {
            return text.strip_prefix(start.as_str());
        }
        let mut chars = text.chars();
        let c = chars.next()?;
        let fits = match self {
            Piece::Class { negated, ranges } => {
                let inside = ranges
                    .iter()
                    .any(|(start, end)| (*start..=*end).contains(&c));
                inside != *negated
            }
            _ => true,
        };
        fits.then_some(chars.as_str())
    }
}
