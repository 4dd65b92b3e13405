//! Regular expressions, line by line. The engine is `regex-lite`, which takes linear time and
//! little space, but examines every character; so it runs only on lines that contain a literal that
//! the expression requires (see `needles`), if one can be extracted.
//!
//! `$` matches at the end of a line of a Windows file, as in JavaScript on a text with only `\n`: a
//! line is first matched without its final `\r`, and also with it if the expression can match `\r`.
//! `.` does not match `\r`.

use std::borrow::Cow;
use std::fmt::Display;

use regex_lite::{Regex, RegexBuilder};

use super::needles::needles;
use super::patience::{Patience, STEPS};
use super::seek::{AnyCase, Seeker, lines_where};
use super::weight::weight;
use crate::core::error::{Error, Kind, Result};

/// The longest expression, in bytes.
const MAX_BYTES: usize = 8192;
/// The deepest nesting, so that parsing cannot overflow the stack.
const MAX_DEPTH: u32 = 100;
/// The largest compiled form, which limits memory.
const MAX_COMPILED: usize = 256 << 10;
/// The largest expression with its repetitions expanded (see `weight`): in the worst case an engine
/// takes this many steps per byte.
const MAX_WEIGHT: usize = 4_000;
/// The smallest part of a line that is timed separately, however large the expression is.
const MIN_PART: usize = 1024;

/// A regular expression that is matched line by line.
pub(super) struct LineRegex {
    regex: Regex,
    /// A matching line contains one of these. If empty, any line may match.
    seekers: Vec<Seeker>,
    /// Whether a match may include the `\r` at the end of a line.
    takes_return: bool,
    /// Steps per byte in the worst case.
    weight: usize,
    /// Whether a match in a part of a line is also a match in the line, whatever surrounds the
    /// part.
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
        // Within one line this flag has no effect.
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

    /// Hits in one body, one per call, each search from the start of a line.
    pub(super) fn hits<'a>(
        &'a self,
        body: &'a [u8],
        patience: &'a Patience,
    ) -> impl FnMut(usize) -> Option<usize> + 'a {
        // The next position of each literal, if it is known and still ahead.
        let mut ahead: Vec<Option<usize>> = Vec::new();
        lines_where(
            body,
            move |from| self.candidate(body, from, &mut ahead),
            |line| self.matches(line, patience),
        )
    }

    /// A position in the first line at or after `from` that may match.
    fn candidate(&self, body: &[u8], from: usize, ahead: &mut Vec<Option<usize>>) -> Option<usize> {
        match self.seekers.as_slice() {
            [] => Some(from),
            [one] => one.find(body, from),
            many => {
                ahead.resize(many.len(), Some(0));
                for (seeker, place) in many.iter().zip(ahead.iter_mut()) {
                    // 0 is either the initial value or a hit at the very start; search again to be
                    // sure.
                    if place.is_some_and(|place| place < from || place == 0) {
                        *place = seeker.find(body, from);
                    }
                }
                ahead.iter().flatten().min().copied()
            }
        }
    }

    /// Whether a line matches; `None` if the search was stopped.
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

    /// The time for a long line cannot be predicted: the worst case is a thousand times the usual
    /// case. No engine can be interrupted within a line, so the line is first searched in parts,
    /// and the time is measured; if the whole line would take longer than the time left, the search
    /// is stopped. A match in a part counts if it is certain to be a match in the line.
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
        // In a part shorter than the expression, not all states are active yet.
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
    use crate::core::time::Time;
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
        /// The naive twin: the engine on every line.
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
