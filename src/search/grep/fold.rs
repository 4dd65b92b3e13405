//! Unicode case folding: each line is converted to lower case, and so is the pattern. An ASCII file
//! is skipped if the pattern cannot match ASCII text.

use memchr::memmem::Finder;

use super::patience::Patience;
use super::seek::lines_where;

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
        lines_where(body, Some, |line| {
            patience.worked(line.len()).then(|| self.is_in(line))
        })
    }

    fn is_in(&self, line: &[u8]) -> bool {
        if line.is_ascii() {
            return !self.wide && self.finder.find(&line.to_ascii_lowercase()).is_some();
        }
        let small = fold(&String::from_utf8_lossy(line));
        self.finder.find(small.as_bytes()).is_some()
    }
}

/// Converts to lower case. Both lower-case sigmas count as the same letter.
fn fold(text: &str) -> String {
    let small = text.chars().flat_map(char::to_lowercase);
    small.map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}
