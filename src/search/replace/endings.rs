//! The retry of an edit that ignores line endings: a model saw `\n` where the file has `\r\n`, or
//! the other way round.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::{self, Finder};

use super::{Endings, Outcome, Refusal, buffer};
use crate::core::scan;

/// The only retry. Text and `old` are compared with every `\r\n` replaced by `\n`; the replacement
/// gets the line endings of the text it replaces. An `old` of only line endings with `\r\n` is not
/// retried.
pub(super) fn retry(
    text: &[u8],
    old: &[u8],
    new: &[u8],
    all: bool,
) -> Result<(Vec<u8>, Outcome), Refusal> {
    let given_crlf = memmem::find(old, b"\r\n").is_some();
    let only_endings = old.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
    if memchr::memchr(b'\n', old).is_none() || (given_crlf && only_endings) {
        return Err(Refusal::NotFound);
    }
    let file_crlf = memmem::find(text, b"\r\n").is_some();
    if !given_crlf && !file_crlf {
        return Err(Refusal::NotFound);
    }
    let plain_old = with_lf(old)?;
    let plain = with_lf(text)?;
    let finder = Finder::new(&*plain_old);
    let count = finder.find_iter(&plain).count();
    match count {
        0 => return Err(Refusal::NotFound),
        1 => {}
        _ if all => {}
        _ => return Err(Refusal::Ambiguous(count)),
    }
    let new_lf = with_lf(new)?;
    let new_crlf = with_crlf(&new_lf)?;
    let mut places = Places::new(text);
    let mut length = 0usize;
    let mut crlf = false;
    let mut from = 0usize;
    // Two passes over the same matches: one to compute the length, one to write.
    for place in finder.find_iter(&plain) {
        let range = places.map(place..place.saturating_add(plain_old.len()));
        let own = has_crlf(text, &range);
        crlf |= own;
        let put = if own { new_crlf.len() } else { new_lf.len() };
        length = length
            .checked_add(range.start.saturating_sub(from))
            .and_then(|sum| sum.checked_add(put))
            .ok_or(Refusal::TooLarge)?;
        from = range.end;
    }
    length = length
        .checked_add(text.len().saturating_sub(from))
        .ok_or(Refusal::TooLarge)?;
    let mut body = buffer(length)?;
    let mut places = Places::new(text);
    from = 0;
    for place in finder.find_iter(&plain) {
        let range = places.map(place..place.saturating_add(plain_old.len()));
        body.extend_from_slice(text.get(from..range.start).unwrap_or_default());
        let own = has_crlf(text, &range);
        body.extend_from_slice(if own { &new_crlf } else { &new_lf });
        from = range.end;
    }
    body.extend_from_slice(text.get(from..).unwrap_or_default());
    let outcome = Outcome {
        occurrences: count,
        crlf,
        endings: if crlf { Endings::Crlf } else { Endings::Lf },
    };
    Ok((body, outcome))
}

fn has_crlf(text: &[u8], range: &Range<usize>) -> bool {
    let hit = text.get(range.clone()).unwrap_or_default();
    memmem::find(hit, b"\r\n").is_some()
}

/// Maps offsets in the text without the `\r` of each `\r\n` to offsets in the original text. With
/// increasing offsets, all calls together scan the text once.
struct Places<'a> {
    endings: memmem::FindIter<'a, 'static>,
    /// The next `\r\n` that was not passed yet, in the original text.
    next: Option<usize>,
    passed: usize,
}

impl<'a> Places<'a> {
    fn new(text: &'a [u8]) -> Places<'a> {
        let mut endings = memmem::find_iter(text, b"\r\n");
        let next = endings.next();
        Places {
            endings,
            next,
            passed: 0,
        }
    }

    /// An offset at a shortened line ending maps to the `\r` before it.
    fn at(&mut self, place: usize) -> usize {
        while let Some(ending) = self.next {
            if place.saturating_add(self.passed) <= ending {
                break;
            }
            self.passed = self.passed.saturating_add(1);
            self.next = self.endings.next();
        }
        place.saturating_add(self.passed)
    }

    fn map(&mut self, plain: Range<usize>) -> Range<usize> {
        let start = self.at(plain.start);
        start..self.at(plain.end)
    }
}

fn with_lf(text: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    if memmem::find(text, b"\r\n").is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = buffer(text.len())?;
    let mut from = 0usize;
    for place in memmem::find_iter(text, b"\r\n") {
        out.extend_from_slice(text.get(from..place).unwrap_or_default());
        from = place.saturating_add(1);
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    Ok(Cow::Owned(out))
}

fn with_crlf(lf: &[u8]) -> Result<Vec<u8>, Refusal> {
    let added = scan::newlines(lf);
    let mut out = buffer(lf.len().saturating_add(added))?;
    let mut from = 0usize;
    for place in memchr::memchr_iter(b'\n', lf) {
        out.extend_from_slice(lf.get(from..place).unwrap_or_default());
        out.push(b'\r');
        from = place;
    }
    out.extend_from_slice(lf.get(from..).unwrap_or_default());
    Ok(out)
}
