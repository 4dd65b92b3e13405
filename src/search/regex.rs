//! Regular expressions over lines. There are two parsers for the syntax of the crate `regex`:
//! `light`, which every build has and which knows only a part of Unicode, and `full`, which is
//! large and loaded on demand. Both give the same automaton (`nfa`), which is made deterministic as
//! far as the text needs it (`lazy`). So both are equally fast, and both poll the clock within a
//! line.
//!
//! Why not an engine of a library: none can be interrupted within a line, and those that are fast
//! need ten times the space, since they work on bytes and for captures.
//!
//! `$` matches at the end of a line of a Windows file, as in JavaScript on a text with only `\n`:
//! a line matches without its final `\r`, or with it. `.` does not match `\r`, but for `(?-R)`. `(?m)` changes
//! nothing within a line.

mod ast;
pub mod full;
mod lazy;
mod light;
mod nfa;
mod properties;
mod required;
mod tables;

use std::cell::Cell;
use std::fmt::Display;

use ast::Ast;
use lazy::Lazy;
use nfa::{Facts, Nfa};

use super::patience::Patience;
use crate::core::error::{Error, Kind, Result};

pub use lazy::Found;
pub use required::Literal;

/// The longest expression, in bytes.
const MAX_BYTES: usize = 8192;
/// The largest expression with its repetitions expanded: in the worst case, an engine takes this
/// many steps per byte.
const MAX_WEIGHT: usize = 4_000;

/// A parsed expression.
pub struct Parsed {
    ast: Ast,
    facts: Facts,
}

/// A parser: the expression, and whether to ignore case.
pub type Parse = fn(&str, bool) -> Result<Parsed>;

/// Gives the full parser, if it can be had now.
pub type Full = fn() -> Option<Parse>;

thread_local! {
    static FULL: Cell<Option<Full>> = const { Cell::new(None) };
    static ADVICE: Cell<&'static str> =
        const { Cell::new("Load them once with: import \"kitbag/regex\"") };
}

/// Sets the advice for expressions that need the full parser, where it can never be had.
pub fn set_advice(advice: &'static str) {
    ADVICE.set(advice);
}

/// Sets where the full parser comes from, if it can be had. Until then the light one is used.
pub fn set_full(full: Full) {
    FULL.set(Some(full));
}

/// A compiled expression.
pub struct Regex {
    nfa: Nfa,
    /// The deterministic automaton. A search takes it out and puts it back; after a trap it is
    /// missing and begun again.
    lazy: Cell<Option<Box<Lazy>>>,
    /// A matching line contains one of these. If empty, any line may match.
    literals: Vec<Literal>,
    clauses: Vec<Vec<Literal>>,
}

impl Regex {
    /// Compiles an expression; refuses an invalid or too large one.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Regex> {
        if pattern.len() > MAX_BYTES {
            return Err(invalid(format_args!(
                "it is longer than {MAX_BYTES} bytes; search for less at once"
            )));
        }
        let parse = FULL.get().and_then(|full| full()).unwrap_or(light::parse);
        Regex::of(&parse(pattern, ignore_case)?, pattern.len())
    }

    fn of(parsed: &Parsed, length: usize) -> Result<Regex> {
        let weight = parsed.ast.weight();
        if weight > MAX_WEIGHT.max(length) {
            return Err(invalid(format_args!(
                "with its repetitions written out it has {weight} parts, and at most {MAX_WEIGHT} \
                 are searched for; use smaller counts, or * and + in their place"
            )));
        }
        let Ok(nfa) = Nfa::new(&parsed.ast, &parsed.facts) else {
            return Err(too_many_ranges());
        };
        let clauses = required::clauses(&parsed.ast);
        Ok(Regex {
            nfa,
            lazy: Cell::new(None),
            literals: required::literals(&clauses),
            clauses,
        })
    }

    /// Literals of which every matching line contains one; empty if they are not known.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Clauses that all hold for a matching line: it contains a literal of each.
    pub fn clauses(&self) -> &[Vec<Literal>] {
        &self.clauses
    }

    /// Finds the next matching line at or after `from`, the start of a line.
    pub fn find(&self, body: &[u8], from: usize, patience: &Patience) -> Found {
        let mut lazy = self.lazy.take().unwrap_or_default();
        let found = lazy.run(&self.nfa, body, from, patience);
        self.lazy.set(Some(lazy));
        found
    }
}

/// The error if a search met a character that only the full parser knows.
pub fn unsure() -> Error {
    needs_full("it has \\w, \\d or \\b, and a file has letters of other scripts")
}

fn invalid(why: impl Display) -> Error {
    Error::new(
        Kind::InvalidPattern,
        format!("Invalid regex pattern: {why}"),
    )
}

fn too_many_ranges() -> Error {
    invalid("its classes have too many ranges together; use fewer of them")
}

fn needs_full(why: &str) -> Error {
    invalid(format_args!(
        "{why}, which needs the tables of Unicode. {}",
        ADVICE.get()
    ))
}

#[cfg(test)]
mod tests;
