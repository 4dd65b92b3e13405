//! Characters that are alike but for their case, as regular expressions take them: `k`, `K` and the sign for kelvin.
//! One of them stands for all. `build.rs` packs what `regex-syntax` knows, in a tenth of the standard library's table
//! of lower case.

use std::cell::OnceCell;

use crate::core::order;
use crate::core::packed::take;

thread_local! {
    static RUNS: OnceCell<Vec<Run>> = const { OnceCell::new() };
    static PAIRS: OnceCell<Vec<(u32, u32)>> = const { OnceCell::new() };
}

/// Characters that are as far from those that stand for them.
struct Run {
    first: u32,
    last: u32,
    step: u32,
    far: u32,
}

/// The character that stands for all that are alike to this one.
pub fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let at = u32::from(c);
    RUNS.with(|runs| {
        let runs = runs.get_or_init(unpacked);
        let behind = runs.partition_point(|run| run.first <= at);
        let run = runs.get(behind.checked_sub(1)?)?;
        let is_in = at <= run.last && (at - run.first).is_multiple_of(run.step);
        is_in.then(|| char::from_u32(at.wrapping_add(run.far)))?
    })
    .unwrap_or(c)
}

fn unpacked() -> Vec<Run> {
    let mut packed = include_bytes!(concat!(env!("OUT_DIR"), "/alike.bin"))
        .iter()
        .copied();
    let mut number = || take(&mut packed);
    let mut runs = Vec::new();
    let mut before = 0;
    while let (Some(distance), Some(more), Some(far)) = (number(), number(), number()) {
        let (first, step) = (before + distance, 1 + (more & 1));
        before = first + (more >> 1) * step;
        let far = match far & 1 {
            1 => (far >> 1).wrapping_neg(),
            _ => far >> 1,
        };
        runs.push(Run {
            first,
            last: before,
            step,
            far,
        });
    }
    runs
}

/// Adds the characters outside of a range that are alike to one in it, as ranges of one.
pub fn add_alike(first: u32, last: u32, ranges: &mut Vec<(u32, u32)>) {
    PAIRS.with(|pairs| {
        let pairs = pairs.get_or_init(paired);
        let from = pairs.partition_point(|(c, _)| *c < first);
        for (c, other) in pairs.iter().skip(from) {
            if *c > last {
                break;
            }
            if *other < first || *other > last {
                ranges.push((*other, *other));
            }
        }
    });
}

/// Each character with each other one that is alike, in order.
fn paired() -> Vec<(u32, u32)> {
    let mut forms = Vec::new();
    for run in unpacked() {
        let mut c = run.first;
        while c <= run.last {
            forms.push((c.wrapping_add(run.far), c));
            c += run.step;
        }
    }
    order::sort(&mut forms);
    let mut pairs = Vec::new();
    for (at, (form, c)) in forms.iter().enumerate() {
        pairs.extend([(*form, *c), (*c, *form)]);
        for (_, other) in forms.iter().skip(at + 1).take_while(|(of, _)| of == form) {
            pairs.extend([(*other, *c), (*c, *other)]);
        }
    }
    order::sort(&mut pairs);
    pairs
}

/// Whether a character beyond ASCII is alike to this letter.
pub fn has_kin(letter: u8) -> bool {
    matches!(letter.to_ascii_lowercase(), b'k' | b's')
}

/// Whether a text has a character that is alike to a letter of ASCII: the sign for kelvin, the long s.
pub fn has_relative(text: &[u8]) -> bool {
    ["\u{212a}", "\u{17f}"]
        .iter()
        .any(|one| memchr::memmem::find(text, one.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;
    use crate::core::testing::characters;

    /// The characters that the crate `regex` takes as alike to one in a range, and the range.
    fn alike(first: char, last: char) -> Vec<char> {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(first, last)]);
        class.case_fold_simple();
        let all = class.iter().flat_map(|range| range.start()..=range.end());
        all.collect()
    }

    fn outside(first: u32, last: u32) -> Vec<u32> {
        let mut ranges = Vec::new();
        add_alike(first, last, &mut ranges);
        ranges.into_iter().map(|(one, _)| one).collect()
    }

    #[test]
    fn characters_are_alike_as_in_the_crate_regex() {
        for c in characters() {
            let class = alike(c, c);
            assert!(class.contains(&folded(c)), "{c:?}");
            for other in &class {
                assert_eq!(folded(*other), folded(c), "{c:?} {other:?}");
            }
            let mut others = outside(c.into(), c.into());
            others.sort_unstable();
            let known = class.iter().filter(|other| **other != c);
            let known: Vec<u32> = known.map(|other| u32::from(*other)).collect();
            assert_eq!(others, known, "{c:?}");
            assert_eq!(
                c.is_ascii() && class.iter().any(|other| !other.is_ascii()),
                c.is_ascii() && has_kin(c as u8),
                "{c:?}"
            );
            let is_relative = !c.is_ascii() && class.iter().any(char::is_ascii);
            assert_eq!(has_relative(c.to_string().as_bytes()), is_relative, "{c:?}");
        }
    }

    #[test]
    fn what_is_alike_outside_of_a_range_is_found() {
        for (first, last) in [
            ('a', 'z'),
            ('k', 'k'),
            ('J', 'M'),
            ('\u{e0}', '\u{17e}'),
            ('\u{390}', '\u{3a9}'),
            ('а', 'я'),
            ('\u{2126}', '\u{1f600}'),
            ('\0', char::MAX),
        ] {
            let mut all = outside(first.into(), last.into());
            all.extend((first..=last).map(u32::from));
            all.sort_unstable();
            all.dedup();
            let known: Vec<u32> = alike(first, last).into_iter().map(u32::from).collect();
            assert!(all == known, "{first:?}-{last:?}");
        }
    }
}
