//! Records of another key, one of each kind: each stops only the call that needs its place, with an error
//! that says so, and only for a time. Then the call goes on, and whoever has the key still finds the record.

use super::*;
use crate::core::error::Result;
use crate::env::clock;
use crate::layer::history::Retention;
use crate::layer::turn::kept;
use crate::side::{OTHERS, WAIT};

/// What another program has written, or somebody has planted.
struct Planted {
    kind: &'static str,
    name: String,
    body: Vec<u8>,
}

/// What a call answers; `Ok` says that it went on.
type Asked = Box<dyn Fn(&Room, &SharedBackend) -> Result<()>>;

struct Case {
    planted: Planted,
    /// Calls that need its place.
    stopped: Vec<Asked>,
    /// Calls that do not.
    going_on: Vec<Asked>,
}

fn case(
    kind: &'static str,
    name: impl Into<String>,
    body: &[u8],
    stopped: Vec<Asked>,
    going_on: Vec<Asked>,
) -> Case {
    let (name, body) = (name.into(), body.to_vec());
    let planted = Planted { kind, name, body };
    Case {
        planted,
        stopped,
        going_on,
    }
}

fn asked(of: impl Fn(&Room, &SharedBackend) -> Result<()> + 'static) -> Asked {
    Box::new(of)
}

fn wrote() -> Asked {
    asked(|room, inner| {
        let content = Content::Text("more".into());
        now(history(inner, room).write(&path("/more"), content)).map(drop)
    })
}

fn logged() -> Asked {
    asked(|room, inner| {
        let notes = now(history(inner, room).log(&VPath::root(), 10))?;
        assert!(!notes.is_empty());
        Ok(())
    })
}

fn pinned() -> Asked {
    asked(|room, inner| {
        let history = history(inner, room);
        let pin = now(history.pin())?;
        assert!(now(history.pins())?.contains(&pin));
        Ok(())
    })
}

fn pruned() -> Asked {
    asked(|room, inner| now(history(inner, room).prune()).map(drop))
}

/// A pruning that drops a note.
fn dropping() -> Asked {
    asked(|room, inner| {
        let options = HistoryOptions {
            overwrite: true,
            keep: Retention {
                count: Some(1),
                ..Retention::default()
            },
        };
        let who = Rc::new(|| Ok(Author::default()));
        let history = History::new(inner.clone(), room.clone(), who, options);
        for text in ["first", "second"] {
            let content = Content::Text(text.into());
            now(history.write(&path("/d"), content))?;
        }
        assert!(now(history.prune())?.dropped > 0);
        Ok(())
    })
}

/// Lets the time pass for which records of other keys stay.
fn pass_time(room: &Room) {
    let line = now(room.sealed("met", "", b"")).to_vec();
    let line = String::from_utf8(line).expect("text");
    let name = format!(".met/{}", line.split(' ').nth(3).expect("a key"));
    let since = (clock::now().micros() - WAIT).to_string();
    let note = now(room.sealed("met", &name, since.as_bytes()));
    now(room.at().store(&room.path(&name).expect("a path"), note)).expect("stored");
}

/// Whether a file is where it was planted, or where whoever has its key finds it.
fn is_kept(room: &Room, name: &str, file: &Bytes) -> bool {
    if now(room.at().fetch(&room.path(name).expect("a path")))
        .as_ref()
        .ok()
        == Some(file)
    {
        return true;
    }
    let line = String::from_utf8_lossy(file);
    let dir = format!("{OTHERS}/{}/{name}", line.split(' ').nth(3).expect("a key"));
    let kept = now(room.at().ls(&room.path(&dir).expect("a path"))).unwrap_or_default();
    let mut bodies = kept.iter().map(|info| now(room.at().fetch(&info.path)));
    bodies.any(|body| body.as_ref().ok() == Some(file))
}

fn turned() -> Asked {
    asked(|room, inner| now(turn(inner, room).fetch(&path("/a"))).map(drop))
}

fn turned_elsewhere() -> Asked {
    asked(|room, inner| {
        let other = Turn::new(
            inner.clone(),
            Rc::new(memory),
            "o".into(),
            TurnOptions::default(),
        );
        other.keep_in(room.clone(), "other");
        now(other.store(&path("/kept"), Bytes::from_static(b"kept")))?;
        assert!(now(kept(room))?.iter().any(|name| &**name == "other"));
        Ok(())
    })
}

fn cases() -> Vec<Case> {
    let root = "a".repeat(48);
    let label = crate::pins::Digest::of(b"good").hex();
    let note = b"4\nevil0\n5\nwrite4\nfile2\n/a-\n-\n3\nend";
    let history_goes_on = || vec![wrote(), logged(), pinned()];
    let and_pruning = || {
        history_goes_on()
            .into_iter()
            .chain([pruned(), dropping()])
            .collect()
    };
    let labelled = || {
        asked(
            |room, inner| match now(history(inner, room).labelled("good")) {
                Err(error) if error.kind() == Kind::NotFound => Ok(()),
                answer => answer.map(drop),
            },
        )
    };
    let relabelled = asked(|room, inner| {
        let history = history(inner, room);
        let pin = now(history.pin())?.name;
        now(history.label("good", &pin))
    });
    let entry = b"1\n74\nmore5\nagain2\n/a4\nevil3\nend";
    let read_labels = asked(|room, inner| {
        // Whatever is labelled, everything counts as labelled.
        let found = now(labels(inner, room).labels(&path("/a")))?;
        assert_eq!(found.iter().len(), 1);
        now(labels(inner, room).fetch(&path("/a"))).map(drop)
    });
    let trusted = asked(|room, inner| {
        let labels = labels(inner, room);
        now(labels.trust(&path("/b")))?;
        // Nobody knows what was labelled, until a person trusts everything.
        assert_eq!(now(labels.labels(&path("/a")))?.iter().len(), 1);
        now(labels.trust(&VPath::root()))?;
        assert_eq!(now(labels.labels(&path("/a")))?.iter().len(), 0);
        Ok(())
    });
    vec![
        case("key", ".keys/0123456789abcdef", b"", vec![], {
            let mut all: Vec<Asked> = and_pruning();
            all.extend([turned(), turned_elsewhere()]);
            all
        }),
        case(
            "note",
            "log/9000000000000000-0000000000000000-many",
            note,
            vec![],
            and_pruning(),
        ),
        case(
            "pin",
            format!("pins/0000000000000001-{root}-0"),
            b"",
            vec![],
            and_pruning(),
        ),
        case(
            "pin",
            "pins/0000000000000001-making-0000000000000001",
            b"",
            vec![],
            and_pruning(),
        ),
        case(
            "label",
            format!("labels/{label}"),
            root.as_bytes(),
            vec![labelled(), relabelled],
            history_goes_on(),
        ),
        case("pruning", "pruning", b"1", vec![], and_pruning()),
        case(
            "dropped",
            "dropped",
            b"1-2-many",
            vec![dropping()],
            history_goes_on(),
        ),
        case(
            "turn",
            "t/log/00000001",
            entry,
            vec![turned()],
            vec![turned_elsewhere()],
        ),
        case(
            "turn",
            "t/log/00000009",
            entry,
            vec![turned()],
            vec![turned_elsewhere()],
        ),
        case(
            "done",
            "t/done",
            b"",
            vec![turned()],
            vec![turned_elsewhere()],
        ),
        case(
            "labels",
            "labels.tsv",
            b"0\n",
            vec![trusted],
            vec![read_labels],
        ),
        case(
            "labels",
            "labels.tsv.kept",
            b"0\n",
            vec![],
            vec![asked(|room, inner| {
                now(labels(inner, room).fetch(&path("/a"))).map(drop)
            })],
        ),
    ]
}

#[test]
fn a_record_of_another_key_stops_only_the_call_that_needs_its_place_and_only_for_a_time() {
    let other = Key::of(b"a key of somebody else").ok();
    for case in cases() {
        for marked in [false, true] {
            let room = || {
                let own = Key::of(b"a key of the tests").ok();
                Room::new(memory(), path("/.kitbag/x"), own)
            };
            let room = room();
            let inner = memory();
            put(&*inner, "/a", "one");
            if marked {
                now(room.put("note", "other", b"")).expect("written");
                now(history(&inner, &room).write(&path("/b"), Content::Text("b".into())))
                    .expect("written");
            }
            let Planted { kind, name, body } = &case.planted;
            let theirs = Room::new(room.at().clone(), room.dir().clone(), other.clone());
            let file = now(theirs.sealed(kind, name, body));
            let at = room.path(name).expect("a path");
            now(room.at().store(&at, file.clone())).expect("planted");
            let what = format!("{name}, with a mark: {marked}");
            // Each call as one of a process that has just begun.
            let again = || Room::new(room.at().clone(), room.dir().clone(), room.key().cloned());
            for ask in &case.stopped {
                let error = ask(&again(), &inner).expect_err(&what);
                assert_eq!(error.kind(), Kind::InvalidArgument, "{what}: {error}");
                let text = error.to_string();
                assert!(text.contains("has another key"), "{what}: {text}");
                assert!(text.contains("After 10 min"), "{what}: {text}");
            }
            for ask in case.going_on.iter().filter(|_| marked) {
                ask(&again(), &inner).expect(&what);
            }
            // The lock of a pruning says nothing that anybody could miss.
            let is_lock = name == "pruning" && marked;
            assert!(is_lock || is_kept(&room, name, &file), "{what}");
            pass_time(&room);
            for ask in case.going_on.iter().chain(&case.stopped) {
                ask(&again(), &inner).expect(&what);
            }
            assert!(name == "pruning" || is_kept(&room, name, &file), "{what}");
            let aside = format!("{}/.aside", room.dir());
            assert!(now(room.at().ls(&path(&aside))).is_ok_and(|all| all.is_empty()));
        }
    }
}

/// A note of another key about a change at a time, with this content before it.
fn plant_note(room: &Room, micros: i64, before: &[u8]) {
    let other = Key::of(b"a key of somebody else").ok();
    let theirs = Room::new(room.at().clone(), room.dir().clone(), other);
    let digest = crate::pins::Digest::of(before).hex();
    let name = format!("log/{micros:016}-0000000000000000-many");
    let body = format!(
        "4\nevil0\n5\nwrite4\nfile2\n/z{}\n{digest}-\n-\n3\nend",
        digest.len()
    );
    let file = now(theirs.sealed("note", &name, body.as_bytes()));
    now(room.at().store(&room.path(&name).expect("a path"), file)).expect("planted");
    let kept = room.path(&format!("bodies/{digest}")).expect("a path");
    now(room.at().store(&kept, Bytes::copy_from_slice(before))).expect("planted");
}

#[test]
fn pruning_keeps_what_a_note_of_another_key_names_for_as_long_as_its_own_notes() {
    let room = Room::new(memory(), path("/.kitbag/x"), Key::of(&[7; 16]).ok());
    let inner = memory();
    let micros = clock::now().micros();
    plant_note(&room, micros - 1_000_000, b"older");
    plant_note(&room, micros + 3_600_000_000, b"of the future");
    let is_there = |body: &[u8]| {
        let digest = crate::pins::Digest::of(body).hex();
        let at = room.path(&format!("bodies/{digest}")).expect("a path");
        now(room.at().fetch(&at)).is_ok()
    };
    let of = |count| {
        let options = HistoryOptions {
            overwrite: true,
            keep: Retention {
                count: Some(count),
                ..Retention::default()
            },
        };
        let who = Rc::new(|| Ok(Author::default()));
        History::new(inner.clone(), room.clone(), who, options)
    };
    let write = |text: &str| {
        let content = Content::Text(text.to_owned().into());
        now(of(9).write(&path("/a"), content))
    };
    write("one").expect("written");
    assert_eq!(now(of(9).prune()).expect("pruned").dropped, 0);
    assert!(is_there(b"older") && !is_there(b"of the future"));
    plant_note(&room, micros + 30_000_000, b"of a clock ahead");
    write("two").expect("written");
    // Those that this key has dropped are later than the first of the other key.
    assert_eq!(now(of(1).prune()).expect("pruned").dropped, 1);
    assert!(!is_there(b"older") && is_there(b"of a clock ahead"));
    let notes = now(of(1).log(&VPath::root(), 9)).expect("notes");
    assert_eq!(notes.len(), 1);
}

#[test]
fn a_pin_of_another_key_keeps_its_contents_and_one_that_names_nothing_stops_nobody() {
    let at = memory();
    let keyed = |text: &[u8]| Room::new(at.clone(), path("/.kitbag/x"), Key::of(text).ok());
    let (ours, theirs) = (
        keyed(b"a key of the tests"),
        keyed(b"a key of somebody else"),
    );
    let (inner, others) = (memory(), memory());
    put(&*others, "/theirs", "of another history");
    let pin = now(history(&others, &theirs).pin()).expect("pinned");
    let nothing = format!(
        "pins/{:016}-{}-0",
        1,
        crate::pins::Digest::of(b"none").hex()
    );
    let file = now(theirs.sealed("pin", &nothing, b""));
    now(at.store(&theirs.path(&nothing).expect("a path"), file)).expect("planted");
    // It says that a pin is being made, and will say so for centuries.
    let making = "pins/9000000000000000-making-0000000000000001";
    let file = now(theirs.sealed("pin", making, b""));
    now(at.store(&theirs.path(making).expect("a path"), file)).expect("planted");
    put(&history(&inner, &ours), "/a", "one");
    now(history(&inner, &ours).pin()).expect("pinned");
    let lost = ours.path("bodies/0000000000000000000000000000000000000000000000000000000000000000");
    now(at.store(&lost.expect("a path"), Bytes::from_static(b"of nobody"))).expect("stored");
    now(history(&inner, &ours).prune()).expect("pruned");
    let verified = now(history(&others, &theirs).verify(Some(&pin.name))).expect("read");
    assert_eq!(verified.lost, []);
    let bodies = now(at.ls(&ours.path("bodies").expect("a path"))).expect("listed");
    assert_eq!(bodies.len(), 2, "{bodies:?}");
}
