//! The texts that a file with a match contains, for storages and layers with an index.

use super::query::GrepQuery;
use super::regex::Regex;
use crate::core::error::Result;

/// Clauses that all hold for a file with a match: it contains at least one literal of each, in which
/// ASCII letters may have another case. Every literal has three bytes or more. If there are no
/// clauses, any file may match.
///
/// Always inlined: each of the two chunks of code that need it has its own copy, and a page without
/// them has none.
#[inline(always)]
pub fn required(query: &GrepQuery) -> Result<Vec<Vec<String>>> {
    let mut clauses: Vec<Vec<String>> = Vec::new();
    let pattern = &*query.pattern;
    if query.regex {
        let regex = Regex::new(pattern, query.ignore_case)?;
        for clause in regex.clauses() {
            let mut texts = Vec::with_capacity(clause.len());
            for literal in clause {
                texts.push(literal.text.clone());
            }
            clauses.push(texts);
        }
    } else if query.ignore_case {
        // Case is folded beyond ASCII, where other characters are alike to these letters as well.
        let mut part = String::new();
        for c in pattern.chars() {
            match c.is_ascii() && !matches!(c.to_ascii_lowercase(), 'k' | 's') {
                true => part.push(c),
                false => clauses.push(vec![std::mem::take(&mut part)]),
            }
        }
        clauses.push(vec![part]);
    } else {
        clauses.push(vec![pattern.to_owned()]);
    }
    // A literal that is too short tells nothing, and so does a choice with one.
    let mut at = 0;
    while let Some(clause) = clauses.get(at) {
        match clause.iter().any(|literal| literal.len() < 3) {
            true => drop(clauses.swap_remove(at)),
            false => at += 1,
        }
    }
    Ok(clauses)
}
