//! Records that were forged, damaged, cut, swapped or planted: none is believed, and none stops work.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::*;
use crate::core::error::{Error, Kind};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::env::clock;
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions};
use crate::protocol::{Answer, Backend, BackendExt, Capability, Request, SharedBackend};
use crate::storage::memory::Memory;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn key(letter: &str) -> Option<Rc<Key>> {
    Some(Key::of(letter.repeat(LEAST_KEY).as_bytes()).expect("a key"))
}

fn room(at: &SharedBackend, key: Option<Rc<Key>>) -> Room {
    Room::new(at.clone(), dir(), key)
}

fn dir() -> VPath {
    VPath::own("/.kitbag/x").expect("a path of the library")
}

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn plant(at: &SharedBackend, name: &str, file: impl Into<Bytes>) {
    let path = dir().join(name).expect("a path");
    now(at.store(&path, file.into())).expect("planted");
}

fn read(room: &Room, name: &str) -> Option<Bytes> {
    let found = now(room.read("note", name)).expect("read");
    found.map(|stored| stored.body)
}

/// What was moved aside: why, and what it was.
fn aside(room: &Room) -> Vec<String> {
    let infos = now(room.list(ASIDE)).expect("listed");
    let names = infos.iter().map(|info| info.path.name());
    names
        .filter_map(|name| Some(name.splitn(3, '-').nth(2)?.to_owned()))
        .collect()
}

#[test]
fn a_record_is_read_as_it_was_written() {
    for key in [None, key("k")] {
        let at = memory();
        let room = room(&at, key);
        for body in [&b""[..], b"one\ntwo", &[0, 255, 10]] {
            now(room.put("note", "log/1", body)).expect("written");
            assert_eq!(read(&room, "log/1").as_deref(), Some(body));
        }
        assert!(!now(room.create("note", "log/1", b"again")).expect("asked"));
        let stored = now(room.read("note", "log/1")).expect("read").expect("one");
        let other = Bytes::from_static(b"other");
        assert!(!now(room.replace("note", "log/1", &other, b"x")).expect("asked"));
        assert!(now(room.replace("note", "log/1", &stored.file, b"new")).expect("asked"));
        assert_eq!(read(&room, "log/1").as_deref(), Some(&b"new"[..]));
        assert_eq!(aside(&room), Vec::<String>::new());
    }
}

#[test]
fn no_change_of_a_record_is_believed() {
    for key in [None, key("k")] {
        let at = memory();
        let room = room(&at, key.clone());
        let good = now(room.sealed("note", "log/1", b"body"));
        let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|end| good[..end].to_vec()).collect();
        for place in 0..good.len() {
            let mut changed = good.to_vec();
            changed[place] ^= 1;
            bad.push(changed);
        }
        bad.push([&good[..], b"more"].concat());
        bad.push(now(room.sealed("note", "log/2", b"body")).to_vec());
        bad.push(now(room.sealed("pin", "log/1", b"body")).to_vec());
        for file in bad {
            let found = now(room.opened("note", "log/1", &Bytes::from(file.clone())));
            assert!(!matches!(found, Found::Proven(_)), "{file:?}");
            // Without a key, damage is not taken for the work of somebody with a key.
            assert!(
                key.is_some() || !matches!(found, Found::OtherKey(_)),
                "{file:?}"
            );
        }
        assert!(matches!(
            now(room.opened("note", "log/1", &good)),
            Found::Proven(_)
        ));
    }
}

#[test]
fn what_proves_nothing_is_moved_aside_and_the_work_goes_on() {
    let without = room(&memory(), None);
    let ours = key("k");
    let own = room(&memory(), ours.clone());
    let swapped = now(own.sealed("note", "log/2", b"evil"));
    let kind = now(own.sealed("label", "log/1", b"evil"));
    let mut cut = now(own.sealed("note", "log/1", b"evil")).to_vec();
    cut.pop();
    let cases: [(Bytes, &str); 7] = [
        (now(without.sealed("note", "log/1", b"evil")), "unproven"),
        (swapped, "unproven"),
        (kind, "foreign"),
        (cut.into(), "unproven"),
        (Bytes::from_static(b"garbage"), "foreign"),
        (Bytes::new(), "foreign"),
        (Bytes::from(vec![0xff; 100_000]), "foreign"),
    ];
    for (file, why) in cases {
        let at = memory();
        let room = room(&at, ours.clone());
        now(room.put("note", "log/0", b"good")).expect("written");
        plant(&at, "log/1", file.clone());
        assert_eq!(read(&room, "log/1"), None, "{why}");
        assert_eq!(aside(&room), [format!("{why}-log.1")]);
        let kept = now(room.list(ASIDE)).expect("listed").remove(0).path;
        assert_eq!(now(at.fetch(&kept)).expect("kept"), file);
        // The name is free, and other records are as they were.
        assert!(now(room.create("note", "log/1", b"mine")).expect("asked"));
        assert_eq!(read(&room, "log/0").as_deref(), Some(&b"good"[..]));
        let all = now(room.read_all(
            "note",
            &["log/0".into(), "log/1".into(), "log/2".into()],
            Others::InTheWay,
        ));
        let all = all.expect("read").into_iter();
        let bodies: Vec<Option<Bytes>> = all.map(|one| one.map(|one| one.body)).collect();
        let text = |text: &'static str| Some(Bytes::from_static(text.as_bytes()));
        assert_eq!(bodies, [text("good"), text("mine"), None]);
    }
}

#[test]
fn a_file_or_a_directory_in_the_way_is_removed() {
    for key in [None, key("k")] {
        let at = memory();
        let room = room(&at, key);
        plant(&at, "log/1/inside", Bytes::from_static(b"x"));
        assert_eq!(read(&room, "log/1"), None);
        assert!(now(room.create("note", "log/1", b"mine")).expect("asked"));
        assert_eq!(read(&room, "log/1").as_deref(), Some(&b"mine"[..]));
    }
}

/// Fails to write where records are kept aside, once.
struct Failing(SharedBackend, Cell<bool>);

impl Backend for Failing {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if let Request::Upload(files) = &request
            && files.iter().any(|(path, _)| path.as_str().contains(ASIDE))
            && self.1.take()
        {
            return done(Err(Error::new(Kind::Unavailable, "The network is down.")));
        }
        self.0.call(request)
    }
}

#[test]
fn a_failed_write_takes_nothing_of_what_is_kept_aside() {
    let at = memory();
    plant(&at, "log/1", Bytes::from_static(b"garbage"));
    assert_eq!(read(&room(&at, None), "log/1"), None);
    let kept = aside(&room(&at, None));
    assert_eq!(kept.len(), 1);
    plant(&at, "log/1", Bytes::from_static(b"garbage"));
    let failing: SharedBackend = Rc::new(Failing(at.clone(), Cell::new(true)));
    let error = now(room(&failing, None).read("note", "log/1")).expect_err("no network");
    assert_eq!(error.kind(), Kind::Unavailable);
    assert_eq!(aside(&room(&at, None)), kept);
    assert_eq!(read(&room(&failing, None), "log/1"), None);
    assert_eq!(aside(&room(&at, None)).len(), 2);
}

/// Reads no file that is longer than this.
struct Narrow(SharedBackend, usize);

impl Backend for Narrow {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if let Request::Download([path]) = request
            && now(self.0.fetch(path)).is_ok_and(|body| body.len() > self.1)
        {
            return done(Err(Error::new(Kind::TooLarge, "The file is too large.")));
        }
        self.0.call(request)
    }
}

#[test]
fn a_record_that_is_too_large_to_be_read_is_kept_aside() {
    for key in [None, key("k")] {
        let wide = memory();
        let good = room(&wide, key.clone());
        now(good.put("note", "log/1", &[b'x'; 5_000])).expect("written");
        let file = now(wide.fetch(&dir().join("log/1").expect("a path"))).expect("stored");
        let narrow: SharedBackend = Rc::new(Narrow(wide.clone(), 1_000));
        let room = room(&narrow, key);
        assert_eq!(read(&room, "log/1"), None);
        assert!(now(room.create("note", "log/1", b"mine")).expect("asked"));
        assert_eq!(read(&room, "log/1").as_deref(), Some(&b"mine"[..]));
        assert_eq!(aside(&room), ["too-large-log.1"]);
        let kept = now(room.list(ASIDE)).expect("listed").remove(0).path;
        assert_eq!(now(wide.fetch(&kept)).expect("kept"), file);
    }
}

#[test]
fn a_record_of_another_key_stops_who_reads_it_and_stays_where_it_is_for_a_time() {
    let at = memory();
    let first = room(&at, key("k"));
    now(first.put("note", "log/1", b"mine")).expect("written");
    let file = now(at.fetch(&dir().join("log/1").expect("a path"))).expect("stored");
    let names = ["log/1".into(), "log/2".into()];
    for other in [key("w"), None] {
        let room = room(&at, other.clone());
        let says = match other.is_some() {
            true => "has another key",
            false => "Give keepIn that key",
        };
        for failed in [
            now(room.read("note", "log/1")).map(drop),
            now(room.read_all("note", &names, Others::LeftOut)).map(drop),
            now(room.put("note", "log/1", b"x")),
            now(room.read_all("note", &names, Others::InTheWay)).map(drop),
        ] {
            let error = failed.expect_err("refused");
            assert_eq!(error.kind(), Kind::InvalidArgument);
            let text = error.to_string();
            assert!(text.contains(says) && text.contains("log/1"), "{text}");
        }
        assert!(!now(room.create("note", "log/1", b"x")).expect("asked"));
        // What needs it not goes on.
        now(room.put("note", "log/2", b"other")).expect("written");
        assert_eq!(read(&room, "log/2").as_deref(), Some(&b"other"[..]));
        if other.is_some() {
            // Now that the room has a mark of this key, a list is what this key has written.
            let all = now(room.read_all("note", &names, Others::LeftOut)).expect("read");
            assert_eq!(all.iter().flatten().count(), 1);
            assert!(now(room.read_all("note", &names, Others::InTheWay)).is_err());
        }
        now(room.remove("log/2")).expect("removed");
        let now_there = now(at.fetch(&dir().join("log/1").expect("a path"))).expect("there");
        assert_eq!(now_there, file);
    }
    assert_eq!(read(&first, "log/1").as_deref(), Some(&b"mine"[..]));
    assert_eq!(aside(&first), Vec::<String>::new());
    for other in [key("w"), None] {
        let room = room(&at, other.clone());
        // The time counts also where it was noted by an earlier process, but not one of the future.
        for (since, is_over) in [(WAIT - 60_000_000, false), (-WAIT, false), (WAIT, true)] {
            let name = format!(".met/{}", other.as_ref().map_or("-", |key| key.name()));
            let since = (clock::now().micros() - since).to_string();
            plant(&at, &name, now(room.sealed("met", &name, since.as_bytes())));
            let room = self::room(&at, other.clone());
            assert_eq!(now(room.read("note", "log/1")).is_ok(), is_over, "{since}");
        }
        assert_eq!(read(&room, "log/1"), None);
        now(room.put("note", "log/1", b"other")).expect("written");
        let kept = format!("{OTHERS}/{}/log/1", key("k").expect("a key").name());
        let kept = now(room.list(&kept)).expect("listed").remove(0).path;
        assert_eq!(now(at.fetch(&kept)).expect("kept"), file);
        // Whoever has the key puts it back.
        now(room.remove("log/1")).expect("removed");
        now(at.delete(&kept, None)).expect("deleted");
        plant(&at, "log/1", file.clone());
        assert_eq!(read(&first, "log/1").as_deref(), Some(&b"mine"[..]));
    }
}

#[test]
fn of_records_of_one_place_and_key_the_newest_are_kept() {
    let at = memory();
    let (ours, theirs) = (room(&at, key("k")), room(&at, key("w")));
    let since = (clock::now().micros() - WAIT).to_string();
    let name = format!(".met/{}", key("k").expect("a key").name());
    plant(&at, &name, now(ours.sealed("met", &name, since.as_bytes())));
    for number in 0..70 {
        let body = format!("{number}");
        plant(
            &at,
            "log/1",
            now(theirs.sealed("note", "log/1", body.as_bytes())),
        );
        plant(
            &at,
            &format!("log/x{number}"),
            now(theirs.sealed("note", "", b"")),
        );
        assert_eq!(read(&ours, "log/1"), None);
        assert_eq!(read(&ours, &format!("log/x{number}")), None);
    }
    let dir = format!("{OTHERS}/{}/log", key("w").expect("a key").name());
    assert_eq!(
        now(ours.list(&format!("{dir}/1"))).expect("listed").len(),
        64
    );
    assert_eq!(now(ours.list(&dir)).expect("listed").len(), 71);
}

#[test]
fn planted_marks_stop_nobody_and_take_no_warning_away() {
    let at = memory();
    let wrong = room(&at, key("w"));
    let planted = format!(".keys/{}", key("w").expect("a key").name());
    for (name, file) in [
        (planted.as_str(), now(wrong.sealed("key", &planted, b""))),
        (".keys/0", Bytes::from_static(b"garbage")),
        (".keys/none", Bytes::new()),
        (
            ".keys/none",
            now(room(&at, None).sealed("key", ".keys/none", b"")),
        ),
        (
            ".keys/-",
            now(room(&at, None).sealed("key", ".keys/-", b"")),
        ),
    ] {
        plant(&at, name, file);
        // Before the first use, and later.
        for _ in 0..2 {
            let ours = room(&at, key("k"));
            now(ours.put("note", "log/1", b"mine")).expect("written");
            assert_eq!(read(&ours, "log/1").as_deref(), Some(&b"mine"[..]));
            let without = room(&at, None);
            let all = now(without.read_all("note", &["log/1".into()], Others::LeftOut));
            assert!(
                all.is_err() && now(without.read("note", "log/1")).is_err(),
                "{name}"
            );
        }
    }
    // A damaged mark is made again, and kept aside.
    let mark = format!(".keys/{}", key("k").expect("a key").name());
    plant(&at, &mark, Bytes::from_static(b"garbage"));
    let again = room(&at, key("k"));
    now(again.put("note", "log/1", b"again")).expect("written");
    let marked = now(at.fetch(&dir().join(&mark).expect("a path"))).expect("a mark");
    assert_eq!(marked, now(again.sealed("key", &mark, b"")));
    let short = Key::of(&[7; LEAST_KEY - 1]).err().expect("refused");
    assert!(short.to_string().contains("16 bytes or more"), "{short}");
}

#[test]
fn only_the_newest_of_many_are_kept_aside() {
    let at = memory();
    let room = room(&at, None);
    for number in 0..80 {
        let name = format!("log/{number}");
        plant(&at, &name, Bytes::from_static(b"garbage"));
        assert_eq!(read(&room, &name), None);
        // Their names have milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let names = aside(&room);
    assert_eq!(names.len(), 64);
    assert!(names.contains(&"foreign-log.79".to_owned()));
}

#[test]
fn a_key_for_checksums_is_not_known_from_its_salt() {
    let (one, other) = (key("k").expect("a key"), key("o").expect("a key"));
    assert_eq!(one.derived([1, 2]), one.derived([1, 2]));
    assert_ne!(one.derived([1, 2]), one.derived([1, 3]));
    assert_ne!(one.derived([1, 2]), other.derived([1, 2]));
    assert_ne!(one.derived([1, 2]), [1, 2]);
}
