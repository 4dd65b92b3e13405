//! Unicode for hosts that give no tables of it. `build.rs` packs them; they are unpacked when the first name
//! with other letters than ASCII is folded.

use std::cell::OnceCell;

use crate::core::order;
use crate::core::packed::take;

/// Lower case, by way of upper case. There is only one sigma, because its form at the end of a word
/// depends on its neighbours.
pub fn caseless(text: &str) -> String {
    let mut out = Vec::new();
    TABLES.with(|tables| {
        let caseless = &tables.get_or_init(Tables::unpack).caseless;
        for c in text.chars() {
            match caseless.get(c) {
                Some(parts) => out.extend_from_slice(parts),
                None => out.extend(c.to_lowercase()),
            }
        }
    });
    out.into_iter().collect()
}

/// Canonical decomposition.
pub fn decomposed(text: &str) -> String {
    TABLES.with(|tables| tables.get_or_init(Tables::unpack).decomposed(text))
}

thread_local! {
    static TABLES: OnceCell<Tables> = const { OnceCell::new() };
}

/// What some characters become.
#[derive(Default)]
struct Mapping {
    /// A character, and where the characters that it becomes begin and end in `parts`.
    becomes: Vec<(u32, usize, usize)>,
    parts: Vec<char>,
}

impl Mapping {
    fn unpack(packed: &[u8]) -> Mapping {
        let mut mapping = Mapping::default();
        let mut packed = packed.iter().copied();
        let mut at = 0;
        while let (Some(distance), Some(count)) = (take(&mut packed), take(&mut packed)) {
            at += distance;
            let start = mapping.parts.len();
            for _ in 0..count {
                let part = take(&mut packed).and_then(char::from_u32);
                mapping.parts.extend(part);
            }
            mapping.becomes.push((at, start, mapping.parts.len()));
        }
        mapping
    }

    fn get(&self, c: char) -> Option<&[char]> {
        let of = |(c, _, _): &(u32, usize, usize)| *c;
        let place = self.becomes.binary_search_by_key(&u32::from(c), of).ok()?;
        let (_, start, end) = self.becomes.get(place)?;
        self.parts.get(*start..*end)
    }
}

/// The tables, in order of their characters.
struct Tables {
    caseless: Mapping,
    decompositions: Mapping,
    /// The first character of a run, the one after its last, and their combining class.
    classes: Vec<(u32, u32, u8)>,
}

/// Syllables of Hangul are made of a first consonant, a vowel and perhaps a last consonant.
const SYLLABLES: std::ops::Range<u32> = 0xac00..0xd7a4;
const VOWELS: u32 = 21;
const LASTS: u32 = 28;

impl Tables {
    fn unpack() -> Tables {
        let mut tables = Tables {
            caseless: Mapping::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/caseless.bin"))),
            decompositions: Mapping::unpack(include_bytes!(concat!(
                env!("OUT_DIR"),
                "/decompositions.bin"
            ))),
            classes: Vec::new(),
        };
        let packed = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bin"));
        let mut packed = packed.iter().copied();
        let mut end = 0;
        while let (Some(distance), Some(length), Some(class)) =
            (take(&mut packed), take(&mut packed), packed.next())
        {
            let start = end + distance;
            end = start + length;
            tables.classes.push((start, end, class));
        }
        tables
    }

    fn class(&self, c: char) -> u8 {
        let at = u32::from(c);
        let after = self.classes.partition_point(|(start, _, _)| *start <= at);
        let run = after.checked_sub(1).and_then(|run| self.classes.get(run));
        run.map_or(0, |(_, end, class)| if at < *end { *class } else { 0 })
    }

    fn put(&self, c: char, out: &mut Vec<char>) {
        let at = u32::from(c);
        if SYLLABLES.contains(&at) {
            let index = at - SYLLABLES.start;
            let last = index % LASTS;
            let parts = [
                0x1100 + index / (VOWELS * LASTS),
                0x1161 + index % (VOWELS * LASTS) / LASTS,
                0x11a7 + last,
            ];
            let count = if last == 0 { 2 } else { 3 };
            out.extend(parts.into_iter().take(count).filter_map(char::from_u32));
            return;
        }
        match self.decompositions.get(c) {
            Some(parts) => out.extend_from_slice(parts),
            None => out.push(c),
        }
    }

    fn decomposed(&self, text: &str) -> String {
        let mut out = Vec::new();
        for c in text.chars() {
            self.put(c, &mut out);
        }
        // Marks that follow each other are in the order of their classes.
        for marks in out.chunk_by_mut(|_, next| self.class(*next) != 0) {
            // What begins a run is no mark, but at the start of the text.
            order::sort_by_key(marks, |mark| self.class(*mark));
        }
        out.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::{caseless, decomposed};
    use crate::core::testing::characters;

    #[test]
    fn every_character_is_decomposed_as_unicode_says() {
        for c in characters() {
            // Marks around it: what is decomposed must be put in order, too.
            let text = format!("a\u{301}{c}\u{323}\u{300}\u{1d165}");
            let wanted: String = text.nfd().collect();
            assert_eq!(decomposed(&text), wanted, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn every_character_has_the_lower_case_of_its_upper_case() {
        for c in characters() {
            let text = format!("A{c}Σ");
            let wanted = text.to_lowercase().to_uppercase().to_lowercase();
            let wanted = wanted.replace('ς', "σ");
            assert_eq!(caseless(&text), wanted, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn marks_at_the_start_are_put_in_order() {
        let wanted: String = "\u{301}\u{323}".nfd().collect();
        assert_eq!(decomposed("\u{301}\u{323}"), wanted);
    }
}
