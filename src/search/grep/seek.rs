//! Where a text may stand in a body, at the speed of SIMD: as it is, or in whatever capital and
//! small letters. Only ASCII letters have two forms here; see `fold` for the others.

use memchr::memmem::Finder;
use memchr::{memchr, memchr2_iter, memmem, memrchr};

/// Bytes compared at a place before more is done there, so that a hostile text costs no more
/// than so many looks at each byte.
const PROBE: usize = 32;
/// Bytes from common to rare, in source code and prose. Those not named are rarer still.
const COMMON: &[u8] = b" etaoinsrlcdpumfhgybvw.-_/()0,1;=x:kjqz2";

/// A text to look for.
pub(super) enum Seeker {
    Exact(Box<Finder<'static>>),
    AnyCase(AnyCase),
}

impl Seeker {
    pub(super) fn exact(needle: &[u8]) -> Seeker {
        Seeker::Exact(Box::new(Finder::new(needle).into_owned()))
    }

    /// The next place at or behind `from`, anywhere in the text's line.
    pub(super) fn find(&self, body: &[u8], from: usize) -> Option<usize> {
        let rest = body.get(from..)?;
        let place = match self {
            Seeker::Exact(finder) => finder.find(rest),
            Seeker::AnyCase(text) => text.find(rest),
        }?;
        Some(from + place)
    }
}

/// A text whose ASCII letters may be capital or small. It holds no `\n`.
pub(super) struct AnyCase {
    /// In small letters.
    small: Vec<u8>,
    /// A part of `small`, and where its rarest byte stands in it.
    probe: Vec<u8>,
    rare: usize,
    either: (u8, u8),
}

impl AnyCase {
    pub(super) fn new(needle: &[u8]) -> AnyCase {
        let small = needle.to_ascii_lowercase();
        let rank = |byte: &u8| COMMON.iter().position(|common| common == byte);
        let rarest = small
            .iter()
            .enumerate()
            .max_by_key(|(_, byte)| rank(byte).unwrap_or(usize::MAX))
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
            // A long text: whether it is anywhere in this line, once for the whole line.
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

/// Hits in one body, one call after another, each from where a line starts: of the lines in which
/// candidates stand, those that match. Where that is not told, the search is over.
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
