//! The full parser: `regex-syntax`, the parser of the crate `regex`, with all of its Unicode tables.
//! It is large, so it is in a chunk of its own in the WebAssembly.

use std::rc::Rc;

use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::{ParserBuilder, hir};

use super::ast::{Ast, Edge, Look, Set};
use super::nfa::Facts;
use super::{Parsed, invalid};
use crate::core::error::Result;

/// The deepest nesting, so that parsing cannot overflow the stack.
const MAX_DEPTH: u32 = 100;

/// Parses an expression.
pub fn parse(pattern: &str, ignore_case: bool) -> Result<Parsed> {
    let parsed = |pattern: &str| {
        ParserBuilder::new()
            .case_insensitive(ignore_case)
            .crlf(true)
            .nest_limit(MAX_DEPTH)
            .build()
            .parse(pattern)
            .map_err(|error| match error {
                regex_syntax::Error::Parse(error) => invalid(error.kind()),
                regex_syntax::Error::Translate(error) => invalid(error.kind()),
                _ => invalid("it cannot be parsed"),
            })
    };
    let hir = parsed(pattern)?;
    let words = match asks_words(&hir) {
        true => class(parsed(r"\w")?.kind()),
        false => Rc::default(),
    };
    Ok(Parsed {
        ast: ast(&hir),
        facts: Facts {
            words,
            ..Facts::default()
        },
    })
}

fn asks_words(hir: &Hir) -> bool {
    hir.properties().look_set().contains_word()
}

fn ast(hir: &Hir) -> Ast {
    match hir.kind() {
        HirKind::Empty => Ast::Empty,
        HirKind::Literal(hir::Literal(bytes)) => Ast::Concat(
            String::from_utf8_lossy(bytes)
                .chars()
                .map(Ast::char)
                .collect(),
        ),
        kind @ HirKind::Class(_) => Ast::Set(class(kind)),
        HirKind::Look(look) => Ast::Look(condition(*look)),
        HirKind::Repetition(repetition) => Ast::Repeat {
            inner: Box::new(ast(&repetition.sub)),
            least: repetition.min,
            most: repetition.max,
        },
        HirKind::Capture(group) => ast(&group.sub),
        HirKind::Concat(parts) => Ast::Concat(flat(parts)),
        HirKind::Alternation(branches) => Ast::Alt(branches.iter().map(ast).collect()),
    }
}

/// The parts of a sequence, with the characters of its literals one by one.
fn flat(parts: &[Hir]) -> Vec<Ast> {
    let mut all = Vec::new();
    for part in parts {
        match ast(part) {
            Ast::Concat(some) => all.extend(some),
            one => all.push(one),
        }
    }
    all
}

fn class(kind: &HirKind) -> Rc<Set> {
    let ranges = match kind {
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
        HirKind::Class(Class::Bytes(class)) => class
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
        _ => Vec::new(),
    };
    Rc::new(Set::of(ranges))
}

fn condition(look: hir::Look) -> Look {
    use hir::Look as From;
    let (edge, ascii) = match look {
        From::Start | From::StartLF | From::StartCRLF => return Look::Start,
        From::End | From::EndLF | From::EndCRLF => return Look::End,
        From::WordUnicode => (Edge::Any, false),
        From::WordUnicodeNegate => (Edge::None, false),
        From::WordStartUnicode => (Edge::Start, false),
        From::WordEndUnicode => (Edge::End, false),
        From::WordStartHalfUnicode => (Edge::StartHalf, false),
        From::WordEndHalfUnicode => (Edge::EndHalf, false),
        From::WordAscii => (Edge::Any, true),
        From::WordAsciiNegate => (Edge::None, true),
        From::WordStartAscii => (Edge::Start, true),
        From::WordEndAscii => (Edge::End, true),
        From::WordStartHalfAscii => (Edge::StartHalf, true),
        From::WordEndHalfAscii => (Edge::EndHalf, true),
    };
    Look::Word { edge, ascii }
}
