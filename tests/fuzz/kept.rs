//! Random records in the rooms of what layers keep, each under a valid seal, as somebody would write them
//! who has the key of the room, or where a room has none: journals, entries of kept turns, notes, pins,
//! nodes and names of a history, books of labels. Whatever they say, a call answers or refuses, and ends.
//! (The index is private to its module; its twin is in `src/layer/indexed/tests/hostile.rs`.)
//!
//! `PROPTEST_CASES` sets the number of cases; `npm run soak -- native` runs many.

#![expect(
    clippy::expect_used,
    reason = "a test may stop at what it does not understand"
)]

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::layer::composite::Composite;
use kitbag::layer::history::{Author, History, HistoryOptions, Moment, Retention};
use kitbag::layer::provenance::{Flow, LabelFile, LabelRule, Options, Patterns, Provenance, Then};
use kitbag::layer::turn::{Turn, TurnOptions, kept};
use kitbag::pins::{Digest, Objects};
use kitbag::protocol::{BackendExt, Content, GlobQuery, SharedBackend};
use kitbag::side::{Key, Room, Writer};
use kitbag::storage::memory::Memory;
use kitbag::storage::pinned::Pinned;
use proptest::prelude::*;

/// The most polls of a call; each wait of a journal is one.
const POLLS: usize = 20_000;

fn ended<T>(call: impl Future<Output = T>) -> T {
    let mut call = Box::pin(call);
    let context = &mut Context::from_waker(Waker::noop());
    let polled = (0..POLLS).find_map(|_| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    });
    polled.expect("it ends")
}

fn memory() -> SharedBackend {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Rc::new(Files::new(Memory::default(), options))
}

fn files() -> SharedBackend {
    let files = memory();
    for (at, text) in [("/a", "one\ntwo\n"), ("/d/b", ""), ("/d/c", "three")] {
        let body = Bytes::from_static(text.as_bytes());
        ended(files.store(&path(at), body)).expect("stored");
    }
    files
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

fn turn(base: &SharedBackend) -> Turn {
    let options = TurnOptions { overwrite: true };
    Turn::new(base.clone(), Rc::new(memory), "tests".into(), options)
}

/// Uses files in all ways that a layer can be asked for.
fn used(files: &SharedBackend) {
    let all = GlobQuery::all(&VPath::root());
    let _ = ended(files.glob(&all));
    let _ = ended(files.fetch(&path("/a")));
    let _ = ended(files.write(&path("/a"), Content::Raw(Bytes::from_static(b"new"), None)));
    let _ = ended(files.delete(&path("/d"), None));
}

/// Parts of a record: mostly words that some format knows.
#[derive(Clone, Debug)]
enum Part {
    None,
    Bytes(Vec<u8>),
    /// Bytes that stand in the record as they are, a wrong length for one.
    Bare(Vec<u8>),
}

/// The words of journals, entries of kept turns and notes.
const WORDS: [&str; 18] = [
    "preparing",
    "applying",
    "undoing",
    "start",
    "more",
    "commit",
    "change",
    "content",
    "drop",
    "read",
    "reread",
    "exists",
    "whole",
    "page",
    "names",
    "glob",
    "grep",
    "file",
];

/// Other parts.
const PARTS: [&str; 20] = [
    "end",
    "/a",
    "/d",
    "/d/b",
    "/new",
    "/",
    "/.kitbag/turns/journal",
    "/../a",
    "0",
    "1",
    "2",
    "-1",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "9223372036854775807",
    "**",
    "{a,b}",
    "[",
    "(a+)+b",
    "one\ntwo\n",
];

#[test]
fn the_words_are_those_of_the_formats() {
    let formats = [
        include_str!("../../src/layer/turn/commit/record.rs"),
        include_str!("../../src/layer/turn/log/entry.rs"),
        include_str!("../../src/layer/history/note.rs"),
    ];
    for word in WORDS {
        let written = format!("\"{word}\"");
        assert!(
            formats.iter().any(|format| format.contains(&written)),
            "{word}"
        );
    }
}

fn part() -> impl Strategy<Value = Part> {
    let words: Vec<&str> = [&WORDS[..], &PARTS, &["", "three"]].concat();
    let words = prop::sample::select(words);
    let digest = Digest::of(b"three").hex();
    prop_oneof![
        1 => Just(Part::None),
        12 => words.prop_map(|word| Part::Bytes(word.into())),
        1 => Just(Part::Bytes(digest.into_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..12).prop_map(Part::Bytes),
        1 => "[0-9]{1,22}\n|-\n|\\PC{0,8}".prop_map(|text: String| Part::Bare(text.into_bytes())),
    ]
}

fn body(parts: &[Part]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let mut writer = Writer::default();
        match part {
            Part::None => writer.part(None),
            Part::Bytes(bytes) => writer.part(Some(bytes)),
            Part::Bare(bytes) => out.extend_from_slice(bytes),
        }
        out.extend_from_slice(&writer.finish());
    }
    out
}

/// A journal or an entry that is right at first, and then goes on with anything.
fn begun(first: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let first: Vec<Part> = first
        .iter()
        .map(|word| Part::Bytes((*word).into()))
        .collect();
    (
        any::<bool>(),
        prop::collection::vec(part(), 0..14),
        any::<bool>(),
    )
        .prop_map(move |(begins, rest, ends)| {
            let mut parts = if begins { first.clone() } else { Vec::new() };
            parts.extend(rest);
            if ends {
                parts.push(Part::Bytes(b"end".to_vec()));
            }
            body(&parts)
        })
}

/// A room with a key, as the one that somebody has whose records these are.
fn room(at: &SharedBackend, dir: &str, keyed: bool) -> Room {
    let key = Key::of(b"a key that somebody knows").expect("a key");
    let dir = VPath::own(dir).expect("a path");
    Room::new(at.clone(), dir, keyed.then_some(key))
}

fn history(files: &SharedBackend, room: Room) -> History {
    let options = HistoryOptions {
        overwrite: true,
        keep: Retention {
            count: Some(3),
            ..Retention::default()
        },
    };
    let who = Rc::new(|| Ok(Author::default()));
    History::new(files.clone(), room, who, options)
}

fn questions(history: &History) {
    let root = VPath::root();
    let notes = ended(history.log(&root, 100)).unwrap_or_default();
    let mut moments: Vec<Moment> = vec![Moment::At(0)];
    moments.extend(notes.iter().map(|note| Moment::After(note.id.clone())));
    for pin in ended(history.pins()).unwrap_or_default() {
        moments.extend(Moment::parse(&pin.name));
        if let Ok((objects, root)) = history.objects(&pin.name) {
            opened(objects, root);
        }
    }
    for moment in &moments {
        let _ = ended(history.diff(moment, &Moment::At(0)));
        let _ = ended(history.restore(&root, moment));
    }
    let _ = ended(history.why(&path("/a")));
    let _ = ended(history.verify(None));
    let _ = ended(history.labelled("x"));
    let _ = ended(history.pin());
    let _ = ended(history.prune());
}

fn opened(objects: Objects, root: Digest) {
    let pinned = Pinned::new(objects, root, Time::default());
    let files: SharedBackend = Rc::new(Files::new(pinned, FilesOptions::default()));
    used(&files);
}

fn provenance(files: &SharedBackend, room: Room) -> Provenance {
    let patterns = |one: &str| Patterns::parse([one]).expect("patterns");
    Provenance::new(
        files.clone(),
        Options {
            labels: vec![LabelRule {
                paths: patterns("/d/**"),
                label: "untrusted".into(),
            }],
            flows: vec![Flow {
                from: "untrusted".into(),
                to: patterns("/a"),
                then: Then::Refuse,
            }],
            ask: None,
            file: Some(LabelFile {
                room,
                name: "labels.tsv".into(),
            }),
        },
    )
}

/// Lines of nodes: entries that are right, and others.
fn node() -> impl Strategy<Value = Vec<u8>> {
    let short = "[A-Za-z0-9_+/-]{43}|[A-Za-z0-9_+/-]{32}|[A-Za-z0-9]{0,9}";
    let line = (short, "([0-9]{1,3} )?([0-9]{1,3} )?[/a-c]{0,6}")
        .prop_map(|(digest, rest)| format!("{digest}{rest}\n"));
    ("[fn]\n|\\PC{0,3}", prop::collection::vec(line, 0..6))
        .prop_map(|(head, lines)| [head, lines.concat()].concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn journals(body in begun(&["applying", "7", "/a"]), own in any::<bool>()) {
        let files = one_at_a_time(files());
        let dir = VPath::own("/.kitbag/turns").expect("a path");
        let room = match own {
            true => Room::of_process(files.clone(), dir),
            false => Room::new(files.clone(), dir, None),
        };
        ended(room.put("journal", "journal", &body)).expect("planted");
        let turn = turn(&files);
        let _ = ended(turn.fetch(&path("/a")));
        ended(turn.store(&path("/new"), Bytes::from_static(b"new"))).expect("stored");
        ended(turn.commit()).expect("the journal is finished or set aside");
    }

    #[test]
    fn kept_turns(
        entries in prop::collection::vec(begun(&["7", "start", "1", "2"]), 1..4),
        keyed in any::<bool>(),
        done in any::<bool>(),
    ) {
        let (files, at) = (files(), memory());
        let room = room(&at, "/.kitbag/kept", keyed);
        for (number, body) in (1..).zip(&entries) {
            ended(room.put("turn", &format!("t/log/{number:08}"), body)).expect("planted");
        }
        if done {
            ended(room.put("done", "t/done", b"anything")).expect("planted");
        }
        let _ = ended(kept(&room));
        let turn = Rc::new(turn(&files));
        turn.keep_in(room, "t");
        let as_files: SharedBackend = turn.clone();
        used(&as_files);
        let _ = ended(turn.diff());
        let _ = ended(turn.rebase(&[]));
        let _ = ended(turn.commit());
    }

    #[test]
    fn notes_and_pins(
        notes in prop::collection::vec(begun(&["", "", "write", "file", "/a"]), 0..4),
        nodes in prop::collection::vec(node(), 0..4),
        label in "\\PC{0,20}|[0-9a-f-]{0,90}",
        keyed in any::<bool>(),
        dropped in "[0-9]{0,20}(-[a-z0-9]{0,4}){0,3}",
        pruning in "-?[0-9]{0,22}|\\PC{0,4}",
    ) {
        let (files, at) = (files(), memory());
        let room = room(&at, "/.kitbag/history", keyed);
        for (number, body) in (0..).zip(&notes) {
            let name = format!("log/{number:016}-{number:016x}-many");
            ended(room.put("note", &name, body)).expect("planted");
        }
        for node in nodes {
            let digest = Digest::of_node(&node);
            let name = format!("nodes/{}", digest.hex());
            ended(at.store(&room.path(&name).expect("a path"), node.into())).expect("planted");
            let pin = format!("pins/{:016}-{}-{:016x}", 5, digest.hex(), 9);
            ended(room.put("pin", &pin, b"")).expect("planted");
        }
        let name = format!("labels/{}", Digest::of(b"x").hex());
        ended(room.put("label", &name, label.as_bytes())).expect("planted");
        ended(room.put("dropped", "dropped", dropped.as_bytes())).expect("planted");
        ended(room.put("pruning", "pruning", pruning.as_bytes())).expect("planted");
        let history = Rc::new(history(&files, room));
        questions(&history);
        let as_files: SharedBackend = history.clone();
        used(&as_files);
    }

    #[test]
    fn labels(
        text in "[0-9]{0,11}\n((/[a-d]{0,2}|#[0-9a-f]{0,64}|\\PC{0,4})(\t[a-z,]{0,9}){0,2}(\t[0-9]{0,11})?(\t[0-9a-f,]{0,70})?\n){0,5}",
        keyed in any::<bool>(),
    ) {
        let (files, at) = (files(), memory());
        let room = room(&at, "/.kitbag/labels", keyed);
        ended(room.put("labels", "labels.tsv", text.as_bytes())).expect("planted");
        let labelled: SharedBackend = Rc::new(provenance(&files, room));
        used(&labelled);
    }

    #[test]
    fn records(file in prop::collection::vec(any::<u8>(), 0..200), line in "kitbag 1 [a-z]{0,6}( [0-9a-f-]{0,64}){0,3}\n", keyed in any::<bool>()) {
        let at = memory();
        let room = room(&at, "/.kitbag/kept", keyed);
        for file in [file.clone(), [line.as_bytes(), &file].concat()] {
            let name = room.path("log/1").expect("a path");
            ended(at.store(&name, file.into())).expect("planted");
            let _ = ended(room.read("turn", "log/1"));
        }
    }
}

/// Cases of a run that is not told how many.
fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(96)
}

/// The same files where each change is one file, so that a commit has a journal.
fn one_at_a_time(files: SharedBackend) -> SharedBackend {
    let mounts = [(path("/mounted"), memory())];
    Rc::new(Composite::new(files, mounts).expect("a router"))
}
