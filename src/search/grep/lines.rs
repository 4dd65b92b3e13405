//! A regular expression as an engine of `grep`. If the expression requires a literal, the automaton
//! runs only on lines that contain it.

use std::cell::Cell;

use memchr::memchr;

use super::seek::{AnyCase, Seeker, lines_where};
use crate::core::error::{Error, Result};
use crate::search::patience::Patience;
use crate::search::regex::{self, Found, Regex};

/// The byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A regular expression that is matched line by line. A line matches with a byte order mark that
/// begins its file, or without it.
pub(super) struct LineRegex {
    regex: Regex,
    /// A matching line contains one of these. If empty, any line may match.
    seekers: Vec<Seeker>,
    /// Whether the answer depended on a character that is not known.
    unsure: Cell<bool>,
}

impl LineRegex {
    pub(super) fn new(pattern: &str, ignore_case: bool) -> Result<LineRegex> {
        let regex = Regex::new(pattern, ignore_case)?;
        let seekers = regex.literals().iter().map(|literal| {
            let text = literal.text.as_bytes();
            match literal.any_case {
                true => Seeker::AnyCase(AnyCase::new(text)),
                false => Seeker::exact(text),
            }
        });
        Ok(LineRegex {
            seekers: seekers.collect(),
            regex,
            unsure: Cell::new(false),
        })
    }

    /// Texts of which a matching line contains one, in any case of ASCII letters; empty if any line may
    /// match.
    pub(super) fn texts(&self) -> Vec<&[u8]> {
        self.seekers.iter().map(Seeker::text).collect()
    }

    /// The error if the search ended because its answer was not known.
    pub(super) fn over(&self) -> Option<Error> {
        self.unsure.get().then(regex::unsure)
    }

    /// Hits in one body, one per call, each search from the start of a line.
    pub(super) fn hits<'a>(
        &'a self,
        body: &'a [u8],
        patience: &'a Patience,
    ) -> impl FnMut(usize) -> Option<usize> + 'a {
        // The next position of each literal, if it is known and still ahead.
        let mut ahead: Vec<Option<usize>> = Vec::new();
        let mut in_lines = lines_where(
            body,
            move |from| self.candidate(body, from, &mut ahead),
            move |line| {
                if !patience.worked(line.len()) {
                    return None;
                }
                match self.find(line, 0, patience) {
                    Found::Hit(_) => Some(true),
                    Found::Nothing => Some(false),
                    Found::Unsure | Found::Over => None,
                }
            },
        );
        move |from| {
            if from == 0
                && let Some(found) = self.without_mark(body, patience)
            {
                return found;
            }
            match self.seekers.is_empty() {
                false => in_lines(from),
                true => match self.find(body, from, patience) {
                    Found::Hit(at) => Some(at),
                    _ => None,
                },
            }
        }
    }

    /// Whether the first line matches without the byte order mark before it; `None` if it has none, or
    /// does not.
    fn without_mark(&self, body: &[u8], patience: &Patience) -> Option<Option<usize>> {
        let rest = body.strip_prefix(MARK).filter(|rest| !rest.is_empty())?;
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        match self.find(rest.get(..end).unwrap_or_default(), 0, patience) {
            Found::Hit(_) => Some(Some(MARK.len())),
            Found::Nothing => None,
            Found::Unsure | Found::Over => Some(None),
        }
    }

    fn find(&self, body: &[u8], from: usize, patience: &Patience) -> Found {
        let found = self.regex.find(body, from, patience);
        if found == Found::Unsure {
            self.unsure.set(true);
        }
        found
    }

    /// A position in the first line at or after `from` that may match.
    fn candidate(&self, body: &[u8], from: usize, ahead: &mut Vec<Option<usize>>) -> Option<usize> {
        if let [one] = self.seekers.as_slice() {
            return one.find(body, from);
        }
        ahead.resize(self.seekers.len(), Some(0));
        for (seeker, place) in self.seekers.iter().zip(ahead.iter_mut()) {
            // 0 is either the initial value or a hit at the very start; search again to be sure.
            if place.is_some_and(|place| place < from || place == 0) {
                *place = seeker.find(body, from);
            }
        }
        ahead.iter().flatten().min().copied()
    }
}
