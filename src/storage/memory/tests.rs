//! A search that passes over blocks finds what a scan finds, whatever happened before it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Waker};

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::core::file::{self, Format};
use crate::core::testing::cases;
use crate::core::time::Time;
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions};
use crate::protocol::{BackendExt, GrepQuery, GrepResult};
use crate::storage::Hints;

fn path(text: &str) -> VPath {
    VPath::parse_file(text).expect("a path")
}

fn new(at: &VPath, body: &[u8]) -> NewFile {
    let body = Bytes::copy_from_slice(body);
    let (mime, texture) = file::classify(at, &body, None);
    NewFile {
        body,
        created: Time::from_micros(0),
        modified: Time::from_micros(0),
        mime,
        format: Format::V2,
        texture,
        mode: None,
    }
}

fn set(memory: &Memory, at: &str, body: &[u8]) {
    let at = path(at);
    let set = memory.set(&at, new(&at, body), PutMode::Overwrite);
    assert!(set.is_ok());
}

fn with_blocks_of(most: usize) -> Memory {
    Memory {
        blocks: Blocks::of(most),
        ..Memory::default()
    }
}

fn files(memory: Memory) -> Files<Memory> {
    Files::new(memory, FilesOptions::default())
}

fn grep(files: &Files<Memory>, query: &GrepQuery) -> GrepResult {
    let found = ended(files.grep(query)).expect("an end");
    found.expect("an answer")
}

/// The paths that a search for a text visits.
fn visited(memory: &Memory, text: &[u8]) -> Vec<String> {
    let root = VPath::root();
    let scope = Scope::all(&root);
    let texts = [text];
    let hints = Hints {
        texts: &texts,
        ..Hints::default()
    };
    let scan = scan_of(&scope, hints);
    let mut seen = Vec::new();
    let mut visit = |path: &VPath, _: &File| {
        seen.push(path.to_string());
        Flow::Continue(())
    };
    let done = ended(memory.scan(scan, &mut visit));
    assert!(matches!(done, Some(Ok(()))));
    seen
}

fn scan_of<'a>(scope: &'a Scope, hints: Hints<'a>) -> Scan<'a> {
    Scan {
        scope,
        names: &|_| true,
        want: &|_, meta| meta.texture != Some(file::Texture::Binary),
        hints,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    Transfer(String, String, bool),
    Delete(String),
    DeleteTree(String),
    Restore,
    Search(GrepQuery),
}

fn name() -> impl Strategy<Value = String> {
    "/[abc](/[abcd](\\.ts|\\.png|))?"
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => "[abAB kKsS\u{212a}\u{17f}é\n]{0,240}".prop_map(String::into_bytes),
        1 => "[\0ab]{0,60}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

fn query() -> impl Strategy<Value = GrepQuery> {
    let pattern = prop_oneof![
        4 => ("[abAB kKsS\u{212a}é]{1,7}", Just(false)),
        1 => ("[abk]{2,5}(\\.\\*|[|]|[+]|\n)[abks]{2,5}", Just(true)),
        1 => ("\\([ab]{5,6}[|][kKsS]{5}\\)", Just(true)),
    ];
    let glob = proptest::option::weighted(0.2, Just(Rc::from("*.ts")));
    let within = prop_oneof![3 => Just("/"), 1 => Just("/a"), 1 => Just("/b/a")];
    let counts = proptest::option::weighted(0.2, 0usize..4);
    (pattern, any::<bool>(), glob, within, counts, 0usize..2).prop_map(
        |((pattern, regex), ignore_case, glob, within, max_count, around)| GrepQuery {
            regex,
            ignore_case,
            glob,
            path: VPath::parse(within).expect("a path"),
            max_count,
            before: around,
            after: around,
            ..GrepQuery::literal(&pattern)
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (name(), body()).prop_map(|(at, body)| Step::Write(at, body)),
        2 => (name(), body()).prop_map(|(at, body)| Step::Append(at, body)),
        2 => (name(), name(), any::<bool>()).prop_map(|(a, b, keeps)| Step::Transfer(a, b, keeps)),
        1 => name().prop_map(Step::Delete),
        1 => name().prop_map(Step::DeleteTree),
        1 => Just(Step::Restore),
        8 => query().prop_map(Step::Search),
    ]
}

fn take(memory: &Memory, step: Step) {
    match step {
        Step::Write(at, body) => set(memory, &at, &body),
        Step::Append(at, more) => {
            let at = path(&at);
            let mut change = |file: &mut File| {
                let body = [&*file.body, &more].concat();
                Ok(new(&at, &body))
            };
            assert!(memory.change(&at, &mut change).is_ok());
        }
        Step::Transfer(from, to, keeps) if from != to => {
            let asked = Transfer {
                from: path(&from),
                to: path(&to),
                keeps,
                overwrite: true,
            };
            // Without a file there it fails and changes nothing.
            memory.transfer_now(&asked.from, &asked.to, &asked).ok();
        }
        Step::Delete(at) => drop(memory.remove(&path(&at))),
        Step::DeleteTree(at) => drop(ended(memory.delete_tree(&path(&at)))),
        Step::Restore => {
            let all = memory.all();
            memory.clear();
            for (at, file) in all.iter().skip(1) {
                set(memory, at.as_str(), &file.body);
            }
        }
        Step::Transfer(..) | Step::Search(_) => {}
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_found_does_not_depend_on_what_is_known(
        before in proptest::collection::vec((name(), body()), 0..30),
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let known = files(with_blocks_of(32));
        for (at, body) in before {
            set(known.storage(), &at, &body);
        }
        for step in steps {
            take(known.storage(), step.clone());
            let Step::Search(query) = step else { continue };
            let fresh = files(Memory::default());
            for (at, file) in known.storage().all() {
                let texture = file.meta.texture.expect("it is kept");
                let same = NewFile { texture, ..new(&at, &file.body) };
                prop_assert!(fresh.storage().set(&at, same, PutMode::Create).is_ok());
            }
            prop_assert_eq!(grep(&known, &query), grep(&fresh, &query), "{:?}", query);
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_file_is_stored_where_its_mode_and_the_room_allow_it(
        steps in proptest::collection::vec(("/[ab]", "x{0,6}", 0..4), 1..40),
    ) {
        const MOST: u64 = 10;
        let memory = Memory::new(MOST);
        let mut told: BTreeMap<String, (String, Option<Version>)> = BTreeMap::new();
        for (at, body, mode) in steps {
            let known = told.get(&at).cloned();
            let other = told.values().find_map(|(_, version)| version.clone());
            let mode = match (mode, &known, other) {
                (0, ..) => PutMode::Create,
                (1, Some((_, Some(version))), _) => PutMode::Update(version.clone()),
                (2, _, Some(other)) => PutMode::Update(other),
                _ => PutMode::Overwrite,
            };
            let others = told.iter().filter(|(path, _)| **path != at);
            let size: usize = others.map(|(_, (body, _))| body.len()).sum::<usize>() + body.len();
            let now = known.and_then(|(_, version)| version);
            let expected = match &mode {
                PutMode::Create if now.is_some() => Some(Kind::AlreadyExists),
                PutMode::Update(version) if now.as_ref() != Some(version) => Some(Kind::Conflict),
                _ => (size as u64 > MOST).then_some(Kind::QuotaExceeded),
            };
            let path = path(&at);
            let stored = memory.set(&path, new(&path, body.as_bytes()), mode);
            prop_assert_eq!(stored.as_ref().err().map(Error::kind), expected);
            if let Ok(meta) = stored {
                told.insert(at, (body, meta.version));
            }
            let all = memory.all().into_iter().map(|(path, file)| {
                let body = String::from_utf8(file.body.to_vec()).expect("text");
                (path.as_str().to_owned(), (body, file.meta.version))
            });
            prop_assert_eq!(&all.collect::<BTreeMap<_, _>>(), &told);
            let used: usize = told.values().map(|(body, _)| body.len()).sum();
            prop_assert_eq!(memory.used(), used as u64);
        }
    }
}

/// Files of 8 KB, each with words of its own.
fn many() -> Memory {
    let memory = Memory::default();
    for n in 0..200 {
        let text: String = (0..300)
            .map(|line| {
                format!(
                    "file{n:03} has line{line} word{:05}\n",
                    n * 7919 % 9973 + line
                )
            })
            .collect();
        set(&memory, &format!("/d{}/f{n}.txt", n % 10), text.as_bytes());
    }
    memory
}

fn learned() -> Memory {
    let memory = many();
    for _ in 0..30 {
        visited(&memory, b"nowhere");
    }
    memory
}

#[test]
fn after_some_searches_most_files_are_not_visited_again() {
    let memory = many();
    let first = visited(&memory, b"file123 has line7 ").len();
    assert_eq!(first, 200, "nothing is known yet");
    let memory = learned();
    assert!(visited(&memory, b"nothing of the kind").is_empty());
    for text in [&b"file123 has line7 "[..], b"FILE123 HAS LINE7 "] {
        let seen = visited(&memory, text);
        assert!(seen.contains(&String::from("/d3/f123.txt")), "{seen:?}");
        assert!(seen.len() < 20, "{} of 200", seen.len());
    }
    assert_eq!(visited(&memory, b"now").len(), 200, "too short");
    assert_eq!(visited(&memory, b"").len(), 200);
}

#[test]
fn what_is_known_takes_at_most_three_hundredths_of_the_bodies() {
    let memory = learned();
    let taken = memory.blocks.bytes() as u64;
    assert!(taken > 0 && taken <= memory.used() * 3 / 100, "{taken}");
    let paths: Vec<VPath> = memory.all().into_iter().map(|(path, _)| path).collect();
    for path in paths.iter().skip(2) {
        memory.remove(path);
    }
    set(&memory, "/z", &vec![b'z'; 507_000]);
    for _ in 0..30 {
        visited(&memory, b"nowhere");
    }
    let taken = memory.blocks.bytes() as u64;
    assert!(taken <= memory.used() * 3 / 100, "{taken} after deletions");
}

#[test]
fn a_change_within_a_pause_is_seen_by_the_search() {
    let memory = learned();
    let root = VPath::root();
    let scope = Scope::all(&root);
    let texts = [&b"file000 has line7 "[..]];
    let hints = Hints {
        texts: &texts,
        is_behind: &|| true,
        ..Hints::default()
    };
    let scan = scan_of(&scope, hints);
    let mut seen = Vec::new();
    let mut visit = |path: &VPath, _: &File| {
        seen.push(path.to_string());
        Flow::Continue(())
    };
    let mut scan = memory.scan(scan, &mut visit);
    let context = &mut Context::from_waker(Waker::noop());
    assert!(scan.as_mut().poll(context).is_pending());
    set(&memory, "/d9/f199.txt", b"now file000 has line7 too");
    set(&memory, "/d9/new.txt", b"and file000 has line7 here");
    while scan.as_mut().poll(context).is_pending() {}
    drop(scan);
    for path in ["/d0/f0.txt", "/d9/f199.txt", "/d9/new.txt"] {
        assert!(seen.iter().any(|one| one == path), "{path}: {seen:?}");
    }
    assert!(seen.is_sorted());
    assert!(seen.len() < 30, "{}", seen.len());
}

#[test]
fn a_large_file_is_a_block_of_its_own() {
    let memory = learned();
    let mut text = "some text and more\n".repeat(20_000);
    text.push_str("the very end of it");
    set(&memory, "/d5/large.txt", text.as_bytes());
    set(&memory, "/d6/larger.txt", text.repeat(4).as_bytes());
    for _ in 0..30 {
        visited(&memory, b"nowhere");
    }
    let seen = visited(&memory, b"END OF IT");
    assert!(seen.contains(&String::from("/d5/large.txt")));
    let seen = visited(&memory, b"of no text");
    assert!(seen.len() < 20, "{seen:?}");
}
