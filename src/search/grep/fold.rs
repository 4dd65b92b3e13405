//! Capital and small letters beyond ASCII: a line's letters are made small, and so are the
//! text's. A file of ASCII alone is passed over where the text cannot stand in one.

use memchr::memmem::Finder;

use super::patience::Patience;
use super::seek::lines_where;

/// A text in whatever capital and small letters.
pub(super) struct Folded {
    finder: Box<Finder<'static>>,
    /// Whether only lines with more than ASCII can hold it.
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

    /// Whether no line of ASCII alone holds it.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Hits in one body, one call after another, each from where a line starts.
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

/// Small letters. A sigma is one letter, wherever in its word it stands.
fn fold(text: &str) -> String {
    let small = text.chars().flat_map(char::to_lowercase);
    small.map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}
