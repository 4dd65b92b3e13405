//! Records of another key, one of each kind: each stops only the call that needs it, with an error that
//! says so, and stays as it is for whoever has its key. All else goes on.

use super::*;
use crate::core::error::Result;
use crate::layer::turn::kept;

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
    /// Calls that need the record.
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
        let content = Content::Text("kept".into());
        now(other.write(&path("/kept"), content))?;
        assert!(now(kept(room))?.iter().any(|name| &**name == "other"));
        Ok(())
    })
}

fn cases() -> Vec<Case> {
    let root = "a".repeat(48);
    let label = crate::pins::Digest::of(b"good").hex();
    let note = b"4\nevil0\n5\nwrite4\nfile2\n/a-\n-\n3\nend";
    let history_goes_on = || vec![wrote(), logged(), pinned()];
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
    let trusted = asked(|room, inner| now(labels(inner, room).trust(&VPath::root())).map(drop));
    vec![
        case("key", ".keys/0123456789abcdef", b"", vec![], {
            let mut all = history_goes_on();
            all.extend([pruned(), turned(), turned_elsewhere()]);
            all
        }),
        case(
            "note",
            "log/9000000000000000-0000000000000000-many",
            note,
            vec![pruned()],
            history_goes_on(),
        ),
        case(
            "pin",
            format!("pins/0000000000000001-{root}-0"),
            b"",
            vec![pruned()],
            history_goes_on(),
        ),
        case(
            "pin",
            "pins/0000000000000001-making-0000000000000001",
            b"",
            vec![pruned()],
            history_goes_on(),
        ),
        case(
            "label",
            format!("labels/{label}"),
            root.as_bytes(),
            vec![labelled(), relabelled],
            history_goes_on(),
        ),
        case(
            "pruning",
            "pruning",
            b"1",
            vec![pruned()],
            history_goes_on(),
        ),
        case("dropped", "dropped", b"1-2-many", vec![], history_goes_on()),
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
fn a_record_of_another_key_stops_only_the_call_that_needs_it_and_stays() {
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
            let file = theirs.sealed(kind, name, body);
            let at = room.path(name).expect("a path");
            now(room.at().store(&at, file.clone())).expect("planted");
            let what = format!("{name}, with a mark: {marked}");
            for ask in &case.stopped {
                // As a process that has just begun.
                let room = Room::new(room.at().clone(), room.dir().clone(), room.key().cloned());
                let error = ask(&room, &inner).expect_err(&what);
                assert_eq!(error.kind(), Kind::InvalidArgument, "{what}: {error}");
                let text = error.to_string();
                assert!(text.contains("has another key"), "{what}: {text}");
            }
            for ask in case.going_on.iter().filter(|_| marked) {
                let room = Room::new(room.at().clone(), room.dir().clone(), room.key().cloned());
                ask(&room, &inner).expect(&what);
            }
            assert_eq!(now(room.at().fetch(&at)).ok(), Some(file), "{what}");
            let aside = format!("{}/.aside", room.dir());
            assert!(now(room.at().ls(&path(&aside))).is_ok_and(|all| all.is_empty()));
        }
    }
}
