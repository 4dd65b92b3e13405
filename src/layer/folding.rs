//! Rules over a storage that takes several spellings of a name for one, such as a folder on Windows
//! or macOS. A rule that restricts matches every spelling of what it names; a rule that allows
//! matches only its own, as everywhere where a pattern is ambiguous. So nothing that a rule protects
//! is reached, or created, under another spelling.

use std::cell::OnceCell;

use crate::core::bugs::{Bug, has};
use crate::core::path::VPath;
use crate::env::folding::folded;
use crate::protocol::{Names, SharedBackend};

/// What the backend below the rules folds.
pub(in crate::layer) struct Folding {
    inner: SharedBackend,
    /// As it is when the rules are first used; a folder is looked at only then.
    names: OnceCell<Names>,
}

impl Folding {
    pub(in crate::layer) fn of(inner: SharedBackend) -> Folding {
        Folding {
            inner,
            names: OnceCell::new(),
        }
    }

    pub(in crate::layer) fn names(&self) -> Names {
        match has(Bug::CaseBlind) {
            true => Names::default(),
            false => *self.names.get_or_init(|| self.inner.capability().names),
        }
    }

    /// Whether a path is `dir` or below it, under any spelling of either.
    pub(in crate::layer) fn is_under(&self, path: &VPath, dir: &VPath) -> bool {
        if path.is_under(dir) {
            return true;
        }
        let names = self.names();
        if !names.folds() {
            return false;
        }
        let fold = |path: &VPath| folded(path.as_str(), names.case, names.composition);
        let (path, dir) = (fold(path), fold(dir));
        path.strip_prefix(dir.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// A path as the storage knows it, whatever spelling of it is given. One that has no folded form as a path
/// stays as it is.
pub(in crate::layer) fn folded_path(path: &VPath, names: Names) -> VPath {
    let text = folded(path.as_str(), names.case, names.composition);
    VPath::any(&text).unwrap_or_else(|_| path.clone())
}

/// A pattern that matches the folded form of each path that `pattern` matches in some spelling. If it
/// is `loose`, one character of the pattern may stand for several: a folded text can be longer than
/// what was folded, unless both are ASCII.
pub(in crate::layer) fn folded_pattern(pattern: &str, names: Names, loose: bool) -> String {
    let any = if loose { '*' } else { '?' };
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            '?' => out.push(any),
            '[' => {
                let mut class = String::new();
                while let Some(next) = chars.next() {
                    let first = class.is_empty() || matches!(class.as_str(), "!" | "^");
                    if next == ']' && !first {
                        break;
                    }
                    class.push(next);
                    if next == '\\' {
                        class.extend(chars.next());
                    }
                }
                if !loose && folds_evenly(&class) {
                    out.push('[');
                    out.push_str(&class);
                    out.push(']');
                } else {
                    out.push(any);
                }
            }
            c => out.push(c),
        }
    }
    folded(&out, names.case, names.composition)
}

/// Whether a class, when it is folded, matches the folded form of all that it matches: it is not
/// negated, and the ends of each range are of one kind.
fn folds_evenly(class: &str) -> bool {
    let of_one_kind = |a: &u8, b: &u8| {
        let kinds = [
            u8::is_ascii_digit,
            u8::is_ascii_lowercase,
            u8::is_ascii_uppercase,
        ];
        kinds.iter().any(|kind| kind(a) && kind(b))
    };
    class.is_ascii()
        && !class.starts_with(['!', '^'])
        && !class.contains('\\')
        && class.as_bytes().windows(3).all(|three| match three {
            [a, b'-', b] => of_one_kind(a, b),
            _ => true,
        })
}

#[cfg(test)]
mod tests {
    use super::folded_pattern;
    use crate::protocol::Names;

    #[test]
    fn a_folded_pattern_matches_no_less_than_the_pattern() {
        let names = Names::of("case").unwrap_or_default();
        let cases = [
            ("/AGENTS.md", "/agents.md", "/agents.md"),
            ("/Src/**/*.TS", "/src/**/*.ts", "/src/**/*.ts"),
            ("/a?C", "/a?c", "/a*c"),
            ("/[A-Z]x", "/[a-z]x", "/*x"),
            ("/[A-Za-z0-9_-]", "/[a-za-z0-9_-]", "/*"),
            ("/[A-z]", "/?", "/*"),
            ("/[!A-Z]", "/?", "/*"),
            ("/[]A]b", "/[]a]b", "/*b"),
            ("/\\[A]{B,C}", "/\\[a]{b,c}", "/\\[a]{b,c}"),
            ("/[\\]A]", "/?", "/*"),
        ];
        for (pattern, close, loose) in cases {
            assert_eq!(folded_pattern(pattern, names, false), close, "{pattern}");
            assert_eq!(
                folded_pattern(pattern, names, true),
                loose,
                "{pattern}, loose"
            );
        }
    }
}
