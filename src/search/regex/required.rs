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

/// Literals of which every matching line contains at least one, if that is worth a search for them.
pub(super) fn literals(ast: &Ast) -> Vec<Literal> {
    let found = of(ast).unwrap_or_default();
    // A single character, or a choice of short texts, occurs nearly everywhere.
    let least = if found.len() == 1 { 2 } else { 3 };
    match shortest(&found) >= least {
        true => found,
        false => Vec::new(),
    }
}

fn shortest(literals: &[Literal]) -> usize {
    literals
        .iter()
        .map(|one| one.text.len())
        .min()
        .unwrap_or_default()
}

fn of(ast: &Ast) -> Option<Vec<Literal>> {
    match ast {
        Ast::Concat(parts) => {
            let mut best: Vec<Literal> = Vec::new();
            let mut run = Literal::default();
            let mut offer = |some: Vec<Literal>| {
                if shortest(&some) > shortest(&best) {
                    best = some;
                }
            };
            for part in parts {
                match character(part) {
                    Some((c, any_case)) => {
                        run.text.push(c);
                        run.any_case |= any_case;
                    }
                    None => {
                        offer(vec![std::mem::take(&mut run)]);
                        offer(of(part).unwrap_or_default());
                    }
                }
            }
            offer(vec![run]);
            (!best.is_empty()).then_some(best)
        }
        Ast::Alt(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(of(branch)?);
                if all.len() > MAX_LITERALS {
                    return None;
                }
            }
            (!all.is_empty()).then_some(all)
        }
        Ast::Repeat { inner, least, .. } if *least > 0 => of(inner),
        _ => {
            let (c, any_case) = character(ast)?;
            let text = c.to_string();
            Some(vec![Literal { text, any_case }])
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
