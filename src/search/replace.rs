//! Replacing text in a file. Literal, by bytes, left to right and without overlap. Where the
//! text is not found as given, one more look is taken in which line endings alone may differ: a
//! model saw `\n` where the file has `\r\n`. Regular expressions and templates have no place here.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::{self, Finder};

use crate::error::{Error, Kind};
use crate::path::VPath;

/// The largest file that an edit may make, the same on every machine.
const MAX_BYTES: usize = i32::MAX as usize;

/// Which line endings the text was found, and put back, with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// Those that were given.
    AsGiven,
    /// The file's `\r\n`, where `\n` was given.
    Crlf,
    /// The file's `\n`, where `\r\n` was given.
    Lf,
}

/// A text with its replacements made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The new text.
    pub body: Vec<u8>,
    /// Replacements made; none where an empty file was filled.
    pub occurrences: usize,
    /// Whether the text was found only with the file's `\r\n`.
    pub crlf: bool,
    /// The line endings that it was found with.
    pub endings: Endings,
}

/// Why nothing was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no text to look for, and the file is not empty.
    EmptyOld,
    /// The text does not occur.
    NotFound,
    /// It occurs so many times, and only one was asked for.
    Ambiguous(usize),
    /// The outcome would not fit into memory.
    TooLarge,
}

/// Replaces `old` by `new`: the only occurrence, or with `all` every one.
pub fn replace(text: &[u8], old: &[u8], new: &[u8], all: bool) -> Result<Replaced, Refusal> {
    if old.is_empty() {
        if !text.is_empty() {
            return Err(Refusal::EmptyOld);
        }
        let mut body = buffer(new.len())?;
        body.extend_from_slice(new);
        return Ok(Replaced {
            body,
            occurrences: 0,
            crlf: false,
            endings: Endings::AsGiven,
        });
    }
    let finder = Finder::new(old);
    let Some(first) = finder.find(text) else {
        return retry(text, old, new, all);
    };
    let behind = first.saturating_add(old.len());
    let rest = text.get(behind..).unwrap_or_default();
    let count = finder.find_iter(rest).count().saturating_add(1);
    if count > 1 && !all {
        return Err(Refusal::Ambiguous(count));
    }
    let length = new
        .len()
        .checked_mul(count)
        .and_then(|added| added.checked_add(text.len()))
        .and_then(|sum| sum.checked_sub(old.len().checked_mul(count)?))
        .ok_or(Refusal::TooLarge)?;
    let mut body = buffer(length)?;
    body.extend_from_slice(text.get(..first).unwrap_or_default());
    body.extend_from_slice(new);
    let mut from = 0usize;
    if count > 1 {
        for place in finder.find_iter(rest) {
            body.extend_from_slice(rest.get(from..place).unwrap_or_default());
            body.extend_from_slice(new);
            from = place.saturating_add(old.len());
        }
    }
    body.extend_from_slice(rest.get(from..).unwrap_or_default());
    Ok(Replaced {
        body,
        occurrences: count,
        crlf: false,
        endings: Endings::AsGiven,
    })
}

/// The one retry. Text and `old` are compared with every `\r\n` read as `\n`; what is put in gets
/// the endings of what it displaces. An `old` of nothing but `\r\n` is meant as it is.
fn retry(text: &[u8], old: &[u8], new: &[u8], all: bool) -> Result<Replaced, Refusal> {
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
    // Twice over the same places: once to know the length, once to write.
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
    Ok(Replaced {
        body,
        occurrences: count,
        crlf,
        endings: if crlf { Endings::Crlf } else { Endings::Lf },
    })
}

fn has_crlf(text: &[u8], range: &Range<usize>) -> bool {
    let hit = text.get(range.clone()).unwrap_or_default();
    memmem::find(hit, b"\r\n").is_some()
}

/// Leads places in the text without the `\r` of its `\r\n` back to the text itself. Asked in
/// rising order, all answers together read the text once.
struct Places<'a> {
    endings: memmem::FindIter<'a, 'static>,
    /// The next `\r\n` not yet passed, in the text itself.
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

    /// A place on a shortened ending is the `\r` before it.
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
    let added = memchr::memchr_iter(b'\n', lf).count();
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

/// Room for a text of just that length, or the refusal instead of an abort.
fn buffer(length: usize) -> Result<Vec<u8>, Refusal> {
    if length > MAX_BYTES {
        return Err(Refusal::TooLarge);
    }
    let mut body = Vec::new();
    match body.try_reserve_exact(length) {
        Ok(()) => Ok(body),
        Err(_) => Err(Refusal::TooLarge),
    }
}

/// What the caller of `edit` is told.
pub fn sentence(refusal: &Refusal, path: &VPath, old: &str) -> Error {
    match refusal {
        Refusal::EmptyOld => Error::new(
            Kind::InvalidArgument,
            "Error: oldString cannot be empty when file has content",
        ),
        Refusal::NotFound => Error::new(
            Kind::NoMatch,
            format!("Error: String not found in file: '{old}'"),
        ),
        Refusal::Ambiguous(count) => Error::new(
            Kind::AmbiguousEdit,
            format!(
                "Error: String '{old}' has multiple occurrences (appears {count} times) in file. \
                 Use replace_all=True to replace all instances, or provide a more specific \
                 string with surrounding context."
            ),
        ),
        Refusal::TooLarge => Error::at(
            Kind::TooLarge,
            "Error: The edit would make '",
            path,
            "' too large to hold in memory. Replace fewer occurrences, or split the file.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize, bool), Refusal> {
        replace(text.as_bytes(), old.as_bytes(), new.as_bytes(), all).map(|replaced| {
            let body = String::from_utf8(replaced.body).expect("text");
            (body, replaced.occurrences, replaced.crlf)
        })
    }

    fn ok(body: &str, occurrences: usize, crlf: bool) -> Result<(String, usize, bool), Refusal> {
        Ok((body.to_owned(), occurrences, crlf))
    }

    #[test]
    fn line_endings_alone_may_differ() {
        let cases = [
            ("a\r\nb\r\nc", "a\nb", "x\ny", ok("x\r\ny\r\nc", 1, true)),
            ("a\r\nb\r\n", "\nb\n", "\nz\n", ok("a\r\nz\r\n", 1, true)),
            (
                "q\r\na\r\nb\r\n",
                "\na\nb\n",
                "\nz\n",
                ok("q\r\nz\r\n", 1, true),
            ),
            ("a\r\nb", "a\nb", "one\r\ntwo", ok("one\r\ntwo", 1, true)),
            ("a\nb\nc", "a\r\nb", "x\r\ny", ok("x\ny\nc", 1, false)),
            ("a\nb\r\nc", "a\nb\nc", "1\n2", ok("1\r\n2", 1, true)),
            ("a\nb\nc", "\r\n", "-", Err(Refusal::NotFound)),
            ("a\r\n\r\nb", "\n\n", "\n", ok("a\r\nb", 1, true)),
            ("a\r\nb a\r\nb", "a\nb", "x", Err(Refusal::Ambiguous(2))),
            ("a\r\nb", "a\nc", "x", Err(Refusal::NotFound)),
            ("a\r\nb\n", "b\n", "x\n", ok("a\r\nx\n", 1, false)),
            ("a\r\nb", "a\rb", "x", Err(Refusal::NotFound)),
        ];
        for (text, old, new, expected) in cases {
            assert_eq!(run(text, old, new, false), expected, "{text:?} {old:?}");
        }
        let all = run("a\r\nb|a\nb|a\r\nb", "a\r\nb", "x\r\ny", true);
        assert_eq!(all, ok("x\r\ny|a\nb|x\r\ny", 2, false));
        let mixed = run("a\r\nb\r\nc|a\nb\r\nc", "a\nb\nc", "x\ny", true);
        assert_eq!(mixed, ok("x\r\ny|x\r\ny", 2, true));
    }

    #[test]
    fn an_empty_file_is_filled() {
        assert_eq!(run("", "", "new", false), ok("new", 0, false));
        assert_eq!(run("x", "", "new", true), Err(Refusal::EmptyOld));
    }

    #[test]
    fn an_outcome_beyond_all_memory_is_refused() {
        let text = vec![b'a'; 1 << 20];
        let new = vec![b'b'; 1 << 20];
        assert_eq!(replace(&text, b"a", &new, true), Err(Refusal::TooLarge));
        let path = VPath::parse("/x").expect("a path");
        let error = sentence(&Refusal::TooLarge, &path, "a");
        assert_eq!((error.code(), error.path()), ("too_large", Some(&path)));
    }

    #[test]
    fn bytes_that_are_not_text_stay_as_they_are() {
        let replaced = replace(b"\xff\xfea\xff", b"a", b"bb", false).expect("one");
        assert_eq!(replaced.body, b"\xff\xfebb\xff");
        assert_eq!(replaced.body.capacity(), replaced.body.len());
    }

    /// The twin: step by step, byte by byte.
    fn naive(text: &[u8], old: &[u8], new: &[u8]) -> (Vec<u8>, usize) {
        let (mut out, mut at, mut count) = (Vec::new(), 0, 0);
        while at < text.len() {
            if text[at..].starts_with(old) {
                out.extend_from_slice(new);
                at += old.len();
                count += 1;
            } else {
                out.push(text[at]);
                at += 1;
            }
        }
        (out, count)
    }

    proptest! {
        #[test]
        fn it_does_what_stepping_through_does(
            text in "[ab\u{e9}]{0,60}", old in "[ab\u{e9}]{1,3}", new in "[abc$&]{0,4}", all: bool,
        ) {
            let (body, count) = naive(text.as_bytes(), old.as_bytes(), new.as_bytes());
            let expected = match count {
                0 => Err(Refusal::NotFound),
                1 => Ok((body, 1)),
                _ if all => Ok((body, count)),
                _ => Err(Refusal::Ambiguous(count)),
            };
            let got = replace(text.as_bytes(), old.as_bytes(), new.as_bytes(), all);
            prop_assert_eq!(got.map(|done| (done.body, done.occurrences)), expected);
        }

        #[test]
        fn a_windows_file_is_edited_as_its_unix_twin(
            text in "[ab\n]{0,60}", old in "[ab]{0,1}\n[ab]{0,2}\n?[ab]{0,1}", new in "[xy\n]{0,4}",
        ) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            let twin = run(&text, &old, &new, true);
            let got = run(&crlf(&text), &old, &new, true);
            // A hit that needs no other endings (`\n` first in `old`, say) is taken as given.
            if !crlf(&text).contains(&old) {
                prop_assert_eq!(got, twin.map(|(body, count, _)| (crlf(&body), count, true)));
            }
        }
    }
}
