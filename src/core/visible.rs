//! Texts as a person, or a model, has to see them before a decision: characters that show nothing, that
//! reorder others, that look like a space, or that direct a terminal are written by their codes, so that no name looks
//! like another one. `ts/core/visible.ts` does the same for texts that are made there.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::core::unseen::{hidden, is_blank, is_unseen};

/// The same text with the code of each such character in its place, such as `\u{200b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    with_marks(text, true)
}

/// The same text with the code of each such character in its place, or with NUL.
pub fn with_marks(text: &str, coded: bool) -> Cow<'_, str> {
    // Nearly all names are plain ASCII.
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..0x7f | b'\n' | b'\t'))
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut is_same = true;
    let mut all = hidden(text).peekable();
    while let Some((one, is_hidden)) = all.next() {
        let is_seen = match one {
            '\n' | '\t' => true,
            // Alone it lets a terminal write over the line.
            '\r' => matches!(all.peek(), Some(('\n', _))),
            _ => !one.is_ascii_control() && !is_hidden && !is_blank(one),
        };
        if is_seen {
            shown.push(one);
            continue;
        }
        is_same = false;
        if coded {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(one));
        } else {
            shown.push('\0');
        }
    }
    match is_same {
        true => Cow::Borrowed(text),
        false => Cow::Owned(shown),
    }
}

/// The name behind one that [`visible`] has shown: no name has a backslash. What it writes no code for
/// stays as it is.
pub fn meant(text: &str) -> Cow<'_, str> {
    const CODE: &str = "\\u{";
    if !text.contains(CODE) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(CODE);
    let mut name = String::from(parts.next().unwrap_or_default());
    for part in parts {
        let one = part.split_once('}').and_then(|(code, rest)| {
            let one = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            (is_unseen(one) || is_blank(one)).then_some((one, rest))
        });
        let rest = match one {
            Some((one, rest)) => {
                name.push(one);
                rest
            }
            None => {
                name.push_str(CODE);
                part
            }
        };
        name.push_str(rest);
    }
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_such_character_is_written_by_its_code() {
        for (code, shown) in [
            (0x0, "0"),
            (0x8, "8"),
            (0xd, "d"),
            (0x1b, "1b"),
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
            (0x34f, "34f"),
            (0x3164, "3164"),
            (0x2800, "2800"),
            (0xfe0f, "fe0f"),
            (0xe0100, "e0100"),
            (0xa0, "a0"),
            (0x202f, "202f"),
            (0x3000, "3000"),
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
            "a\r\nb\r\n",
            "/Übersicht.md",
            "/日本語",
            "/عربي",
            "/😀\u{2070}",
            "/\u{2764}\u{fe0f}.md",
            "/\u{1f469}\u{200d}\u{1f52c}",
            "/می\u{200c}خواهم.md",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_name_is_known_again_as_it_was_shown() {
        for name in [
            "/plan.md",
            "/a\u{200b}b",
            "/shot 9.41\u{202f}AM.png",
            "/\u{3000}",
            "/\u{1f469}\u{200d}x\u{fe0f}",
            "/\u{e0100}/\u{feff}\u{feff}",
        ] {
            assert_eq!(meant(&visible(name)), name);
        }
        for text in [
            "/a\\u{2f}b",
            "/\\u{",
            "/\\u{}",
            "/\\u{200b",
            "/\\u{110000}",
            "/\\u{41}\\u{7}",
            "/\\u{-1}",
            "/\\u200b",
        ] {
            assert_eq!(meant(text), text);
        }
    }
}
