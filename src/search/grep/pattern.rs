//! Regular expressions, line by line. The engine is `regex-lite`, which takes linear time and
//! little room and knows no faster way than to look at every character; so it sees only lines
//! that hold a text which the expression demands (see `needles`), where one can be read off it.
//!
//! As in JavaScript on a text with `\n` alone, `$` finds the end of a line of a Windows file: a
//! line is tried without its final `\r` first, and with it where the expression could name it.
//! `.` does not match `\r`.

use std::borrow::Cow;
use std::fmt::Display;

use regex_lite::{Regex, RegexBuilder};

use super::needles::needles;
use super::patience::{Patience, STEPS};
use super::seek::{AnyCase, Seeker, lines_where};
use super::weight::weight;
use crate::error::{Error, Kind, Result};

/// The longest expression.
const MAX_BYTES: usize = 8192;
/// The deepest nesting, so that reading cannot exhaust the stack.
const MAX_DEPTH: u32 = 100;
/// The largest compiled form, which bounds memory.
const MAX_COMPILED: usize = 256 << 10;
/// The largest expression with its repetitions written out (see `weight`): on a line that keeps
/// all of it busy, an engine takes this number of steps for each byte.
const MAX_WEIGHT: usize = 4_000;
/// No part of a line that is measured is shorter, however large the expression is.
const MIN_PART: usize = 1024;

/// An expression that is asked line by line.
pub(super) struct LineRegex {
    regex: Regex,
    /// A matching line holds one of these. None known: any line may match.
    seekers: Vec<Seeker>,
    /// Whether a match may take the `\r` at a line's end.
    takes_return: bool,
    /// Steps for each byte, at worst.
    weight: usize,
    /// Whether a match in a part of a line is one in the line, whatever stands around the part.
    is_local: bool,
}

impl LineRegex {
    pub(super) fn new(pattern: &str, ignore_case: bool) -> Result<LineRegex> {
        if pattern.len() > MAX_BYTES {
            return Err(invalid(format!(
                "it is longer than {MAX_BYTES} bytes; search for less at once"
            )));
        }
        let weight = weight(pattern);
        if weight > MAX_WEIGHT.max(pattern.len()) {
            return Err(invalid(format!(
                "with its repetitions written out it has {weight} parts, and at most {MAX_WEIGHT} \
                 are searched for; use smaller counts, or * and + in their place"
            )));
        }
        // Between the ends of one line this flag means nothing.
        let pattern = pattern.strip_prefix("(?m)").unwrap_or(pattern);
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .crlf(true)
            .nest_limit(MAX_DEPTH)
            .size_limit(MAX_COMPILED)
            .build()
            .map_err(invalid)?;
        let seeker = |text: String| match ignore_case {
            true => Seeker::AnyCase(AnyCase::new(text.as_bytes())),
            false => Seeker::exact(text.as_bytes()),
        };
        let texts = needles(pattern).unwrap_or_default();
        Ok(LineRegex {
            regex,
            seekers: texts.into_iter().map(seeker).collect(),
            takes_return: pattern.contains(['\\', '[', '\r']) || pattern.contains("(?"),
            weight: weight.max(1),
            is_local: !pattern.contains(['^', '$', '\\']) && !pattern.contains("(?"),
        })
    }

    /// Hits in one body, one call after another, each from where a line starts.
    pub(super) fn hits<'a>(
        &'a self,
        body: &'a [u8],
        patience: &'a Patience,
    ) -> impl FnMut(usize) -> Option<usize> + 'a {
        // Where each text stands next, if that is known and still ahead.
        let mut ahead: Vec<Option<usize>> = Vec::new();
        lines_where(
            body,
            move |from| self.candidate(body, from, &mut ahead),
            |line| self.matches(line, patience),
        )
    }

    /// A place in the first line at or behind `from` that may match.
    fn candidate(&self, body: &[u8], from: usize, ahead: &mut Vec<Option<usize>>) -> Option<usize> {
        match self.seekers.as_slice() {
            [] => Some(from),
            [one] => one.find(body, from),
            many => {
                ahead.resize(many.len(), Some(0));
                for (seeker, place) in many.iter().zip(ahead.iter_mut()) {
                    // The first look is told from a text at the very start by asking again.
                    if place.is_some_and(|place| place < from || place == 0) {
                        *place = seeker.find(body, from);
                    }
                }
                ahead.iter().flatten().min().copied()
            }
        }
    }

    /// Whether a line matches; nothing where the search is over.
    fn matches(&self, line: &[u8], patience: &Patience) -> Option<bool> {
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        let steps = text.len().saturating_mul(self.weight);
        if steps > STEPS
            && let Some(known) = self.measured(&text, patience)?
        {
            return Some(known);
        }
        if !patience.worked(steps) {
            return None;
        }
        Some(match text.strip_suffix('\r') {
            None => self.regex.is_match(&text),
            Some(bare) => {
                self.regex.is_match(bare) || self.takes_return && self.regex.is_match(&text)
            }
        })
    }

    /// How long the engine takes for a long line is not known: the worst that may be is a thousand
    /// times what mostly is. No engine lets itself be asked in the midst of a line, so the line is
    /// searched in parts first, with a look at the clock between them; where the whole would take
    /// longer than there is time, the search is over. What a part tells for certain is told.
    #[expect(clippy::option_option, reason = "over, not known, or known")]
    fn measured(&self, text: &str, patience: &Patience) -> Option<Option<bool>> {
        let part = (STEPS / self.weight).max(MIN_PART);
        let (before, _) = patience.look();
        let mut rest = text;
        while !rest.is_empty() {
            let mut end = part.min(rest.len());
            while !rest.is_char_boundary(end) {
                end += 1;
            }
            let (head, tail) = rest.split_at_checked(end)?;
            rest = tail;
            if self.regex.is_match(head) && self.is_local {
                return Some(Some(true));
            }
            if !patience.worked(STEPS) {
                return None;
            }
        }
        let (after, left) = patience.look();
        // In a part that is shorter than the expression, not all of it has become busy.
        let more = 1 + 2 * self.weight / part;
        let ahead = (after - before).saturating_mul(i64::try_from(more).unwrap_or(i64::MAX));
        if ahead > left {
            patience.give_up();
            return None;
        }
        Some(None)
    }
}

fn invalid(why: impl Display) -> Error {
    Error::new(
        Kind::InvalidPattern,
        format!("Invalid regex pattern: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;
    use proptest::prelude::*;

    fn shown(regex: &LineRegex, body: &[u8]) -> Vec<usize> {
        let patience = Patience::until(None, Time::default);
        let mut hits = regex.hits(body, &patience);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = hits(from) {
            found.push(hit);
            let rest = body[hit..].iter().position(|byte| *byte == b'\n');
            let Some(newline) = rest else { break };
            from = hit + newline + 1;
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// The twin: the engine on every line.
        #[test]
        fn no_line_is_lost_to_the_texts_that_are_sought(
            body in "([abcA é-]|ab|bc|\r|\n|\n){0,60}",
            pattern in r"(a|b|c|é| |-|\\-|ab|abc|\.|\[ab\]|\[\^a\]|\\w|\\b|a\*|b\+|b\+\?|c\?|a\{0,2\}|b\{2\}|\(\?:ab\|b\)|\(a\|bc\)\?|\(ab\)|\(\?i:b\)|\||\^|\$){1,7}",
            ignore_case: bool,
            stray in proptest::option::of(0usize..60),
        ) {
            let mut body = body.into_bytes();
            if let Some(byte) = stray.and_then(|at| body.get_mut(at)) {
                *byte = 0xff;
            }
            let Ok(fast) = LineRegex::new(&pattern, ignore_case) else {
                return Err(TestCaseError::reject("no expression"));
            };
            let mut slow = LineRegex::new(&pattern, ignore_case).expect("it was one");
            slow.seekers.clear();
            prop_assert_eq!(shown(&fast, &body), shown(&slow, &body));
        }
    }
}
