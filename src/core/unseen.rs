//! Characters of names that show nothing, and where they show something after all: a joiner between two
//! letters, or a variation selector of an emoji, changes how its neighbours are drawn. The tables are
//! ranges; a test compares them with those of Unicode.

use std::str::Chars;

/// The characters that Unicode calls ignorable by default: a renderer may leave them out, and some file
/// systems pass over them in names.
pub fn is_ignorable(one: char) -> bool {
    matches!(one,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character shows nothing or reorders others: the ignorable ones, controls, separators of lines,
/// annotations, U+FFFC, the joiners of hieroglyphs, and what is drawn empty.
pub fn is_unseen(one: char) -> bool {
    is_ignorable(one)
        || matches!(one,
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'..='\u{2029}'
            | '\u{2800}'
            | '\u{fff9}'..='\u{fffc}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{16fe4}'
            | '\u{1d159}')
}

/// Whether a character is a space that looks like U+0020 or has another width. Programs and people give
/// files such names (screenshots of macOS have U+202F, Japanese names U+3000), so they are no reason to
/// refuse one.
pub fn is_blank(one: char) -> bool {
    matches!(
        one,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// The characters of a text, each with whether it is unseen and nothing around it needs it.
pub fn hidden(text: &str) -> Hidden<'_> {
    Hidden {
        rest: text.chars(),
        before: '/',
        base: '/',
    }
}

/// What [`hidden`] returns.
pub struct Hidden<'a> {
    rest: Chars<'a>,
    before: char,
    base: char,
}

impl Iterator for Hidden<'_> {
    type Item = (char, bool);

    // One copy is enough: it is only called for texts beyond ASCII.
    #[inline(never)]
    fn next(&mut self) -> Option<(char, bool)> {
        let one = self.rest.next()?;
        let around = Around {
            base: self.base,
            before: self.before,
            after: self.rest.clone().next().unwrap_or('/'),
        };
        let is_hidden = is_unseen(one) && !around.needs(one);
        self.before = one;
        // What alters the character before it stands for it.
        if !matches!(one, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{180b}'..='\u{180d}' | '\u{180f}')
        {
            self.base = one;
        }
        Some((one, is_hidden))
    }
}

/// The neighbours of a character. `base` is the one before it without its selectors.
struct Around {
    base: char,
    before: char,
    after: char,
}

impl Around {
    /// Whether spelling needs this character here.
    fn needs(&self, one: char) -> bool {
        let Around {
            base,
            before,
            after,
        } = *self;
        match one {
            // Parts two letters that would join. Not looked at is whether the first one would: Persian
            // is written so after every letter.
            '\u{200c}' if is_arabic(before) && is_arabic(after) => true,
            // The short form of a word that ends with a joined heh.
            '\u{200d}' if before == '\u{647}' => !is_arabic(after),
            // A half form, or none; a chillu, which may end a word; ya after ra.
            '\u{200c}' | '\u{200d}' if is_virama(before) => {
                is_indic(after) || (one == '\u{200d}' && before == '\u{d4d}')
            }
            '\u{200c}' | '\u{200d}' if matches!(before, '\u{9b0}' | '\u{cb0}') => is_virama(after),
            '\u{200c}' | '\u{200d}' if matches!(before, '\u{1780}'..='\u{17b3}') => {
                matches!(after, '\u{17c9}' | '\u{17ca}')
            }
            '\u{200c}' | '\u{200d}' | '\u{180e}' if is_mongolian(base) => is_mongolian(after),
            '\u{200d}' => is_in(LEFT, base) && is_in(RIGHT, after),
            '\u{180b}'..='\u{180d}' | '\u{180f}' => is_mongolian(before),
            '\u{fe0f}' if matches!(before, '0'..='9' | '#' | '*') => after == '\u{20e3}',
            '\u{fe0e}' | '\u{fe0f}' => is_in(TEXT, before),
            '\u{2800}' => is_braille(before) && is_braille(after),
            _ => false,
        }
    }
}

/// Letters of Arabic, Syriac, N'Ko, Mandaic.
fn is_arabic(one: char) -> bool {
    matches!(one,
        '\u{620}'..='\u{65f}'
        | '\u{66e}'..='\u{6d3}'
        | '\u{6d5}'
        | '\u{6ee}'..='\u{6ef}'
        | '\u{6fa}'..='\u{77f}'
        | '\u{7ca}'..='\u{7f5}'
        | '\u{840}'..='\u{8ff}')
}

/// From Devanagari to Sinhala.
fn is_indic(one: char) -> bool {
    matches!(one, '\u{900}'..='\u{dff}')
}

/// The sign that a consonant has no vowel: at the same place of each of these blocks but the last.
fn is_virama(one: char) -> bool {
    one == '\u{dca}' || (is_indic(one) && one < '\u{d80}' && u32::from(one) & 0x7f == 0x4d)
}

fn is_mongolian(one: char) -> bool {
    matches!(one, '\u{1820}'..='\u{1878}' | '\u{1880}'..='\u{18aa}')
}

fn is_braille(one: char) -> bool {
    matches!(one, '\u{2801}'..='\u{28ff}')
}

/// Whether a table has a character. It has ranges of characters below U+F000, and of U+1F000 to U+1FFFF without
/// their leading 1: for each the distance from the one before, times eight, plus its length less one, in parts of
/// seven bits, the last of which is below 0x80. The tests have them as they are read, and pack them.
fn is_in(table: &[u8], one: char) -> bool {
    let code = u32::from(one);
    let short = code & 0xffff;
    if u32::from(short >= 0xf000) != code >> 16 {
        return false;
    }
    let (mut last, mut number) = (0u32, 0u32);
    for byte in table {
        number = number << 7 | u32::from(byte & 0x7f);
        if *byte < 0x80 {
            let first = last.wrapping_add(number >> 3);
            last = first.wrapping_add(number & 7);
            if (first..=last).contains(&short) {
                return true;
            }
            number = 0;
        }
    }
    false
}

/// Emoji that are drawn as text without U+FE0F. After others a selector shows nothing.
#[rustfmt::skip]
const TEXT: &[u8] = &[
    0x8a, 0x48, 0x28, 0x83, 0xf8, 0x70, 0x68, 0x8d, 0x48, 0x81, 0x38, 0x85, 0x5d, 0x81, 0x01, 0x97,
    0x70, 0x8a, 0x38, 0x81, 0x72, 0x11, 0x32, 0x8c, 0x40, 0x8e, 0x41, 0x58, 0x50, 0x83, 0x59, 0x24,
    0x50, 0x18, 0x38, 0x28, 0x18, 0x11, 0x18, 0x20, 0x21, 0x4a, 0x30, 0x10, 0x81, 0x69, 0x18, 0x11,
    0x10, 0x81, 0x18, 0x18, 0x81, 0x20, 0x13, 0x10, 0x11, 0x20, 0x38, 0x49, 0x81, 0x38, 0x38, 0x10,
    0x10, 0x81, 0x30, 0x39, 0x18, 0x1a, 0x48, 0x31, 0x19, 0x10, 0x18, 0x10, 0x10, 0x38, 0x20, 0x81,
    0x11, 0x81, 0x00, 0x18, 0x81, 0x61, 0x83, 0x68, 0x99, 0x19, 0x9d, 0x02, 0xd2, 0x48, 0x68, 0xa5,
    0x50, 0x10, 0x97, 0xed, 0x39, 0x69, 0x88, 0x18, 0x83, 0x28, 0x8e, 0x50, 0x1f, 0x08, 0x50, 0x84,
    0x38, 0x81, 0x49, 0x12, 0x19, 0x82, 0x63, 0x37, 0x0b, 0x81, 0x20, 0x10, 0x10, 0x84, 0x40, 0x10,
    0x8b, 0x60, 0x84, 0x61, 0x82, 0x29, 0x1e, 0x70, 0x1b, 0x18, 0x81, 0x28, 0x18, 0x49, 0x50, 0x32,
    0x6a, 0x4a, 0x18, 0x10, 0x28, 0x38, 0x20, 0x38, 0x8d, 0x08, 0x12, 0x81, 0x0d, 0x20, 0x38, 0x18,
];

/// What a joiner follows in a sequence of emoji, without selectors.
#[rustfmt::skip]
const LEFT: &[u8] = &[
    0x84, 0xe4, 0x00, 0x10, 0x89, 0x08, 0x82, 0x30, 0x86, 0x58, 0x99, 0xbe, 0x00, 0x38, 0x87, 0x41,
    0x32, 0x82, 0x39, 0x81, 0x20, 0x68, 0x81, 0x08, 0x50, 0x58, 0x30, 0x82, 0x2b, 0x2b, 0x10, 0x20,
    0x51, 0x21, 0x20, 0x8e, 0x50, 0x8b, 0x48, 0x39, 0x60, 0x1a, 0x20, 0x11, 0x85, 0x28, 0x81, 0x0a,
    0xa6, 0x38, 0x48, 0x78, 0x12, 0x1a, 0x87, 0x08, 0x49, 0x19, 0x81, 0x02, 0x11, 0x10, 0x17, 0x09,
    0x91, 0x00, 0x10,
];

/// What follows it there.
#[rustfmt::skip]
const RIGHT: &[u8] = &[
    0x84, 0x99, 0x21, 0xc8, 0x58, 0x82, 0x00, 0x10, 0x85, 0x19, 0x81, 0x08, 0x86, 0x08, 0x83, 0x60,
    0x82, 0x00, 0x83, 0x68, 0xb7, 0x50, 0x98, 0xfe, 0x68, 0x82, 0x18, 0x81, 0x18, 0x83, 0x28, 0x48,
    0x40, 0x78, 0x81, 0x08, 0x20, 0x84, 0x18, 0x10, 0x84, 0x18, 0x83, 0x33, 0x82, 0x10, 0x81, 0x50,
    0x18, 0x18, 0x81, 0x01, 0x86, 0x48, 0x10, 0x28, 0x8b, 0x60, 0x89, 0x40, 0x81, 0x10, 0x95, 0x38,
    0x10, 0x93, 0x10, 0x89, 0x14, 0x38, 0x11, 0x81, 0x21, 0x89, 0x70, 0x48, 0x87, 0x30, 0x18,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges of `is` among all characters.
    fn ranges(is: impl Fn(char) -> bool) -> Vec<(u32, u32)> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for one in (0..=0x10_ffff)
            .filter_map(char::from_u32)
            .filter(|one| is(*one))
        {
            match found.last_mut() {
                Some((_, last)) if *last + 1 == u32::from(one) => *last += 1,
                _ => found.push((u32::from(one), u32::from(one))),
            }
        }
        found
    }

    /// A table as the code has it.
    fn packed(ranges: &[(u16, u16)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut end = 0;
        for (first, last) in ranges {
            let mut first = *first;
            // A part of at most eight characters.
            while first <= *last {
                let part = (*last).min(first + 7);
                let number = u32::from(first - end) << 3 | u32::from(part - first);
                let parts = (number.max(1).ilog2() / 7 + 1) as usize;
                for at in (0..parts).rev() {
                    let more = if at == 0 { 0 } else { 0x80 };
                    bytes.push((number >> (7 * at) & 0x7f) as u8 | more);
                }
                end = part;
                first = part + 1;
            }
        }
        bytes
    }

    #[test]
    fn a_table_has_its_ranges_and_nothing_else() {
        for (table, written, size) in [
            (TEXT, TEXT_RANGES, 207),
            (LEFT, LEFT_RANGES, 82),
            (RIGHT, RIGHT_RANGES, 58),
        ] {
            assert_eq!(table, packed(written));
            let wide = |short: u16| u32::from(short) | u32::from(short >= 0xf000) << 16;
            let wanted: Vec<_> = written.iter().map(|(a, b)| (wide(*a), wide(*b))).collect();
            let found = ranges(|one| is_in(table, one));
            assert_eq!(found, wanted);
            let count: u32 = found.iter().map(|(first, last)| last - first + 1).sum();
            assert_eq!(count, size);
        }
    }

    #[rustfmt::skip]
    const TEXT_RANGES: &[(u16, u16)] = &[
        (0xa9, 0xa9), (0xae, 0xae), (0x203c, 0x203c), (0x2049, 0x2049), (0x2122, 0x2122),
        (0x2139, 0x2139), (0x2194, 0x2199), (0x21a9, 0x21aa), (0x2328, 0x2328), (0x23cf, 0x23cf),
        (0x23ed, 0x23ef), (0x23f1, 0x23f2), (0x23f8, 0x23fa), (0x24c2, 0x24c2), (0x25aa, 0x25ab),
        (0x25b6, 0x25b6), (0x25c0, 0x25c0), (0x25fb, 0x25fc), (0x2600, 0x2604), (0x260e, 0x260e),
        (0x2611, 0x2611), (0x2618, 0x2618), (0x261d, 0x261d), (0x2620, 0x2620), (0x2622, 0x2623),
        (0x2626, 0x2626), (0x262a, 0x262a), (0x262e, 0x262f), (0x2638, 0x263a), (0x2640, 0x2640),
        (0x2642, 0x2642), (0x265f, 0x2660), (0x2663, 0x2663), (0x2665, 0x2666), (0x2668, 0x2668),
        (0x267b, 0x267b), (0x267e, 0x267e), (0x2692, 0x2692), (0x2694, 0x2697), (0x2699, 0x2699),
        (0x269b, 0x269c), (0x26a0, 0x26a0), (0x26a7, 0x26a7), (0x26b0, 0x26b1), (0x26c8, 0x26c8),
        (0x26cf, 0x26cf), (0x26d1, 0x26d1), (0x26d3, 0x26d3), (0x26e9, 0x26e9), (0x26f0, 0x26f1),
        (0x26f4, 0x26f4), (0x26f7, 0x26f9), (0x2702, 0x2702), (0x2708, 0x2709), (0x270c, 0x270d),
        (0x270f, 0x270f), (0x2712, 0x2712), (0x2714, 0x2714), (0x2716, 0x2716), (0x271d, 0x271d),
        (0x2721, 0x2721), (0x2733, 0x2734), (0x2744, 0x2744), (0x2747, 0x2747), (0x2763, 0x2764),
        (0x27a1, 0x27a1), (0x2934, 0x2935), (0x2b05, 0x2b07), (0x3030, 0x3030), (0x303d, 0x303d),
        (0x3297, 0x3297), (0x3299, 0x3299), (0xf170, 0xf171), (0xf17e, 0xf17f), (0xf202, 0xf202),
        (0xf237, 0xf237), (0xf321, 0xf321), (0xf324, 0xf32c), (0xf336, 0xf336), (0xf37d, 0xf37d),
        (0xf396, 0xf397), (0xf399, 0xf39b), (0xf39e, 0xf39f), (0xf3cb, 0xf3ce), (0xf3d4, 0xf3df),
        (0xf3f3, 0xf3f3), (0xf3f5, 0xf3f5), (0xf3f7, 0xf3f7), (0xf43f, 0xf43f), (0xf441, 0xf441),
        (0xf4fd, 0xf4fd), (0xf549, 0xf54a), (0xf56f, 0xf570), (0xf573, 0xf579), (0xf587, 0xf587),
        (0xf58a, 0xf58d), (0xf590, 0xf590), (0xf5a5, 0xf5a5), (0xf5a8, 0xf5a8), (0xf5b1, 0xf5b2),
        (0xf5bc, 0xf5bc), (0xf5c2, 0xf5c4), (0xf5d1, 0xf5d3), (0xf5dc, 0xf5de), (0xf5e1, 0xf5e1),
        (0xf5e3, 0xf5e3), (0xf5e8, 0xf5e8), (0xf5ef, 0xf5ef), (0xf5f3, 0xf5f3), (0xf5fa, 0xf5fa),
        (0xf6cb, 0xf6cb), (0xf6cd, 0xf6cf), (0xf6e0, 0xf6e5), (0xf6e9, 0xf6e9), (0xf6f0, 0xf6f0),
        (0xf6f3, 0xf6f3),
    ];

    #[rustfmt::skip]
    const LEFT_RANGES: &[(u16, u16)] = &[
        (0x2640, 0x2640), (0x2642, 0x2642), (0x26d3, 0x26d3), (0x26f9, 0x26f9), (0x2764, 0x2764),
        (0xf344, 0xf344), (0xf34b, 0xf34b), (0xf3c3, 0xf3c4), (0xf3ca, 0xf3cc), (0xf3f3, 0xf3f4),
        (0xf408, 0xf408), (0xf415, 0xf415), (0xf426, 0xf426), (0xf430, 0xf430), (0xf43b, 0xf43b),
        (0xf441, 0xf441), (0xf466, 0xf469), (0xf46e, 0xf471), (0xf473, 0xf473), (0xf477, 0xf477),
        (0xf481, 0xf482), (0xf486, 0xf487), (0xf48b, 0xf48b), (0xf575, 0xf575), (0xf62e, 0xf62e),
        (0xf635, 0xf636), (0xf642, 0xf642), (0xf645, 0xf647), (0xf64b, 0xf64b), (0xf64d, 0xf64e),
        (0xf6a3, 0xf6a3), (0xf6b4, 0xf6b6), (0xf91d, 0xf91d), (0xf926, 0xf926), (0xf935, 0xf935),
        (0xf937, 0xf939), (0xf93c, 0xf93e), (0xf9af, 0xf9af), (0xf9b8, 0xf9b9), (0xf9bc, 0xf9bd),
        (0xf9cd, 0xf9cf), (0xf9d1, 0xf9d2), (0xf9d4, 0xf9d4), (0xf9d6, 0xf9df), (0xfaef, 0xfaef),
        (0xfaf1, 0xfaf1),
    ];

    #[rustfmt::skip]
    const RIGHT_RANGES: &[(u16, u16)] = &[
        (0x2194, 0x2195), (0x2620, 0x2620), (0x2640, 0x2640), (0x2642, 0x2642), (0x2695, 0x2696),
        (0x26a7, 0x26a7), (0x2708, 0x2708), (0x2744, 0x2744), (0x2764, 0x2764), (0x27a1, 0x27a1),
        (0x2b1b, 0x2b1b), (0xf308, 0xf308), (0xf32b, 0xf32b), (0xf33e, 0xf33e), (0xf373, 0xf373),
        (0xf37c, 0xf37c), (0xf384, 0xf384), (0xf393, 0xf393), (0xf3a4, 0xf3a4), (0xf3a8, 0xf3a8),
        (0xf3eb, 0xf3eb), (0xf3ed, 0xf3ed), (0xf430, 0xf430), (0xf466, 0xf469), (0xf48b, 0xf48b),
        (0xf4a5, 0xf4a5), (0xf4a8, 0xf4a8), (0xf4ab, 0xf4ab), (0xf4bb, 0xf4bc), (0xf525, 0xf525),
        (0xf527, 0xf527), (0xf52c, 0xf52c), (0xf5e8, 0xf5e8), (0xf680, 0xf680), (0xf692, 0xf692),
        (0xf7e9, 0xf7e9), (0xf7eb, 0xf7eb), (0xf91d, 0xf91d), (0xf9af, 0xf9b3), (0xf9ba, 0xf9ba),
        (0xf9bc, 0xf9bd), (0xf9d1, 0xf9d2), (0xfa70, 0xfa70), (0xfa79, 0xfa79), (0xfaef, 0xfaef),
        (0xfaf2, 0xfaf2),
    ];

    #[test]
    fn viramas_are_those_of_the_ten_scripts() {
        let all = [
            0x94d, 0x9cd, 0xa4d, 0xacd, 0xb4d, 0xbcd, 0xc4d, 0xccd, 0xd4d, 0xdca,
        ];
        assert_eq!(ranges(is_virama), all.map(|one| (one, one)).to_vec());
    }

    #[test]
    fn no_character_is_both_unseen_and_a_space() {
        assert_eq!(ranges(|one| is_unseen(one) && is_blank(one)), []);
    }
}
