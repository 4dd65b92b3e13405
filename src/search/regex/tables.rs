//! What the light parser knows of Unicode: the characters of common texts that certainly are word
//! characters and digits, or certainly not. The full tables have 770 ranges; these few cover texts
//! in Latin, Greek, Cyrillic, Chinese, Japanese and Korean with their punctuation, arrows and
//! emoji. Of all other characters the parser is unsure. The classes of ASCII are for both parsers.

use super::ast::Range;

/// Word characters.
pub(super) const WORDS: [Range; 34] = [
    (0x30, 0x39),
    (0x41, 0x5a),
    (0x5f, 0x5f),
    (0x61, 0x7a),
    (0xaa, 0xaa),
    (0xb5, 0xb5),
    (0xba, 0xba),
    (0xc0, 0xd6),
    (0xd8, 0xf6),
    (0xf8, 0x2c1),
    (0x300, 0x374),
    (0x386, 0x386),
    (0x388, 0x38a),
    (0x38c, 0x38c),
    (0x38e, 0x3a1),
    (0x3a3, 0x3f5),
    (0x3f7, 0x481),
    (0x483, 0x52f),
    // Letters that are alike to common ones of Cyrillic.
    (0x1c80, 0x1c88),
    (0x1e00, 0x1f15),
    // An iota, and two letters that are written in another way.
    (0x1fbe, 0x1fbe),
    (0x1fd3, 0x1fd3),
    (0x1fe3, 0x1fe3),
    (0x200c, 0x200d),
    // The signs for ohm, kelvin and ångström, which are alike to letters.
    (0x2126, 0x2126),
    (0x212a, 0x212b),
    (0x3005, 0x3007),
    (0x3041, 0x3096),
    (0x30a1, 0x30fa),
    (0x30fc, 0x30ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xac00, 0xd7a3),
    (0xfe00, 0xfe0f),
];

/// Characters beyond ASCII that are not word characters.
pub(super) const OTHERS: [Range; 28] = [
    (0x80, 0xa9),
    (0xab, 0xb4),
    (0xb6, 0xb9),
    (0xbb, 0xbf),
    (0xd7, 0xd7),
    (0xf7, 0xf7),
    (0x3f6, 0x3f6),
    (0x482, 0x482),
    (0x2000, 0x200b),
    (0x200e, 0x203e),
    (0x2041, 0x2053),
    (0x2055, 0x2070),
    (0x2074, 0x207e),
    (0x2080, 0x208e),
    (0x20a0, 0x20cf),
    (0x2190, 0x24b5),
    (0x2500, 0x2bff),
    (0x3000, 0x3004),
    (0x3008, 0x3020),
    (0x3030, 0x3030),
    (0x30a0, 0x30a0),
    (0x30fb, 0x30fb),
    (0xfeff, 0xfeff),
    (0xff01, 0xff0f),
    (0xff1a, 0xff20),
    (0xfffc, 0xfffd),
    (0x1f300, 0x1f64f),
    (0x1f680, 0x1faff),
];

/// Characters beyond ASCII that are not digits.
pub(super) const NO_DIGITS: [Range; 4] = [
    (0x80, 0x65f),
    (0x1c5a, 0xa61f),
    (0xabfa, 0xff0f),
    (0x1f000, 0x1fbef),
];

/// White space.
pub(super) const SPACES: [Range; 9] = [
    (0x09, 0x0d),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
];
/// The last range of white space.
pub(super) const WIDE_SPACE: Range = (0x3000, 0x3000);

const DIGITS: Range = (0x30, 0x39);
const UPPER: Range = (0x41, 0x5a);
const LOWER: Range = (0x61, 0x7a);

/// The characters of the class of ASCII with this name: `[:alpha:]`.
pub(super) fn ascii(name: &str) -> Option<&'static [Range]> {
    Some(match name {
        "alnum" => &[DIGITS, UPPER, LOWER],
        "alpha" => &[UPPER, LOWER],
        "ascii" => &[(0, 0x7f)],
        "blank" => &[(0x09, 0x09), (0x20, 0x20)],
        "cntrl" => &[(0, 0x1f), (0x7f, 0x7f)],
        "digit" => &[DIGITS],
        "graph" => &[(0x21, 0x7e)],
        "lower" => &[LOWER],
        "print" => &[(0x20, 0x7e)],
        "punct" => &[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)],
        "space" => &[(0x09, 0x0d), (0x20, 0x20)],
        "upper" => &[UPPER],
        "word" => &[DIGITS, UPPER, (0x5f, 0x5f), LOWER],
        "xdigit" => &[DIGITS, (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;
    use crate::search::regex::ast::Set;

    /// The characters that an expression for one character matches.
    fn set(pattern: &str) -> Set {
        let hir = regex_syntax::parse(pattern).expect("an expression");
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Set::of(
                class
                    .iter()
                    .map(|range| (u32::from(range.start()), u32::from(range.end())))
                    .collect(),
            ),
            other => panic!("{other:?}"),
        }
    }

    fn characters(ranges: &[Range]) -> impl Iterator<Item = u32> + '_ {
        let all = ranges.iter().flat_map(|(first, last)| *first..=*last);
        all.filter(|c| char::from_u32(*c).is_some())
    }

    #[test]
    fn what_is_alike_to_a_letter_of_a_common_script_is_known() {
        let known = Set::of(WORDS.to_vec());
        for (first, last) in [(0x41, 0x7a), (0xc0, 0x17f), (0x386, 0x3ce), (0x400, 0x52f)] {
            let mut alike = Vec::new();
            crate::search::alike::add_alike(first, last, &mut alike);
            for (c, _) in alike {
                assert!(known.contains(c), "{c:x}");
            }
        }
    }

    #[test]
    fn the_tables_agree_with_unicode() {
        let (words, digits) = (set(r"\w"), set(r"\d"));
        for c in characters(&WORDS) {
            assert!(words.contains(c), "{c:x}");
        }
        for c in characters(&OTHERS) {
            assert!(!words.contains(c), "{c:x}");
        }
        for c in characters(&NO_DIGITS) {
            assert!(!digits.contains(c), "{c:x}");
        }
        let mut spaces = SPACES.to_vec();
        spaces.push(WIDE_SPACE);
        assert_eq!(Set::of(spaces), set(r"\s"));
    }
}
