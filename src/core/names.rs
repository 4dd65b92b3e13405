//! Names that are not what they seem. The library keeps its own files in directories called
//! `.kitbag`, which no caller may name: neither so, nor by another spelling that some file system
//! takes for the same name. And characters that no reader sees, or that reorder what a reader
//! sees, let a person approve another name than the one that is written.

use crate::core::unseen::{hidden, is_unseen};

/// The directory of the library's own files, at any depth.
pub const ROOM: &str = ".kitbag";

/// Why a caller is refused such a name.
pub const CLOSED: &str =
    "'.kitbag' is for what kitbag itself keeps, such as journals and histories; no call reaches it";

/// Whether a segment names the room on some file system: file systems fold case, drop dots and spaces
/// at the end, have streams behind a colon and short names, and ignore invisible characters.
pub fn is_room(segment: &str) -> bool {
    let name = segment.split(':').next().unwrap_or(segment);
    let mut seen = String::new();
    for c in name.chars().filter(|c| !is_unseen(*c)) {
        seen.push(folded(c));
    }
    let seen = seen.trim_end_matches(['.', ' ']);
    seen == ROOM || is_short_name(seen)
}

/// A short name that Windows gives the room: six letters of the name, or two and four digits of a hash,
/// then a tilde and a number.
fn is_short_name(name: &str) -> bool {
    let Some((stem, number)) = name.split_once('~') else {
        return false;
    };
    let hash = stem.strip_prefix("ki").unwrap_or_default();
    let is_hash = hash.len() == 4 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (stem == "kitbag" || is_hash)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Case folding of the letters of the room's name, with all characters that fold to one of them.
fn folded(c: char) -> char {
    match c {
        '\u{212a}' => 'k',
        '\u{130}' | '\u{131}' => 'i',
        _ => c.to_ascii_lowercase(),
    }
}

/// The first character of a name that deceives who reads it, and how many are before it. One that spelling
/// needs does not: a joiner between two letters that it parts or joins, a selector of an emoji.
pub fn deceptive(text: &str) -> Option<(usize, char)> {
    let mut all = hidden(text).enumerate();
    all.find(|(_, (_, is_hidden))| *is_hidden)
        .map(|(at, (one, _))| (at, one))
}

/// What is unusual about a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether a segment names the room.
    pub room: bool,
    /// Whether it has a deceptive character.
    pub deceptive: bool,
}

impl Marks {
    /// The marks of a canonical path.
    pub fn of(path: &str) -> Marks {
        // Nearly all paths end here: without a byte beyond ASCII, and without a segment that begins
        // as the room's name or its short name does.
        let mut before = b'/';
        let mut suspect = false;
        for byte in path.bytes() {
            suspect |= byte >= 0x7f || (before == b'/' && matches!(byte, b'.' | b'k' | b'K'));
            before = byte;
        }
        match suspect {
            true => Marks::looked_for(path),
            false => Marks::default(),
        }
    }

    #[cold]
    fn looked_for(path: &str) -> Marks {
        Marks {
            room: path.split('/').any(is_room),
            deceptive: deceptive(path).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_known_by_every_spelling_that_a_file_system_takes_for_it() {
        for name in [
            ".kitbag",
            ".KITBAG",
            ".KitBag",
            ".\u{212a}itbag",
            ".k\u{131}tbag",
            ".K\u{130}TBAG",
            ".kitbag.",
            ".kitbag. .",
            ".kitbag ",
            ".kitbag::$INDEX_ALLOCATION",
            ".kitbag:x",
            ".kit\u{200c}bag",
            "\u{feff}.kitbag",
            ".kitbag\u{ad}",
            ".kit\u{fe0f}bag",
            ".kit\u{e0100}bag",
            "\u{34f}.kitbag",
            ".\u{115f}kitbag",
            ".kitbag\u{3164}",
            ".kit\u{ffa0}bag",
            ".kit\u{2800}bag",
            ".kit\u{180b}bag",
            ".kit\u{1d173}bag",
            ".kitbag\u{fffc}.",
            "KIT\u{206a}BAG~1",
            "KITBAG~1",
            "kitbag~12",
            "KI1A2B~1",
            "kitbag~1.",
        ] {
            assert!(is_room(name), "{name:?}");
            assert!(Marks::of(&format!("/a/{name}/b")).room, "{name:?}");
            assert!(Marks::of(&format!("/{name}")).room, "{name:?}");
        }
        for name in [
            "kitbag",
            "kitbag.md",
            ".kitbags",
            "x.kitbag",
            ".kitbag.json",
            ".kit",
            "kitbag~",
            "k~1",
            "ki~3",
            "kittens~1",
            "kitbag~x",
            "kitchen~1",
            ". kitbag",
            ".git",
            "",
        ] {
            assert!(!is_room(name), "{name:?}");
            assert!(!Marks::of(&format!("/a/{name}/b")).room, "{name:?}");
        }
    }

    #[test]
    fn a_deceptive_character_is_found_with_its_place() {
        for (text, at, one) in [
            ("/a\u{202e}txt", 2, '\u{202e}'),
            ("/a\u{200b}", 2, '\u{200b}'),
            ("/\u{e0041}", 1, '\u{e0041}'),
            ("/é/\u{85}", 3, '\u{85}'),
            ("/\u{7f}", 1, '\u{7f}'),
            ("/plan\u{200d}.md", 5, '\u{200d}'),
            ("/plan\u{200c}s", 5, '\u{200c}'),
            ("/кот\u{200d}ик", 4, '\u{200d}'),
            ("/日\u{200d}本", 2, '\u{200d}'),
            ("/می\u{200c}", 3, '\u{200c}'),
            ("/\u{200c}می", 1, '\u{200c}'),
            ("/می\u{200c}\u{200c}خ", 3, '\u{200c}'),
            ("/می\u{200c}a", 3, '\u{200c}'),
            ("/👩\u{200c}🔬", 2, '\u{200c}'),
            ("/👩\u{200d}", 2, '\u{200d}'),
            ("/👩\u{200d}a", 2, '\u{200d}'),
            ("/🏴\u{e0067}", 2, '\u{e0067}'),
            // No letters of these scripts join.
            ("/ก\u{200c}ข", 2, '\u{200c}'),
            ("/ກ\u{200d}ຂ", 2, '\u{200d}'),
            ("/ཀ\u{200c}ཁ", 2, '\u{200c}'),
            ("/က\u{200c}ခ", 2, '\u{200c}'),
            ("/ა\u{200c}ბ", 2, '\u{200c}'),
            // Nothing is parted, or joined, here.
            ("/क\u{200c}ष", 2, '\u{200c}'),
            ("/क\u{200d}ष", 2, '\u{200d}'),
            ("/क्\u{200c}", 3, '\u{200c}'),
            ("/ক\u{200d}্", 2, '\u{200d}'),
            ("/می\u{200d}خ", 3, '\u{200d}'),
            ("/۱\u{200c}۲", 2, '\u{200c}'),
            ("/ក\u{200c}ក", 2, '\u{200c}'),
            // No emoji.
            ("/→\u{200d}→", 2, '\u{200d}'),
            ("/─\u{200d}─", 2, '\u{200d}'),
            ("/🍎\u{200d}🍏", 2, '\u{200d}'),
            ("/👩\u{200d}🍏", 2, '\u{200d}'),
            ("/🍎\u{200d}🔬", 2, '\u{200d}'),
            ("/\u{fe0f}", 1, '\u{fe0f}'),
            ("/a\u{fe0f}", 2, '\u{fe0f}'),
            ("/😀\u{fe0f}", 2, '\u{fe0f}'),
            ("/❤\u{fe0f}\u{fe0f}", 3, '\u{fe0f}'),
            ("/1\u{fe0f}", 2, '\u{fe0f}'),
            ("/1\u{fe0e}\u{20e3}", 2, '\u{fe0e}'),
            ("/葛\u{e0100}", 2, '\u{e0100}'),
            ("/a\u{180b}", 2, '\u{180b}'),
            ("/ᠠ\u{180b}\u{180b}", 3, '\u{180b}'),
            ("/a\u{180e}b", 2, '\u{180e}'),
            ("/⠁\u{2800}", 2, '\u{2800}'),
        ] {
            assert_eq!(deceptive(text), Some((at, one)), "{text:?}");
            assert!(Marks::of(text).deceptive, "{text:?}");
        }
    }

    #[test]
    fn a_name_may_have_the_joiners_that_its_spelling_needs() {
        for text in [
            "/naïve/日本語.md",
            "/a b",
            "/😀",
            "/می\u{200c}خواهم.md",
            "/क्\u{200d}ष",
            "/ක්\u{200d}ර",
            "/👩\u{200d}🔬.md",
            "/👩🏽\u{200d}🔬",
            "/❤\u{fe0f}\u{200d}🔥",
            "/❤\u{fe0f} health.md",
            "/☎\u{fe0e}",
            "/1\u{fe0f}\u{20e3}#\u{fe0f}\u{20e3}*\u{fe0f}\u{20e3}",
            "/👨\u{200d}👩\u{200d}👧\u{200d}👦",
            "/👩🏽\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👨🏿",
            "/🏳\u{fe0f}\u{200d}🌈",
            "/🏳\u{fe0f}\u{200d}⚧\u{fe0f}",
            "/🏃🏽\u{200d}♀\u{fe0f}\u{200d}➡\u{fe0f}",
            "/🧑\u{200d}🤝\u{200d}🧑",
            "/🐻\u{200d}❄\u{fe0f}",
            "/ᠠ\u{180b}ᠡ",
            "/ᠬᠠᠷ\u{180e}ᠠ",
            "/⠁\u{2800}⠃",
            "/র\u{200d}্যা",
            "/র\u{200c}্যাব",
            "/অন\u{9cd}\u{200c}য",
            "/അവന്\u{200d}.md",
            "/ರ\u{200d}್ಕ",
            "/ស\u{200c}៊ី",
            "/1403ه\u{200d}.ش",
            "/shot 9.41\u{202f}AM.png",
            "/日本\u{3000}語",
        ] {
            assert_eq!(deceptive(text), None, "{text:?}");
            assert_eq!(Marks::of(text), Marks::default(), "{text:?}");
        }
    }
}
