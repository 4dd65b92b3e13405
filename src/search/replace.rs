//! Replaces text in a file: literally, by bytes, from left to right and without overlap. If the
//! text is not found, kitbag retries, ignoring line endings: a model may have seen `\n` in place of
//! `\r\n`. Regular expressions and replacement templates are not supported.

mod endings;

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

use crate::core::error::{Error, Kind};
use crate::core::file::GROWTH;
use crate::core::path::VPath;

/// The largest file that an edit may create; the same on every platform.
const MAX_BYTES: usize = i32::MAX as usize;

/// A text that grew gets room behind it, so that it can grow where it is: this part of it, at most [`GROWTH`].
const ROOM: usize = 16;

/// Which line endings were used to find and replace the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// As in the arguments.
    AsGiven,
    /// `\r\n` as in the file, where the arguments had `\n`.
    Crlf,
    /// `\n` as in the file, where the arguments had `\r\n`.
    Lf,
}

/// The result of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Number of replacements; 0 if an empty file was filled.
    pub occurrences: usize,
    /// Whether the text was found only with the file's `\r\n`.
    pub crlf: bool,
    /// The line endings that were used to find it.
    pub endings: Endings,
}

/// Why nothing was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text to find is empty, and the file is not.
    EmptyOld,
    /// The text does not occur.
    NotFound,
    /// It occurs this many times, but only one replacement was requested.
    Ambiguous(usize),
    /// The result would not fit into memory.
    TooLarge,
}

/// A checked edit: it will not be refused for its arguments, and nothing is changed yet.
pub struct Plan<'a> {
    old: &'a [u8],
    new: &'a [u8],
    length: usize,
    outcome: Outcome,
    way: Way,
}

enum Way {
    /// As in the arguments; the first occurrence is at this offset.
    Given(usize),
    /// With other line endings; the result is ready.
    Made(Vec<u8>),
}

impl<'a> Plan<'a> {
    /// Finds `old` in `text`, to replace it with `new`: the only occurrence, or every one if `all`
    /// is set.
    pub fn of(text: &[u8], old: &'a [u8], new: &'a [u8], all: bool) -> Result<Plan<'a>, Refusal> {
        let outcome = |occurrences| Outcome {
            occurrences,
            crlf: false,
            endings: Endings::AsGiven,
        };
        let plan = |length, outcome, way| {
            Ok(Plan {
                old,
                new,
                length,
                outcome,
                way,
            })
        };
        if old.is_empty() {
            if !text.is_empty() {
                return Err(Refusal::EmptyOld);
            }
            let mut body = buffer(new.len())?;
            body.extend_from_slice(new);
            return plan(body.len(), outcome(0), Way::Made(body));
        }
        let finder = Finder::new(old);
        let Some(first) = finder.find(text) else {
            let (body, outcome) = endings::retry(text, old, new, all)?;
            return plan(body.len(), outcome, Way::Made(body));
        };
        let rest = text.get(first + old.len()..).unwrap_or_default();
        let count = finder.find_iter(rest).count().saturating_add(1);
        if count > 1 && !all {
            return Err(Refusal::Ambiguous(count));
        }
        let length = new
            .len()
            .checked_mul(count)
            .and_then(|added| added.checked_add(text.len()))
            .and_then(|sum| sum.checked_sub(old.len().checked_mul(count)?))
            .filter(|length| *length <= MAX_BYTES)
            .ok_or(Refusal::TooLarge)?;
        plan(length, outcome(count), Way::Given(first))
    }

    /// Adds `new` at the end of a text of this length.
    pub fn appending(length: usize, new: &'a [u8]) -> Plan<'a> {
        Plan {
            old: &[],
            new,
            length: length.saturating_add(new.len()),
            outcome: Outcome {
                occurrences: 1,
                crlf: false,
                endings: Endings::AsGiven,
            },
            way: Way::Given(length),
        }
    }

    /// Size of the edited text in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The result that the edit will have.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Applies the edit to the text that it was planned for. A body that nobody else references is edited
    /// in place and consumed, if it has room; any other body is left unchanged.
    pub fn make(self, body: &mut Bytes) -> Result<Bytes, Refusal> {
        let first = match self.way {
            Way::Made(made) => return Ok(Bytes::from(made)),
            Way::Given(first) => first,
        };
        let added = self.length.saturating_sub(body.len());
        if self.outcome.occurrences == 1
            && (1..=GROWTH).contains(&added)
            && let Some(made) = grown(body, first, self.old.len(), self.new)
        {
            return Ok(made);
        }
        // A much shorter result would keep the whole allocation, so it is copied too.
        if (body.len() / 4 * 3..=body.len()).contains(&self.length) {
            match std::mem::take(body).try_into_mut() {
                Ok(mut own) => {
                    in_place(
                        &mut own,
                        self.old,
                        self.new,
                        first,
                        self.outcome.occurrences,
                    );
                    return Ok(own.freeze());
                }
                Err(shared) => *body = shared,
            }
        }
        let room = if added > 0 { room(self.length) } else { 0 };
        let mut made = buffer(self.length + room)?;
        let mut from = 0usize;
        for place in places(body, self.old, first, self.outcome.occurrences) {
            made.extend_from_slice(body.get(from..place).unwrap_or_default());
            made.extend_from_slice(self.new);
            from = place + self.old.len();
        }
        made.extend_from_slice(body.get(from..).unwrap_or_default());
        Ok(Bytes::from(made))
    }
}

/// Puts `new` in the place of the `gone` bytes at `at`, which are fewer, where the text is. A body that others
/// reference, or that has no room, is left unchanged.
fn grown(body: &mut Bytes, at: usize, gone: usize, new: &[u8]) -> Option<Bytes> {
    let more = new.get(gone..)?;
    match std::mem::take(body).try_into_mut() {
        Ok(mut own) => {
            let end = own.len();
            if own.capacity() - end < more.len() {
                *body = own.freeze();
                return None;
            }
            own.extend_from_slice(more);
            own.copy_within(at + gone..end, at + new.len());
            own.get_mut(at..at + new.len())
                .unwrap_or_default()
                .copy_from_slice(new);
            Some(own.freeze())
        }
        Err(shared) => {
            *body = shared;
            None
        }
    }
}

fn room(length: usize) -> usize {
    GROWTH.min(length / ROOM)
}

/// The offsets of `old`, from its known first one.
fn places<'a>(
    text: &'a [u8],
    old: &'a [u8],
    first: usize,
    count: usize,
) -> impl Iterator<Item = usize> + 'a {
    let behind = first + old.len();
    let rest = text.get(behind..).unwrap_or_default();
    let more = memchr::memmem::find_iter(rest, old).map(move |place| behind + place);
    std::iter::once(first).chain(more).take(count)
}

/// Replaces within the text's own buffer; `new` is not longer than `old`, so writes never overtake
/// reads.
fn in_place(text: &mut BytesMut, old: &[u8], new: &[u8], first: usize, count: usize) {
    let finder = Finder::new(old);
    let (mut read, mut write) = (first, first);
    for left in (0..count).rev() {
        text.get_mut(write..write + new.len())
            .unwrap_or_default()
            .copy_from_slice(new);
        read += old.len();
        write += new.len();
        let rest = text.get(read..).unwrap_or_default();
        let kept = match left {
            0 => rest.len(),
            _ => finder.find(rest).unwrap_or(rest.len()),
        };
        if read != write {
            text.copy_within(read..read + kept, write);
        }
        read += kept;
        write += kept;
    }
    text.truncate(write);
}

/// Returns the edited text and leaves the original unchanged.
pub fn replace(
    text: &Bytes,
    old: &[u8],
    new: &[u8],
    all: bool,
) -> Result<(Bytes, Outcome), Refusal> {
    let plan = Plan::of(text, old, new, all)?;
    let outcome = plan.outcome();
    // The second reference prevents an edit in place.
    Ok((plan.make(&mut text.clone())?, outcome))
}

/// A buffer of exactly that length, or an error instead of an abort.
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

/// The error that the caller of `edit` gets.
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
        let (body, outcome) = both_ways(text.as_bytes(), old.as_bytes(), new.as_bytes(), all)?;
        let body = String::from_utf8(body.to_vec()).expect("text");
        Ok((body, outcome.occurrences, outcome.crlf))
    }

    /// The edit of a shared body and of an unshared one must agree, and the shared one must stay
    /// unchanged.
    fn both_ways(
        text: &[u8],
        old: &[u8],
        new: &[u8],
        all: bool,
    ) -> Result<(Bytes, Outcome), Refusal> {
        let mut shared = Bytes::copy_from_slice(text);
        let held = shared.clone();
        let copied = Plan::of(text, old, new, all)?.make(&mut shared)?;
        assert_eq!((&shared, &held), (&held, &Bytes::copy_from_slice(text)));
        let plan = Plan::of(text, old, new, all)?;
        let (length, outcome) = (plan.length(), plan.outcome());
        let made = plan.make(&mut Bytes::from(text.to_vec()))?;
        assert_eq!((&made, made.len()), (&copied, length));
        let mut roomy = Vec::with_capacity(text.len() * 2 + 64);
        roomy.extend_from_slice(text);
        let made = Plan::of(text, old, new, all)?.make(&mut Bytes::from(roomy))?;
        assert_eq!(made, copied);
        Ok((made, outcome))
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
        let text = Bytes::from(vec![b'a'; 1 << 20]);
        let new = vec![b'b'; 1 << 20];
        let refused = replace(&text, b"a", &new, true).map(|(_, outcome)| outcome);
        assert_eq!(refused, Err(Refusal::TooLarge));
        let path = VPath::parse("/x").expect("a path");
        let error = sentence(&Refusal::TooLarge, &path, "a");
        assert_eq!((error.code(), error.path()), ("too_large", Some(&path)));
    }

    #[test]
    fn bytes_that_are_not_text_stay_as_they_are() {
        let (body, _) = both_ways(b"\xff\xfea\xff", b"a", b"bb", false).expect("one");
        assert_eq!(body, &b"\xff\xfebb\xff"[..]);
    }

    #[test]
    fn a_body_of_ones_own_is_edited_where_it_is() {
        let mut body = Bytes::from(b"one two three two".repeat(100));
        let (text, at) = (body.clone().to_vec(), body.as_ptr());
        let plan = Plan::of(&text, b"two", b"2", true).expect("a plan");
        let made = plan.make(&mut body).expect("made");
        assert_eq!((made.as_ptr(), body.len()), (at, 0));
        assert_eq!(made, &b"one 2 three 2".repeat(100)[..]);
    }

    #[test]
    fn a_body_of_ones_own_grows_where_it_is() {
        let mut body = Bytes::from(b"one line\n".repeat(1_000));
        let mut expected = body.to_vec();
        let mut at = None;
        for n in 0..40 {
            let new = format!("line {n}\n");
            let plan = Plan::appending(body.len(), new.as_bytes());
            body = plan.make(&mut body).expect("room");
            expected.extend_from_slice(new.as_bytes());
            let old = format!("line {n}");
            let plan = Plan::of(&expected, old.as_bytes(), b"a longer line", false);
            body = plan.expect("one").make(&mut body).expect("room");
            expected.splice(
                expected.len() - new.len()..expected.len() - 1,
                *b"a longer line",
            );
            assert_eq!(body, expected);
            // The first time it got room.
            assert_eq!(body.as_ptr(), *at.get_or_insert(body.as_ptr()));
        }
        let held = body.clone();
        let mut shared = body;
        let made = Plan::appending(held.len(), b"more").make(&mut shared);
        assert_eq!(
            (&shared, made.expect("room").len()),
            (&held, held.len() + 4)
        );
    }

    #[test]
    fn a_body_that_grows_by_much_is_left_as_it_is() {
        let text = b"text".repeat(1_000);
        let mut body = Bytes::from(text.clone());
        let new = vec![b'x'; GROWTH + 1];
        let plan = Plan::appending(body.len(), &new);
        assert_eq!(
            plan.make(&mut body).expect("room").len(),
            text.len() + new.len()
        );
        assert_eq!(body, text);
    }

    /// The naive twin: step by step, byte by byte.
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
            let got = both_ways(text.as_bytes(), old.as_bytes(), new.as_bytes(), all);
            prop_assert_eq!(got.map(|(body, done)| (body.to_vec(), done.occurrences)), expected);
        }

        #[test]
        fn a_windows_file_is_edited_as_its_unix_twin(
            text in "[ab\n]{0,60}", old in "[ab]{0,1}\n[ab]{0,2}\n?[ab]{0,1}", new in "[xy\n]{0,4}",
        ) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            let twin = run(&text, &old, &new, true);
            let got = run(&crlf(&text), &old, &new, true);
            // A hit that needs no other line endings (if `old` starts with `\n`, say) is taken as
            // it is.
            if !crlf(&text).contains(&old) {
                prop_assert_eq!(got, twin.map(|(body, count, _)| (crlf(&body), count, true)));
            }
        }
    }
}
