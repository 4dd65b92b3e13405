//! Literals that a line must contain for an expression to match. Looking for one is several times
//! faster than running the automaton, which then runs only on lines that contain one.

use super::ast::Ast;

/// More literals than this bring no gain.
const MAX_LITERALS: usize = 8;

/// A text that a line must contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    /// The text.
    pub text: String,
    /// Whether its ASCII letters match in either case.
    pub any_case: bool,
}

/// Of the clauses of an expression, the one that is worth a search: literals of which every matching
/// line contains at least one.
pub(super) fn literals(clauses: &[Vec<Literal>]) -> Vec<Literal> {
    let found = best(clauses).cloned().unwrap_or_default();
    // A single character, or a choice of short texts, occurs nearly everywhere.
    let least = if found.len() == 1 { 2 } else { 3 };
    match shortest(&found) >= least {
        true => found,
        false => Vec::new(),
    }
}

/// The clause with the longest literals; of several, the first.
fn best(clauses: &[Vec<Literal>]) -> Option<&Vec<Literal>> {
    let mut best: Option<&Vec<Literal>> = None;
    for clause in clauses {
        if shortest(clause) > best.map_or(0, |best| shortest(best)) {
            best = Some(clause);
        }
    }
    best
}

fn shortest(literals: &[Literal]) -> usize {
    literals
        .iter()
        .map(|one| one.text.len())
        .min()
        .unwrap_or_default()
}

/// Clauses that all hold for every matching line: it contains at least one literal of each.
pub(super) fn clauses(ast: &Ast) -> Vec<Vec<Literal>> {
    match ast {
        Ast::Concat(parts) => {
            let mut all = Vec::new();
            let mut run = Literal::default();
            for part in parts {
                match character(part) {
                    Some((c, any_case)) => {
                        run.text.push(c);
                        run.any_case |= any_case;
                    }
                    None => {
                        all.push(vec![std::mem::take(&mut run)]);
                        all.extend(clauses(part));
                    }
                }
            }
            all.push(vec![run]);
            all.retain(|clause| shortest(clause) > 0);
            all
        }
        Ast::Alt(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                match best(&clauses(branch)) {
                    Some(clause) => all.extend_from_slice(clause),
                    None => return Vec::new(),
                }
                if all.len() > MAX_LITERALS {
                    return Vec::new();
                }
            }
            match all.is_empty() {
                true => Vec::new(),
                false => vec![all],
            }
        }
        Ast::Repeat { inner, least, .. } if *least > 0 => clauses(inner),
        _ => {
            let Some((c, any_case)) = character(ast) else {
                return Vec::new();
            };
            let text = c.to_string();
            vec![vec![Literal { text, any_case }]]
        }
    }
}

/// The character that a set stands for, and whether it is an ASCII letter in both cases.
fn character(ast: &Ast) -> Option<(char, bool)> {
    let Ast::Set(set) = ast else { return None };
    let c = |c: &u32| char::from_u32(*c);
    match set.ranges() {
        // What is not UTF-8 reads as U+FFFD, but is stored in other bytes.
        [(one, same)] if one == same && !matches!(*one, 0x0a | 0xfffd) => Some((c(one)?, false)),
        [(big, a), (small, b)]
            if big == a && small == b && *small == big + 32 && (0x41..=0x5a).contains(big) =>
        {
            Some((c(small)?, true))
        }
        _ => None,
    }
}
