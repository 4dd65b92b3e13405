//! Finds a literal in a body with SIMD: exactly, or ignoring case. Only ASCII letters have two
//! cases here; see `fold` for the others.

use memchr::memmem::Finder;
use memchr::{memchr, memchr2_iter, memmem, memrchr};

/// Bytes compared at a candidate before more work is done there, so that a hostile pattern costs at
/// most this many comparisons per byte.
const PROBE: usize = 32;
/// Bytes from common to rare, in source code and prose. Bytes that are not listed are rarer still.
const COMMON: &[u8] = b" etaoinsrlcdpumfhgybvw.-_/()0,1;=x:kjqz2";

/// How rare a byte is: a larger number for a rarer one.
pub fn rarity(byte: u8) -> usize {
    let place = COMMON.iter().position(|common| *common == byte);
    place.unwrap_or(COMMON.len())
}

/// A literal to find.
pub(super) enum Seeker {
    Exact(Box<Finder<'static>>),
    AnyCase(AnyCase),
}

impl Seeker {
    pub(super) fn exact(needle: &[u8]) -> Seeker {
        Seeker::Exact(Box::new(Finder::new(needle).into_owned()))
    }

    /// The literal; in lower case if either case matches.
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Seeker::Exact(finder) => finder.needle(),
            Seeker::AnyCase(text) => &text.small,
        }
    }

    /// The next hit at or after `from`; any position in the line of the match.
    pub(super) fn find(&self, body: &[u8], from: usize) -> Option<usize> {
        let rest = body.get(from..)?;
        let place = match self {
            Seeker::Exact(finder) => finder.find(rest),
            Seeker::AnyCase(text) => text.find(rest),
        }?;
        Some(from + place)
    }
}

/// A literal whose ASCII letters match in either case. It contains no `\n`.
pub(super) struct AnyCase {
    /// In lower case.
    small: Vec<u8>,
    /// A part of `small`, and the offset of its rarest byte.
    probe: Vec<u8>,
    rare: usize,
    either: (u8, u8),
}

impl AnyCase {
    pub(super) fn new(needle: &[u8]) -> AnyCase {
        let small = needle.to_ascii_lowercase();
        let rarest = small
            .iter()
            .enumerate()
            .max_by_key(|(_, byte)| rarity(**byte))
            .map_or(0, |(at, _)| at);
        let start = rarest.saturating_sub(PROBE / 2);
        let probe: Vec<u8> = small.iter().skip(start).take(PROBE).copied().collect();
        let byte = small.get(rarest).copied().unwrap_or_default();
        AnyCase {
            small,
            probe,
            rare: rarest - start,
            either: (byte, byte.to_ascii_uppercase()),
        }
    }

    fn find(&self, body: &[u8]) -> Option<usize> {
        let mut behind = 0usize;
        for place in memchr2_iter(self.either.0, self.either.1, body) {
            let Some(start) = place.checked_sub(self.rare).filter(|_| place >= behind) else {
                continue;
            };
            let window = body.get(start..start + self.probe.len());
            if !window.is_some_and(|window| window.eq_ignore_ascii_case(&self.probe)) {
                continue;
            }
            if self.probe.len() == self.small.len() {
                return Some(start);
            }
            // A long literal: search this line for the whole of it, once per line.
            let above = body.get(..place).unwrap_or_default();
            let from = memrchr(b'\n', above).map_or(0, |newline| newline + 1);
            let below = body.get(place..).unwrap_or_default();
            behind = memchr(b'\n', below).map_or(body.len(), |newline| place + newline);
            let line = body.get(from..behind).unwrap_or_default();
            if memmem::find(&line.to_ascii_lowercase(), &self.small).is_some() {
                return Some(place);
            }
        }
        None
    }
}

/// Hits in one body, one per call, each search from the start of a line: of the lines with a
/// candidate, those that match. `None` from `matches` stops the search.
pub(super) fn lines_where(
    body: &[u8],
    mut candidate: impl FnMut(usize) -> Option<usize>,
    matches: impl Fn(&[u8]) -> Option<bool>,
) -> impl FnMut(usize) -> Option<usize> {
    move |mut from| loop {
        let hit = candidate(from)?;
        let above = body.get(from..hit).unwrap_or_default();
        let start = memrchr(b'\n', above).map_or(from, |newline| from + newline + 1);
        let below = body.get(hit..).unwrap_or_default();
        let end = memchr(b'\n', below).map_or(body.len(), |newline| hit + newline);
        if matches(body.get(start..end).unwrap_or_default())? {
            return Some(start);
        }
        if end >= body.len() {
            return None;
        }
        from = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn letters_of_any_size_are_found_where_the_twin_finds_them(
            body in "[abAB_\n]{0,200}",
            needle in "[abAB_]{1,40}",
            planted in 0usize..200,
        ) {
            let mut body = body.into_bytes();
            body.splice(planted.min(body.len()).., needle.to_ascii_uppercase().into_bytes());
            for needle in [&*needle, &needle[..1], &needle[..needle.len().min(3)]] {
                let small = needle.to_ascii_lowercase();
                let line_of = |at: usize| body[..at].iter().filter(|byte| **byte == b'\n').count();
                let expected = body
                    .to_ascii_lowercase()
                    .windows(small.len())
                    .position(|window| window == small.as_bytes());
                let found = Seeker::AnyCase(AnyCase::new(needle.as_bytes())).find(&body, 0);
                prop_assert_eq!(found.map(line_of), expected.map(line_of), "{}", needle);
            }
        }
    }
}
