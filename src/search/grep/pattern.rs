//! Regular expressions that stay inside a line. The expression is read into its syntax tree,
//! `\n` is taken out of everything that could match it, and anchors are made to mean the line's.
//! So one search over a whole body finds what searching every line by itself would, and no
//! search reads past the line it began in. Trying whole-body matches and throwing away those
//! that cross a line would read a hostile file once per line.
//!
//! `\A`, `\z`, `^` and `$` all mean the line's start and end. As in JavaScript, `$` also matches
//! before a `\r`, so that it finds the end of a line of a Windows file, and `.` does not match
//! `\r`; a pattern that names `\r` finds it.

use std::fmt::Display;

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use crate::error::{Error, Kind, Result};

/// The longest expression. A class such as `\w` takes kilobytes for two characters.
const MAX_BYTES: usize = 8192;
/// The deepest nesting, so that reading cannot exhaust the stack.
const MAX_DEPTH: u32 = 100;
/// The largest compiled form; beyond it, `(\w{1000}){1000}` would fill all memory.
const MAX_COMPILED: usize = 8 << 20;
/// Memory for states built while searching.
const CACHE: usize = 4 << 20;

/// A regular expression, as a query gives it.
pub(super) fn regex(pattern: &str, ignore_case: bool) -> Result<Regex> {
    compile(pattern, ignore_case)
}

/// A text without `\n`, in whatever capital and small letters.
pub(super) fn folded_literal(text: &str) -> Result<Regex> {
    let mut escaped = String::with_capacity(text.len());
    regex_syntax::escape_into(text, &mut escaped);
    compile(&escaped, true)
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex> {
    if pattern.len() > MAX_BYTES {
        return Err(invalid(format!(
            "it is longer than {MAX_BYTES} bytes; search for less at once"
        )));
    }
    let parsed = ParserBuilder::new()
        .case_insensitive(ignore_case)
        .multi_line(true)
        .crlf(true)
        .utf8(false)
        .nest_limit(MAX_DEPTH)
        .build()
        .parse(pattern);
    let hir = parsed.map_err(|error| match error {
        regex_syntax::Error::Parse(error) => invalid_at(error.kind(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            invalid_at(error.kind(), error.span().start.offset)
        }
        other => invalid(other),
    })?;
    Regex::builder()
        .syntax(syntax::Config::new().utf8(false))
        .configure(
            Config::new()
                .utf8_empty(false)
                .nfa_size_limit(Some(MAX_COMPILED))
                .onepass_size_limit(Some(CACHE))
                .hybrid_cache_capacity(CACHE),
        )
        .build_from_hir(&within_line(hir))
        .map_err(|error| match error.size_limit() {
            Some(_) => invalid("it is too large once repetitions are written out; repeat less"),
            None => invalid(error),
        })
}

fn invalid(why: impl Display) -> Error {
    Error::new(
        Kind::InvalidPattern,
        format!("Invalid regex pattern: {why}"),
    )
}

fn invalid_at(why: &impl Display, offset: usize) -> Error {
    invalid(format!("{why} (at byte {offset})"))
}

/// The same expression, unable to match `\n`. Groups are dropped: nobody asks for them.
fn within_line(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start | Look::StartLF | Look::StartCRLF) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndLF | Look::EndCRLF) => {
            Hir::alternation(vec![Hir::look(Look::EndCRLF), Hir::look(Look::EndLF)])
        }
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition {
            min,
            max,
            greedy,
            sub,
        }) => Hir::repetition(Repetition {
            min,
            max,
            greedy,
            sub: Box::new(within_line(*sub)),
        }),
        HirKind::Capture(capture) => within_line(*capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(within_line).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(within_line).collect())
        }
    }
}
