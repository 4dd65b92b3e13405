//! Unicode case folding, character by character as in a regular expression: each line is folded, and so
//! is the pattern. An ASCII file is skipped if the pattern cannot match ASCII text.

use std::cell::OnceCell;

use memchr::memmem::Finder;

use super::seek::lines_where;
use crate::core::packed::take;
use crate::search::patience::Patience;

/// Bytes of a line that are converted at once.
const PART: usize = 1 << 16;
/// Converting a byte takes as long as so many steps of other engines.
const STEPS_PER_BYTE: usize = 4;

/// A pattern that ignores case.
pub(super) struct Folded {
    finder: Box<Finder<'static>>,
    /// Whether only lines with non-ASCII characters can match.
    wide: bool,
}

impl Folded {
    pub(super) fn new(text: &str) -> Folded {
        let small = fold(text);
        Folded {
            finder: Box::new(Finder::new(&small).into_owned()),
            wide: !small.is_ascii(),
        }
    }

    /// Whether no ASCII line can match.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Hits in one body, one per call, each search from the start of a line.
    pub(super) fn hits<'a>(
        &'a self,
        body: &'a [u8],
        patience: &'a Patience,
    ) -> impl FnMut(usize) -> Option<usize> + 'a {
        lines_where(body, Some, |line| self.is_in(line, patience))
    }

    /// Whether a line matches; `None` if the search was stopped. A long line is converted in parts.
    fn is_in(&self, line: &[u8], patience: &Patience) -> Option<bool> {
        if self.wide && line.is_ascii() {
            return patience.worked(line.len()).then_some(false);
        }
        let kept = self.finder.needle().len().saturating_sub(1);
        let mut small: Vec<u8> = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at_checked(cut(rest)).unwrap_or((rest, &[]));
            rest = behind;
            if !patience.worked(part.len().saturating_mul(STEPS_PER_BYTE)) {
                return None;
            }
            match part.is_ascii() {
                true => small.extend(part.iter().map(u8::to_ascii_lowercase)),
                false => small.extend_from_slice(fold(&String::from_utf8_lossy(part)).as_bytes()),
            }
            if self.finder.find(&small).is_some() {
                return Some(true);
            }
            // A hit may begin in this part and end in the next one.
            small.drain(..small.len().saturating_sub(kept));
        }
        Some(false)
    }
}

/// Where the first part of a text ends: not within a character.
fn cut(text: &[u8]) -> usize {
    if text.len() <= PART {
        return text.len();
    }
    let before = text.iter().take(PART + 1).rev();
    let tail = before
        .take(3)
        .take_while(|byte| **byte & 0xc0 == 0x80)
        .count();
    PART - tail
}

/// Characters that are alike beside those with one lower-case form, and the form that stands for them.
const ALIKE: [(char, char); 25] = [
    ('\u{b5}', '\u{3bc}'),
    ('\u{17f}', 's'),
    ('\u{345}', '\u{3b9}'),
    ('\u{3c2}', '\u{3c3}'),
    ('\u{3d0}', '\u{3b2}'),
    ('\u{3d1}', '\u{3b8}'),
    ('\u{3d5}', '\u{3c6}'),
    ('\u{3d6}', '\u{3c0}'),
    ('\u{3f0}', '\u{3ba}'),
    ('\u{3f1}', '\u{3c1}'),
    ('\u{3f5}', '\u{3b5}'),
    ('\u{1c80}', '\u{432}'),
    ('\u{1c81}', '\u{434}'),
    ('\u{1c82}', '\u{43e}'),
    ('\u{1c83}', '\u{441}'),
    ('\u{1c84}', '\u{442}'),
    ('\u{1c85}', '\u{442}'),
    ('\u{1c86}', '\u{44a}'),
    ('\u{1c87}', '\u{463}'),
    ('\u{1c88}', '\u{a64b}'),
    ('\u{1e9b}', '\u{1e61}'),
    ('\u{1fbe}', '\u{3b9}'),
    ('\u{1fd3}', '\u{390}'),
    ('\u{1fe3}', '\u{3b0}'),
    ('\u{fb05}', '\u{fb06}'),
];

/// Folds each character.
fn fold(text: &str) -> String {
    text.chars().map(folded).collect()
}

fn folded(c: char) -> char {
    let c = lower(c);
    let place = ALIKE.binary_search_by_key(&c, |(one, _)| *one);
    let alike = place.ok().and_then(|at| ALIKE.get(at));
    alike.map_or(c, |(_, other)| *other)
}

/// The lower case of a character; what becomes several characters is alike only to itself. The standard library
/// has a table of 12 KB for this, `build.rs` writes one of less than a tenth.
fn lower(c: char) -> char {
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

/// Characters whose lower case is as far from each.
struct Run {
    first: u32,
    last: u32,
    step: u32,
    far: u32,
}

thread_local! {
    static RUNS: OnceCell<Vec<Run>> = const { OnceCell::new() };
}

fn unpacked() -> Vec<Run> {
    let mut packed = include_bytes!(concat!(env!("OUT_DIR"), "/lower.bin"))
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

/// Whether a character beyond ASCII is alike to this letter.
pub(super) fn has_kin(letter: u8) -> bool {
    matches!(letter.to_ascii_lowercase(), b'k' | b's')
}

/// Whether a text has a character that is alike to a letter of ASCII: the sign for kelvin, the long s.
pub(super) fn has_relative(text: &[u8]) -> bool {
    ["\u{212a}", "\u{17f}"]
        .iter()
        .any(|one| memchr::memmem::find(text, one.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;
    use crate::core::testing::characters;

    /// The characters that a regular expression takes as alike.
    fn alike(c: char) -> Vec<char> {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
        class.case_fold_simple();
        let all = class.iter().flat_map(|range| range.start()..=range.end());
        all.collect()
    }

    #[test]
    fn the_lower_case_is_that_of_the_standard_library() {
        for c in characters() {
            let mut small = c.to_lowercase();
            let known = match (small.next(), small.next()) {
                (Some(one), None) => one,
                _ => c,
            };
            assert_eq!(lower(c), known, "{c:?}");
        }
    }

    #[test]
    fn characters_are_alike_as_in_a_regular_expression() {
        let mut wrong = Vec::new();
        let mut forms = std::collections::BTreeMap::new();
        for c in characters() {
            let class = alike(c);
            for other in &class {
                if folded(*other) != folded(c) {
                    wrong.push((c, *other, folded(c), folded(*other)));
                }
            }
            if let Some(known) = forms.insert(folded(c), class.clone()) {
                // The standard library may know letters of a newer Unicode.
                assert!(
                    known == class || known.len() == 1 && class.len() == 1,
                    "{c:?}"
                );
            }
            assert_eq!(
                c.is_ascii() && class.iter().any(|other| !other.is_ascii()),
                c.is_ascii() && has_kin(c as u8),
                "{c:?}"
            );
            let is_relative = !c.is_ascii() && class.iter().any(char::is_ascii);
            assert_eq!(has_relative(c.to_string().as_bytes()), is_relative, "{c:?}");
        }
        assert!(wrong.is_empty(), "{} {wrong:?}", wrong.len());
        assert!(ALIKE.is_sorted());
    }
}
