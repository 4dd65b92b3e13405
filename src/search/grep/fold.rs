//! Ignores the case of letters beyond ASCII in a literal, as a regular expression does: each line is folded, and so
//! is the pattern. An ASCII file is skipped if the pattern cannot match ASCII text.

use memchr::memmem::Finder;

use super::seek::lines_where;
use crate::search::alike::folded;
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

/// Folds each character.
fn fold(text: &str) -> String {
    text.chars().map(folded).collect()
}
