//! The texts that a file with a match contains, for storages and layers with an index.

use super::query::GrepQuery;
use super::regex::Regex;
use crate::core::error::Result;
use crate::core::order;

/// Clauses that all hold for a file with a match: it contains at least one literal of each, in which
/// ASCII letters may have another case. Every literal has three bytes or more. The most selective
/// clauses come first; if there are none, any file may match.
pub fn required(query: &GrepQuery) -> Result<Vec<Vec<String>>> {
    let mut clauses: Vec<Vec<String>> = Vec::new();
    let pattern = &*query.pattern;
    if query.regex {
        let regex = Regex::new(pattern, query.ignore_case)?;
        for clause in regex.clauses() {
            clauses.push(clause.iter().map(|one| one.text.clone()).collect());
        }
    } else if query.ignore_case && !pattern.is_ascii() {
        // Case is folded beyond ASCII, where other characters become these letters as well.
        let unsure = |c: char| !c.is_ascii() || matches!(c.to_ascii_lowercase(), 'i' | 'k' | 's');
        clauses.extend(pattern.split(unsure).map(|part| vec![part.to_owned()]));
    } else {
        clauses.push(vec![pattern.to_owned()]);
    }
    // A literal that is too short tells nothing, and so does a choice with one.
    clauses.retain(|clause| clause.iter().all(|literal| literal.len() >= 3));
    order::sort_by_key(&mut clauses, |clause| {
        let shortest = clause.iter().map(String::len).min().unwrap_or_default();
        (clause.len(), std::cmp::Reverse(shortest))
    });
    Ok(clauses)
}
