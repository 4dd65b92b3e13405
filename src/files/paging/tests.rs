//! Compares pages read in parts with pages cut from the whole file.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::core::cell::RefCell;
use crate::core::file::{Format, Texture};
use crate::core::future::Pending;
use crate::core::testing::{cases, now};
use crate::core::time::Time;
use crate::files::{Files, FilesOptions};
use crate::protocol::{BackendExt, Capability};
use crate::storage::{Cursor, Depth, Extras, Listing, NewFile, Part, PutMode, done};

/// One file whose content can change after a number of requests.
#[derive(Clone)]
struct Served {
    unit: Option<u64>,
    states: Rc<RefCell<Vec<Vec<u8>>>>,
    /// How many more requests the current content serves.
    left: Rc<Cell<usize>>,
    asked: Rc<RefCell<Vec<Option<Range<u64>>>>>,
    lines: Option<u64>,
    meta: (Option<Mime>, Option<Texture>),
    versions: bool,
}

impl Served {
    fn of(text: &[u8], unit: Option<u64>) -> Served {
        Served {
            unit,
            states: Rc::new(RefCell::new(vec![text.to_vec()])),
            left: Rc::new(Cell::new(usize::MAX)),
            asked: Rc::default(),
            lines: None,
            meta: (None, None),
            versions: true,
        }
    }

    fn file(&self, range: Option<Range<u64>>) -> File {
        self.asked.borrow_mut().push(range.clone());
        let mut states = self.states.borrow_mut();
        if self.left.get() == 0 && states.len() > 1 {
            states.pop();
        }
        self.left.set(self.left.get().saturating_sub(1));
        let number = states.len() as u64;
        let body = states.last().expect("a state");
        let size = body.len() as u64;
        let range = range.unwrap_or(0..size);
        let (start, end) = (range.start.min(size), range.end.min(size));
        File {
            meta: Meta {
                size,
                created: None,
                modified: Time::default(),
                mime: self.meta.0.clone(),
                format: Format::V2,
                texture: self.meta.1,
                version: self.versions.then_some(Version::Number(number)),
                mode: None,
            },
            body: Bytes::copy_from_slice(&body[start as usize..end as usize]),
        }
    }

    /// The total number of bytes of all requests.
    fn moved(&self) -> u64 {
        let size = self.states.borrow().last().expect("a state").len() as u64;
        let asked = self.asked.take();
        let length = |range: &Option<Range<u64>>| match range {
            Some(range) => range.end.min(size).saturating_sub(range.start),
            None => size,
        };
        asked.iter().map(length).sum()
    }
}

impl Storage for Served {
    fn capability(&self) -> Capability {
        Capability::full()
    }
    fn extras(&self) -> Extras<'_> {
        Extras {
            ranged: self.unit.map(|_| self as &dyn Ranged),
            ..Extras::NONE
        }
    }
    fn get<'a>(&'a self, _: &'a VPath) -> Pending<'a, Option<File>> {
        done(Ok(Some(self.file(None))))
    }
    fn stat<'a>(&'a self, _: &'a VPath) -> Pending<'a, Option<Meta>> {
        done(Ok(None))
    }
    fn put<'a>(&'a self, _: &'a VPath, _: NewFile, _: PutMode) -> Pending<'a, Meta> {
        done(Err(Error::internal("nothing is put here")))
    }
    fn delete<'a>(&'a self, _: &'a VPath, _: Option<Version>) -> Pending<'a, bool> {
        done(Ok(false))
    }
    fn list<'a>(&'a self, _: &'a VPath, _: Depth, _: Option<Cursor>) -> Pending<'a, Listing> {
        done(Ok(Listing::default()))
    }
}

impl Ranged for Served {
    fn part_bytes(&self) -> Option<u64> {
        self.unit
    }
    fn get_part<'a>(&'a self, _: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        let start = range.start;
        done(Ok(Some(Part {
            file: self.file(Some(range)),
            start,
            lines: self.lines,
        })))
    }
}

fn reader(served: &Served) -> Files<Served> {
    Files::new(served.clone(), FilesOptions::default())
}

fn read(files: &Files<Served>, at: &str, offset: usize, limit: usize) -> ReadResult {
    let path = VPath::parse(at).expect("a path");
    now(files.read(&path, Page { offset, limit })).expect("read")
}

/// The page in parts equals the page of the whole file, except for a total that nobody counted.
fn same(by_parts: ReadResult, whole: ReadResult) {
    let mut by_parts = by_parts;
    if let (Some(part), Some(all)) = (&mut by_parts.position, &whole.position)
        && part.total_lines.is_none()
    {
        assert!(part.next_offset.is_some(), "at the end the total is known");
        part.total_lines = all.total_lines;
    }
    assert_eq!(by_parts, whole);
}

/// Bytes of malformed texts: all kinds of line endings, multi-byte characters, incomplete
/// characters, NUL.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        2 => Just("é".as_bytes().to_vec()),
        2 => Just("😀".as_bytes().to_vec()),
        1 => Just(vec![0xF0, 0x9F]),
        1 => Just(vec![0]),
        4 => Just(b"some words".to_vec()),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_page_by_parts_is_the_page_of_the_whole(
        text in bytes(),
        unit in 1u64..200,
        pages in prop::collection::vec((0usize..90, 0usize..90), 1..6),
        at in prop_oneof![Just("/a.txt"), Just("/a"), Just("/a.png"), Just("/a.zzz")],
        counted in any::<bool>(),
    ) {
        let whole = reader(&Served::of(&text, None));
        let mut served = Served::of(&text, Some(unit));
        if counted {
            let all = read(&whole, "/a.txt", 0, 1).position;
            served.lines = all.and_then(|all| all.total_lines).map(|lines| lines as u64);
        }
        let by_parts = reader(&served);
        for (offset, limit) in pages {
            same(read(&by_parts, at, offset, limit), read(&whole, at, offset, limit));
        }
        same(read(&by_parts, at, 3, usize::MAX), read(&whole, at, 3, usize::MAX));
        same(read(&by_parts, at, usize::MAX, 1), read(&whole, at, usize::MAX, 1));
    }

    #[test]
    fn parts_of_two_states_are_never_mixed(
        before in bytes(),
        after in bytes(),
        unit in 1u64..60,
        left in 0usize..6,
        offset in 0usize..60,
        limit in 1usize..60,
    ) {
        let mut served = Served::of(&after, Some(unit));
        served.states.borrow_mut().push(before.clone());
        served.left = Rc::new(Cell::new(left));
        let answer = read(&reader(&served), "/a.txt", offset, limit);
        let of = |text: &[u8]| read(&reader(&Served::of(text, None)), "/a.txt", offset, limit);
        let fits = |whole: ReadResult| {
            answer.content == whole.content
                && answer.position.map(|p| (p.end_line, p.next_offset))
                    == whole.position.map(|p| (p.end_line, p.next_offset))
        };
        prop_assert!(fits(of(&before)) || fits(of(&after)));
    }
}

proptest! {
    #![proptest_config(cases(32))]

    /// Long enough to have marks; small texts have none.
    #[test]
    fn pages_of_a_long_text_start_in_its_middle(
        seed in bytes(),
        unit in 1000u64..70_000,
        pages in prop::collection::vec((0usize..9000, 1usize..900), 1..8),
    ) {
        let mut text = seed;
        text.extend_from_slice(b"one more line\n");
        let text = text.repeat(200_000 / text.len());
        let whole = reader(&Served::of(&text, None));
        let by_parts = reader(&Served::of(&text, Some(unit)));
        for (offset, limit) in pages {
            same(read(&by_parts, "/a.txt", offset, limit), read(&whole, "/a.txt", offset, limit));
        }
    }
}

fn long_text() -> Vec<u8> {
    let line = |at| format!("line {at} of a text that is too long to be read for one page\n");
    (0..40_000).map(line).collect::<String>().into_bytes()
}

#[test]
fn a_page_takes_no_more_parts_than_it_needs() {
    let text = long_text();
    let served = Served::of(&text, Some(65_536));
    let files = reader(&served);
    read(&files, "/a.txt", 0, 500);
    assert_eq!(served.moved(), 65_536, "one part for the first page");
    // On the way to a distant page, everything before it is read once.
    read(&files, "/a.txt", 30_000, 500);
    assert!(served.moved() > text.len() as u64 / 2);
    for offset in [29_000, 12_345, 20_000, 0] {
        read(&files, "/a.txt", offset, 500);
        assert_eq!(
            served.moved(),
            65_536,
            "one part for a page whose place is known"
        );
    }
    read(&files, "/a.txt", 0, usize::MAX);
    assert!(served.asked.borrow().len() <= 5, "a long page in few parts");
}

#[test]
fn a_total_comes_from_counting_or_from_the_storage() {
    let text = long_text();
    let total = |served: &Served, offset| {
        let read = read(&reader(served), "/a.txt", offset, 10);
        read.position.expect("a position").total_lines
    };
    let mut served = Served::of(&text, Some(65_536));
    assert_eq!(total(&served, 0), None);
    assert_eq!(total(&served, 39_995), Some(40_000), "the end was seen");
    let files = reader(&served);
    read(&files, "/a.txt", 39_999, 1);
    let first = read(&files, "/a.txt", 0, 1).position.expect("a position");
    assert_eq!(first.total_lines, Some(40_000), "and is remembered");
    served.lines = Some(40_000);
    assert_eq!(total(&served, 0), Some(40_000));
    served.lines = Some(5);
    assert_eq!(
        total(&served, 0),
        None,
        "a count that cannot be is not told"
    );
    assert_eq!(total(&served, 39_995), Some(40_000));
}

#[test]
fn a_storage_without_versions_is_read_whole() {
    let mut served = Served::of(&long_text(), Some(65_536));
    served.versions = false;
    let first = read(&reader(&served), "/a.txt", 0, 1);
    assert_eq!(
        first.position.expect("a position").total_lines,
        Some(40_000)
    );
    assert_eq!(served.asked.borrow().last(), Some(&None));
}

#[test]
fn what_the_storage_knows_of_the_type_is_believed() {
    let text = long_text();
    let mut served = Served::of(&text, Some(65_536));
    served.meta = (Some(Mime::BYTES), Some(Texture::Binary));
    assert_eq!(
        read(&reader(&served), "/a.txt", 0, 1).content.len(),
        text.len()
    );
    served.meta = (Some(Mime::TEXT), Some(Texture::Ascii));
    served.moved();
    assert!(read(&reader(&served), "/no-extension", 0, 1).is_text);
    assert_eq!(served.moved(), 65_536);
}

#[test]
fn a_file_that_never_stands_still_is_read_whole() {
    let served = Served::of(b"last", Some(4));
    for at in 0..40 {
        let text = format!("state {at}\n").repeat(30);
        served.states.borrow_mut().push(text.into_bytes());
    }
    served.left.set(0);
    let answer = read(&reader(&served), "/a.txt", 0, 5);
    assert!(answer.content.starts_with(b"state "));
    assert_eq!(served.asked.borrow().last(), Some(&None));
}
