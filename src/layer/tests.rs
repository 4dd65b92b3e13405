//! Attacks on what layers keep: each of their files is damaged, cut, forged, swapped or replaced by
//! something else. Nothing of it is believed, and the work goes on.

mod keys;

use std::rc::Rc;

use bytes::Bytes;

use crate::core::error::{Error, Kind};
use crate::core::path::VPath;
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions, WriteMode};
use crate::layer::history::{Author, History, HistoryOptions};
use crate::layer::provenance::{Flow, LabelFile, LabelRule, Options, Patterns, Provenance, Then};
use crate::layer::turn::{Turn, TurnOptions};
use crate::protocol::{Backend, BackendExt, Content, SharedBackend};
use crate::side::{Key, Room};
use crate::storage::memory::Memory;

pub(super) fn memory() -> SharedBackend {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Rc::new(Files::new(Memory::default(), options))
}

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn path(text: &str) -> VPath {
    VPath::any(text).expect("a path")
}

fn put(at: &dyn Backend, name: &str, text: &str) {
    let stored = now(at.store(&path(name), Bytes::copy_from_slice(text.as_bytes())));
    stored.expect("stored");
}

fn text(at: &dyn Backend, name: &str) -> Option<String> {
    let body = now(at.fetch(&path(name))).ok()?;
    Some(String::from_utf8_lossy(&body).into_owned())
}

fn keys() -> [Option<Rc<Key>>; 2] {
    [None, Some(Key::of(b"a key of the tests").expect("a key"))]
}

/// A record of one layer that is under attack.
struct Target<'a> {
    room: &'a Room,
    kind: &'a str,
    name: &'a str,
    /// What a forged one says; it must mean something to the layer.
    evil: &'a [u8],
}

/// What is put in the place of a record.
fn attacks(target: &Target<'_>) -> Vec<(&'static str, Bytes)> {
    let Target {
        room,
        kind,
        name,
        evil,
    } = target;
    let sealed = |key, kind: &str, name: &str| {
        now(Room::new(room.at().clone(), room.dir().clone(), key).sealed(kind, name, evil))
    };
    let own = room.key().cloned();
    let good = sealed(own.clone(), kind, name);
    let mut flipped = good.to_vec();
    if let Some(byte) = flipped.last_mut() {
        *byte ^= 1;
    }
    let mut all = vec![
        ("empty", Bytes::new()),
        ("garbage", Bytes::from_static(b"\xff\x00 garbage")),
        ("cut", good.slice(..good.len() - 1)),
        ("cut in its first line", good.slice(..20)),
        ("flipped", flipped.into()),
        ("longer", [&good[..], b"x"].concat().into()),
        ("of another name", sealed(own.clone(), kind, "elsewhere")),
        ("of another kind", sealed(own.clone(), "other", name)),
        ("large", Bytes::from(vec![b'9'; 1 << 20])),
    ];
    if own.is_some() {
        all.push(("without a key", sealed(None, kind, name)));
    }
    all
}

/// Puts each attack in the place of a record that `begin` names, then lets `check` go on.
pub(super) fn each<T>(
    kind: &str,
    evil: &[u8],
    begin: impl Fn(&Room) -> (String, T),
    check: impl Fn(&Room, T, &str),
) {
    for key in keys() {
        let count = {
            let room = Room::new(memory(), path("/.kitbag/x"), key.clone());
            let target = Target {
                room: &room,
                kind,
                name: "n",
                evil,
            };
            attacks(&target).len()
        };
        // And a directory in its place.
        for number in 0..=count {
            let room = Room::new(memory(), path("/.kitbag/x"), key.clone());
            let (name, state) = begin(&room);
            let target = Target {
                room: &room,
                kind,
                name: &name,
                evil,
            };
            let attacks = attacks(&target);
            let at = room.path(&name).expect("a path");
            let what = match attacks.get(number) {
                Some((what, file)) => {
                    now(room.at().store(&at, file.clone())).expect("planted");
                    what
                }
                None => {
                    let _ = now(room.at().delete(&at, None));
                    put(&**room.at(), &format!("{}/in", at.as_str()), "x");
                    "a directory"
                }
            };
            check(&room, state, &format!("{what}, key: {}", key.is_some()));
        }
    }
}

fn turn(base: &SharedBackend, room: &Room) -> Turn {
    let overlays = Rc::new(memory);
    let turn = Turn::new(
        base.clone(),
        overlays,
        "tests".into(),
        TurnOptions::default(),
    );
    turn.keep_in(room.clone(), "t");
    turn
}

#[test]
fn a_planted_entry_of_a_kept_turn_changes_nothing() {
    // An entry of another process: it covers /a with another content.
    let entry = b"1\n74\nmore5\nagain2\n/a4\nevil3\nend";
    each(
        "turn",
        entry,
        |room| {
            let base = memory();
            put(&turn(&base, room), "/a", "good");
            (String::from("t/log/00000002"), base)
        },
        |room, base, what| {
            let again = turn(&base, room);
            now(again.fetch(&path("/a"))).expect(what);
            assert_eq!(text(&again, "/a").as_deref(), Some("good"), "{what}");
            put(&again, "/b", "new");
            let third = turn(&base, room);
            assert_eq!(text(&third, "/a").as_deref(), Some("good"), "{what}");
            assert_eq!(text(&third, "/b").as_deref(), Some("new"), "{what}");
            now(third.commit()).expect("committed");
            assert_eq!(text(&*base, "/b").as_deref(), Some("new"), "{what}");
        },
    );
}

#[test]
fn a_planted_end_of_a_kept_turn_deletes_nothing() {
    each(
        "done",
        b"",
        |room| {
            let base = memory();
            put(&turn(&base, room), "/a", "good");
            (String::from("t/done"), base)
        },
        |room, base, what| {
            let again = turn(&base, room);
            assert_eq!(text(&again, "/a").as_deref(), Some("good"), "{what}");
        },
    );
}

fn history(inner: &SharedBackend, room: &Room) -> History {
    let options = HistoryOptions {
        overwrite: true,
        ..HistoryOptions::default()
    };
    let who = Rc::new(|| Ok(Author::default()));
    History::new(inner.clone(), room.clone(), who, options)
}

fn changed(room: &Room) -> (SharedBackend, History) {
    let inner = memory();
    put(&*inner, "/a", "one");
    let history = history(&inner, room);
    now(history.write(&path("/a"), Content::Text("two".into()))).expect("written");
    (inner, history)
}

#[test]
fn a_planted_note_is_not_in_the_log() {
    let note = b"4\nevil0\n5\nwrite4\nfile2\n/a-\n-\n3\nend";
    each(
        "note",
        note,
        |room| {
            let name = "log/9000000000000000-0000000000000000-many";
            (String::from(name), changed(room).0)
        },
        |room, inner, what| {
            let again = history(&inner, room);
            let notes = now(again.log(&path("/a"), 10)).expect("a log");
            assert_eq!(notes.len(), 1, "{what}");
            now(again.write(&path("/a"), Content::Text("three".into()))).expect("written");
            assert_eq!(now(again.log(&path("/"), 10)).expect("a log").len(), 2);
            let moment = crate::layer::history::Moment::parse(&notes[0].id).expect("a moment");
            now(again.restore(&path("/a"), &moment)).expect("restored");
            now(again.prune()).expect("pruned");
        },
    );
}

#[test]
fn a_planted_label_names_no_pin_and_a_planted_lock_stops_no_pruning() {
    let evil = "0".repeat(48);
    let label = crate::pins::Digest::of(b"good").hex();
    each(
        "label",
        evil.as_bytes(),
        |room| (format!("labels/{label}"), changed(room)),
        |_, (_, history), what| {
            let error: Error = now(history.labelled("good")).expect_err(what);
            assert_eq!(error.kind(), Kind::NotFound, "{what}");
            let pin = now(history.pin()).expect("a pin").name;
            now(history.label("good", &pin)).expect("labelled");
            assert_eq!(now(history.labelled("good")).ok(), Some(pin), "{what}");
        },
    );
    each(
        "pruning",
        b"9000000000000000",
        |room| (String::from("pruning"), changed(room)),
        |_, (_, history), what| {
            now(history.prune()).expect(what);
        },
    );
}

#[test]
fn a_planted_pin_is_listed_only_where_there_is_no_key() {
    let evil = format!("pins/0000000000000001-{}-0", "a".repeat(48));
    each(
        "pin",
        b"",
        |room| (evil.clone(), changed(room)),
        |room, (inner, first), what| {
            let pin = now(first.pin());
            if room.key().is_none() {
                return;
            }
            let pin = pin.expect("a pin");
            let again = history(&inner, room);
            assert_eq!(now(again.pins()).expect("pins"), [pin], "{what}");
            now(again.prune()).expect("pruned");
        },
    );
}

#[test]
fn a_content_under_a_false_name_is_no_content() {
    for key in keys() {
        let room = Room::new(memory(), path("/.kitbag/x"), key);
        let (inner, _) = changed(&room);
        let next = crate::pins::Digest::of(b"next").hex();
        let at = format!("/.kitbag/x/bodies/{next}");
        put(&*room.at().clone(), &at, "evil");
        let again = history(&inner, &room);
        now(again.write(&path("/a"), Content::Text("next".into()))).expect("written");
        now(again.write(&path("/a"), Content::Text("last".into()))).expect("written");
        let notes = now(again.log(&path("/a"), 1)).expect("a log");
        let moment = crate::layer::history::Moment::parse(&notes[0].id).expect("a moment");
        now(again.restore(&path("/a"), &moment)).expect("restored");
        assert_eq!(text(&*room.at().clone(), &at).as_deref(), Some("next"));
        // One that is planted later is told from what was kept.
        put(&*room.at().clone(), &at, "evil");
        let found = now(history(&inner, &room).diff(&moment, &moment));
        assert!(found.is_ok_and(|found| found.is_empty()));
    }
}

fn labels(inner: &SharedBackend, room: &Room) -> Provenance {
    let patterns = |pattern| Patterns::parse([pattern]).expect("a pattern");
    let options = Options {
        labels: vec![LabelRule {
            paths: patterns("/web/**"),
            label: "web".into(),
        }],
        flows: vec![Flow {
            from: "web".into(),
            to: patterns("/memories/**"),
            then: Then::Refuse,
        }],
        ask: None,
        file: Some(LabelFile {
            room: room.clone(),
            name: "labels.tsv".into(),
        }),
    };
    Provenance::new(inner.clone(), options)
}

#[test]
fn labels_that_prove_nothing_are_on_every_file() {
    each(
        "labels",
        b"0\n",
        |room| {
            let inner = memory();
            put(&*inner, "/a", "clean");
            let files = labels(&inner, room);
            put(&files, "/b", "clean");
            (String::from("labels.tsv"), inner)
        },
        |room, inner, what| {
            for _ in 0..2 {
                let files = labels(&inner, room);
                let found = now(files.labels(&path("/a"))).expect("labels");
                if what.starts_with("a directory") {
                    // Here it is as if the file had been deleted.
                    assert_eq!(found.iter().len(), 0, "{what}");
                    return;
                }
                assert_eq!(found.iter().len(), 1, "{what}");
                now(files.fetch(&path("/a"))).expect("read");
                let refused = now(files.store(&path("/memories/x"), "x".into()));
                assert!(refused.is_err(), "{what}");
            }
            let files = labels(&inner, room);
            now(files.trust(&VPath::root())).expect("trusted");
            let found = now(files.labels(&path("/a"))).expect("labels");
            assert_eq!(found.iter().len(), 0, "{what}");
        },
    );
}
