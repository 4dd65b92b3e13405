//! Folds names: two names that a storage takes for one become the same text. The [platform](crate::env::platform)
//! has the tables of Unicode; a text of ASCII needs none. More is folded than any one file system does, because
//! this decides what a rule forbids.

use crate::core::unseen::is_ignorable;
use crate::env::platform::{caseless, decomposed};

/// The folded form of a path.
pub fn folded(path: &str, case: bool, composition: bool) -> String {
    if path.is_ascii() {
        return match case {
            true => path.to_ascii_lowercase(),
            false => path.to_owned(),
        };
    }
    let mut text = path.to_owned();
    if composition {
        text = decomposed(&text);
    }
    if case {
        // So that `ſ`, `K` (Kelvin) and `ß` meet `s`, `k` and `ss`.
        text = caseless(&text);
    }
    if composition {
        text = decomposed(&text);
        // HFS+ and ext4 pass over these in names.
        text.retain(|c| !is_ignorable(c));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn spellings_of_one_name_fold_to_one_text() {
        let cases = [
            ("/AGENTS.md", "/agents.MD", true, false),
            ("/Straße", "/STRASSE", true, false),
            ("/ﬁle-ſ", "/FILE-S", true, false),
            ("/\u{212a}eys", "/keys", true, false),
            ("/ΟΔΟΣ/α", "/οδος/Α", true, false),
            ("/caf\u{e9}", "/cafe\u{301}", false, true),
            ("/CAF\u{c9}", "/cafe\u{301}", true, true),
            ("/.g\u{200c}it/config", "/.git/config", false, true),
        ];
        for (one, other, case, composition) in cases {
            let fold = |path| folded(path, case, composition);
            assert_eq!(fold(one), fold(other), "{one} and {other}");
            assert_eq!(fold(&fold(one)), fold(one), "{one} folds once");
        }
    }

    #[test]
    fn what_a_storage_distinguishes_stays_apart() {
        let cases = [
            ("/a", "/A", false, true),
            ("/caf\u{e9}", "/cafe\u{301}", true, false),
            ("/.g\u{200c}it", "/.git", true, false),
            ("/a", "/b", true, true),
        ];
        for (one, other, case, composition) in cases {
            let fold = |path| folded(path, case, composition);
            assert_ne!(fold(one), fold(other), "{one} and {other}");
        }
    }
}
