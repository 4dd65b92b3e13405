//! Texts as a person, or a model, has to see them before a decision: characters that show nothing or
//! reorder others are written by their codes, so that no name looks like another one.
//! `ts/core/visible.ts` does the same for texts that are made there.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character shows nothing or reorders others: DEL and C1 controls, the soft hyphen,
/// zero-width and directional characters, the byte order mark, tags.
pub fn is_unseen(one: char) -> bool {
    matches!(one,
        '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The same text with the code of each such character in its place, such as `\u{200b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Nearly all names are plain ASCII.
    let is_plain = text.bytes().all(|byte| byte < 0x7f);
    if is_plain || !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().saturating_add(16));
    for one in text.chars() {
        match is_unseen(one) {
            // Writing to a string does not fail.
            true => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(one));
            }
            false => shown.push(one),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_such_character_is_written_by_its_code() {
        for (code, shown) in [
            (0x7f, "7f"),
            (0x80, "80"),
            (0x9f, "9f"),
            (0xad, "ad"),
            (0x200b, "200b"),
            (0x200f, "200f"),
            (0x2028, "2028"),
            (0x202a, "202a"),
            (0x2060, "2060"),
            (0x202e, "202e"),
            (0x2066, "2066"),
            (0x2069, "2069"),
            (0xfeff, "feff"),
            (0xe0000, "e0000"),
            (0xe0041, "e0041"),
            (0xe007f, "e007f"),
        ] {
            let one = char::from_u32(code).expect("a character");
            let text = format!("/a{one}b.md");
            assert_eq!(visible(&text), format!("/a\\u{{{shown}}}b.md"));
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "/plan.md",
            "a\tb\nc",
            "/Übersicht.md",
            "/日本語",
            "/عربي",
            "/😀\u{2070}",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
    }
}
