//! Tests of pins: each is the tree of its moment until it is let go, whatever is changed, pruned or broken
//! off meanwhile; and what is lost is told.

use std::collections::BTreeSet;

use super::*;
use crate::core::future::Pending;
use crate::core::time::Time;
use crate::protocol::{BackendExt, Capability, GrepQuery};
use crate::storage::pinned::Pinned;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

fn pinned(history: &History) -> Rc<str> {
    finished(history.pin()).expect("pinned").name
}

fn at(history: &History, pin: &str) -> Files<Pinned> {
    let (objects, root) = history.objects(pin).expect("a pin");
    let time = Time::from_millis(0.0);
    Files::new(Pinned::new(objects, root, time), FilesOptions::default())
}

fn names(at: &SharedBackend, folder: &str) -> BTreeSet<String> {
    let infos = finished(at.ls(&path(&format!("/history/{folder}")))).expect("listed");
    infos
        .iter()
        .map(|info| info.path.name().to_owned())
        .collect()
}

/// Memory that counts the files that are read.
struct Counting(Memory, Rc<Cell<usize>>);

impl Storage for Counting {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.0.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.1.set(self.1.get() + 1);
        self.0.get(path)
    }
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        self.0.put(path, file, mode)
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.0.delete(path, version)
    }
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        // Long ago, so that times tell that a file is the same.
        Box::pin(async move {
            let mut listing = self.0.list(dir, depth, from).await?;
            for entry in &mut listing.files {
                entry.meta.modified = Time::from_millis(1_000.0);
            }
            Ok(listing)
        })
    }
}

#[test]
fn every_pin_is_the_tree_of_its_moment_through_changes_and_pruning_until_it_is_let_go() {
    for seed in 0..40 {
        let mut roll = dice(seed);
        let (inner, at_) = (memory(), memory());
        put(&*inner, "/dir/old", "there before the history\n");
        let keep = Retention {
            count: Some(2),
            ..Retention::default()
        };
        let mut history = with(&inner, &at_, keep);
        let mut pins: Vec<(Rc<str>, Tree)> = Vec::new();
        for _ in 0..30 {
            match roll(8) {
                0 | 1 => pins.push((pinned(&history), tree(&history))),
                2 => drop(finished(history.prune()).expect("pruned")),
                3 if !pins.is_empty() => {
                    let (pin, _) = pins.remove(roll(pins.len()));
                    finished(history.unpin(&pin)).expect("let go");
                    pins.retain(|(other, _)| *other != pin);
                }
                // Another object, which knows nothing of the last pin.
                4 => history = with(&inner, &at_, keep),
                _ => changed(&history, &mut roll),
            }
            for (pin, then) in &pins {
                assert_eq!(tree(&at(&history, pin)), *then, "seed {seed}");
            }
        }
        let kept: BTreeSet<Rc<str>> = pins.iter().map(|(pin, _)| pin.clone()).collect();
        let listed = finished(history.pins()).expect("pins");
        assert_eq!(
            listed
                .iter()
                .map(|pin| pin.name.clone())
                .collect::<BTreeSet<_>>(),
            kept
        );
        let verified = finished(history.verify(None)).expect("verified");
        assert_eq!(verified, Verified::default(), "seed {seed}");
        for pin in kept {
            finished(history.unpin(&pin)).expect("let go");
        }
        finished(history.prune()).expect("pruned");
        assert_eq!(names(&at_, "nodes"), BTreeSet::new());
        assert_eq!(names(&at_, "pins"), BTreeSet::new());
        let notes = finished(history.log(&VPath::root(), 100)).expect("a log");
        let named = notes
            .iter()
            .flat_map(Note::digests)
            .map(|it| it.to_string());
        assert_eq!(names(&at_, "bodies"), named.collect(), "seed {seed}");
    }
}

#[test]
fn the_same_tree_has_the_same_pin_whoever_wrote_it_and_in_whatever_order() {
    for seed in 0..10 {
        let mut roll = dice(seed);
        let (inner, other) = (memory(), memory());
        let history = begin(&inner, &memory());
        for _ in 0..20 {
            changed(&history, &mut roll);
        }
        let mut files: Vec<(String, String)> = tree(&history).into_iter().collect();
        while !files.is_empty() {
            let (name, text) = files.remove(roll(files.len()));
            put(&*other, &name, &text);
        }
        let again = begin(&other, &memory());
        assert_eq!(pinned(&history), pinned(&again));
    }
}

#[test]
fn a_second_pin_reads_only_what_was_changed_and_adds_two_kilobytes() {
    let reads = Rc::new(Cell::new(0));
    let counting = Counting(Memory::default(), reads.clone());
    let inner: SharedBackend = Rc::new(Files::new(counting, FilesOptions::default()));
    let kept = memory();
    let many = (0..3_000).map(|number| (path(&format!("/many/{number}")), bytes("x")));
    finished(inner.upload(many.collect()));
    let history = begin(&inner, &kept);
    let first = pinned(&history);
    assert_eq!(reads.replace(0), 3_000);
    let nodes = names(&kept, "nodes").len();
    put(&history, "/many/77", "changed");
    reads.set(0);
    let second = pinned(&history);
    assert_eq!(reads.replace(0), 1);
    assert!(names(&kept, "nodes").len() < nodes + 12);
    // Another process: it reads the tree of the last pin instead of the files.
    let other = begin(&inner, &kept);
    put(&other, "/many/78", "changed");
    reads.set(0);
    assert_ne!(pinned(&other), second);
    assert!(reads.get() < 4, "{}", reads.get());
    // A change past the history that a listing shows is seen, too.
    put(&*inner, "/many/79", "longer");
    finished(inner.delete(&path("/many/80"), None)).expect("deleted");
    let third = pinned(&history);
    assert_eq!(tree(&at(&history, &third)), tree(&*inner));
    assert_eq!(
        body(&at(&history, &first), "/many/80").as_deref(),
        Some("x")
    );
}

#[test]
fn a_pin_is_read_only_and_is_searched_like_files() {
    let (inner, kept) = (memory(), memory());
    put(&*inner, "/a.md", "one\ntwo\n");
    put(&*inner, "/dir/b.md", "two\n");
    put(&*inner, "/dir-c", "two\n");
    let history = begin(&inner, &kept);
    let then = at(&history, &pinned(&history));
    put(&history, "/a.md", "changed\n");
    let query = GrepQuery::literal("two");
    let found = finished(then.grep(&query)).expect("found").matches;
    assert_eq!(found.iter().count(), 3);
    let root = finished(then.ls(&VPath::root())).expect("listed");
    let shown: Vec<String> = root.iter().map(|info| info.shown_path()).collect();
    assert_eq!(shown, ["/a.md", "/dir-c", "/dir/"]);
    let a = path("/a.md");
    let edit = Edit {
        old: bytes("one"),
        new: bytes("1"),
        replace_all: false,
        whole: false,
        appends: false,
    };
    let refused = [
        finished(then.write(&path("/new"), Content::Raw(bytes("x"), None))).map(drop),
        finished(then.edit(&a, &edit)).map(drop),
        finished(then.delete(&a, None)).map(drop),
        finished(then.upload(vec![(a.clone(), bytes("x"))])).remove(0),
    ];
    for answer in refused {
        assert_eq!(answer.expect_err("refused").kind(), Kind::PermissionDenied);
    }
    assert_eq!(body(&then, "/a.md").as_deref(), Some("one\ntwo\n"));
}

#[test]
fn a_process_that_ends_at_any_step_of_a_pin_leaves_earlier_pins_whole_and_no_half_one() {
    for polls in 0.. {
        let (inner, kept) = (memory(), stepping());
        let keep = Retention {
            count: Some(1),
            ..Retention::default()
        };
        put(&*inner, "/a", "one\n");
        put(&*inner, "/dir/b", "two\n");
        let history = with(&inner, &kept, keep);
        let first = (pinned(&history), tree(&*inner));
        put(&history, "/a", "three\n");
        put(&history, "/c", "four\n");
        let mut work: LocalBoxFuture<'_, _> = Box::pin(history.pin());
        let is_done = (0..=polls).any(|_| polled(&mut work).is_some());
        drop(work);
        put(&history, "/c", "five\n");
        put(&history, "/a", "six\n");
        let other = with(&inner, &kept, keep);
        finished(other.prune()).expect("pruned");
        let pins = finished(other.pins()).expect("pins");
        assert!(pins.len() > usize::from(is_done));
        assert_eq!(tree(&at(&other, &first.0)), first.1, "{polls}");
        let verified = finished(other.verify(None)).expect("verified");
        assert_eq!(verified, Verified::default(), "{polls}");
        if is_done {
            assert!(polls > 4);
            break;
        }
    }
}

#[test]
fn pruning_at_any_step_of_a_pin_takes_nothing_that_it_names() {
    for start in 0.. {
        let mut is_over = false;
        for polls in [1, 3, 9, 27, 81, 1_000] {
            let (inner, kept) = (memory(), stepping());
            let keep = Retention {
                count: Some(0),
                ..Retention::default()
            };
            put(&*inner, "/a", "one\n");
            let history = with(&inner, &kept, keep);
            let first = pinned(&history);
            put(&history, "/a", "two\n");
            put(&history, "/a", "one\n");
            finished(history.unpin(&first)).expect("let go");
            // The contents of the new pin are those that the pruning is about to delete.
            let other = with(&inner, &kept, keep);
            let mut prune: LocalBoxFuture<'_, _> = Box::pin(other.prune());
            let mut pruned = (0..start).any(|_| polled(&mut prune).is_some());
            is_over = pruned;
            let mut pin: LocalBoxFuture<'_, _> = Box::pin(history.pin());
            let name = loop {
                if let Some(pin) = (0..polls).find_map(|_| polled(&mut pin)) {
                    break pin.expect("pinned").name;
                }
                pruned = pruned || polled(&mut prune).is_some();
            };
            if !pruned {
                let _ = finished(prune);
            }
            let now = body(&at(&other, &name), "/a");
            assert_eq!(now.as_deref(), Some("one\n"), "{start} {polls}");
        }
        if is_over {
            assert!(start > 4);
            break;
        }
    }
}

#[test]
fn what_a_pin_lost_is_told_and_is_never_what_the_file_holds_now() {
    type Damage = fn(&SharedBackend, &VPath);
    let damages: [(&str, Damage); 3] = [
        ("removed", |at, file| {
            drop(finished(at.delete(file, None)).expect("deleted"))
        }),
        ("cut short", |at, file| {
            drop(finished(at.upload(vec![(file.clone(), bytes("o"))])))
        }),
        ("altered", |at, file| {
            drop(finished(at.upload(vec![(file.clone(), bytes("two\n"))])))
        }),
    ];
    for (name, damage) in damages {
        for folder in ["bodies", "nodes"] {
            let (inner, kept) = (memory(), memory());
            put(&*inner, "/a", "one\n");
            put(&*inner, "/b", "one\n");
            let history = begin(&inner, &kept);
            let pin = pinned(&history);
            let whole = finished(history.verify(Some(&pin))).expect("verified");
            assert_eq!(whole, Verified::default());
            let digest = names(&kept, folder).into_iter().next().expect("one");
            damage(&kept, &path(&format!("/history/{folder}/{digest}")));
            let then = at(&history, &pin);
            let refused = finished(then.download(&[path("/a")])).remove(0);
            assert_eq!(
                refused.expect_err("lost").kind(),
                Kind::Unavailable,
                "{name}"
            );
            let Verified { lost, drifted } = finished(history.verify(None)).expect("verified");
            assert_eq!(drifted, []);
            let expected: &[&str] = if folder == "bodies" {
                &["/a", "/b"]
            } else {
                &[""]
            };
            let paths: Vec<&str> = lost.iter().map(|loss| &*loss.path).collect();
            assert_eq!(paths, expected, "{name} {folder}");
            for loss in &lost {
                assert_eq!(*loss.digest, digest);
                assert_eq!(
                    (loss.is_missing, loss.is_list),
                    (name == "removed", folder == "nodes")
                );
            }
            let pruned = finished(history.prune());
            assert_eq!(pruned.is_err(), folder == "nodes", "{name}");
        }
    }
}

#[test]
fn what_was_planted_among_the_pins_is_set_aside_and_stops_no_pruning() {
    let root = "0123456789abcdef".repeat(4);
    let planted = [
        format!("0000000000000001-{root}-0000000000000001"),
        format!("9223372036854775807-{root}-0000000000000001"),
        format!("0000000000000001-{root}-"),
        String::from("9223372036854775807-making-0000000000000001"),
        String::from("0000000000000001-making-0000000000000001"),
    ];
    let forged = "kitbag 1 pin - 0123456789abcdef0123456789abcdef\n";
    for name in &planted {
        for text in ["", "garbage", forged] {
            let (inner, kept) = (memory(), memory());
            put(&*inner, "/a", "one\n");
            let history = begin(&inner, &kept);
            let pin = pinned(&history);
            put(&*kept, &format!("/history/pins/{name}"), text);
            // A process that has seen none of the pins.
            let later = begin(&inner, &kept);
            let pruned = finished(later.prune());
            assert!(pruned.is_ok(), "{name} {text:?}: {:?}", pruned.err());
            let pins = finished(later.pins()).expect("listed");
            assert_eq!(pins.len(), 1, "{name} {text:?}");
            assert_eq!(pins.first().map(|one| one.name.clone()), Some(pin.clone()));
            assert!(!names(&kept, "pins").contains(name), "{name} {text:?}");
            assert_eq!(body(&at(&later, &pin), "/a").as_deref(), Some("one\n"));
        }
    }
}

#[test]
fn files_that_were_changed_past_the_history_have_drifted() {
    let (inner, kept) = (memory(), memory());
    for name in ["/a", "/b", "/c", "/d"] {
        put(&*inner, name, "one\n");
    }
    let history = begin(&inner, &kept);
    put(&history, "/a", "two\n");
    put(&*inner, "/a", "past\n");
    let drifted = |history: &History, pin: Option<&str>| {
        let verified = finished(history.verify(pin)).expect("verified");
        let drifted = verified.drifted.into_iter();
        drifted
            .map(|path| path.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    // Without a pin the history knows only files that have entries.
    assert_eq!(drifted(&history, None), ["/a"]);
    let pin = pinned(&history);
    assert_eq!(drifted(&history, None), [""; 0]);
    put(&history, "/b", "two\n");
    finished(history.delete(&path("/c"), None)).expect("deleted");
    put(&history, "/e", "new\n");
    assert_eq!(drifted(&history, Some(&pin)), [""; 0]);
    put(&*inner, "/b", "past\n");
    finished(inner.delete(&path("/d"), None)).expect("deleted");
    put(&*inner, "/f", "past\n");
    assert_eq!(drifted(&history, Some(&pin)), ["/b", "/d", "/f"]);
    let wrong = finished(history.verify(Some(&"0".repeat(64)))).expect_err("refused");
    assert_eq!(wrong.kind(), Kind::NotFound);
    let wrong = finished(history.verify(Some("no pin"))).expect_err("refused");
    assert_eq!(wrong.kind(), Kind::InvalidArgument);
}

#[test]
fn all_files_or_some_are_put_back_to_a_pin_and_that_can_be_taken_back() {
    for seed in 0..20 {
        let mut roll = dice(seed);
        let (inner, kept) = (memory(), memory());
        put(&*inner, "/dir/old", "there before the history\n");
        let history = begin(&inner, &kept);
        for _ in 0..5 {
            changed(&history, &mut roll);
        }
        let then = (pinned(&history), tree(&*inner));
        for _ in 0..5 {
            changed(&history, &mut roll);
        }
        put(&*inner, "/past", "a change past the history\n");
        let now = tree(&*inner);
        let moment = Moment::parse(&then.0).expect("a moment");
        finished(history.restore(&path("/dir"), &moment)).expect("restored");
        let mut expected: Tree = now.clone();
        expected.retain(|name, _| !name.starts_with("/dir/"));
        let inside = then.1.iter().filter(|(name, _)| name.starts_with("/dir/"));
        expected.extend(inside.map(|(name, text)| (name.clone(), text.clone())));
        assert_eq!(tree(&*inner), expected, "seed {seed}");
        let last = finished(history.log(&VPath::root(), 1)).expect("a log");
        finished(history.restore(&VPath::root(), &moment)).expect("restored");
        assert_eq!(tree(&*inner), then.1, "seed {seed}");
        assert_eq!(finished(history.pins()).expect("pins").len(), 1);
        let back = Moment::After(last[0].id.clone());
        finished(history.restore(&VPath::root(), &back)).expect("restored");
        assert_eq!(tree(&*inner), expected, "seed {seed}");
        let refused = finished(history.diff(&moment, &Moment::Now)).expect_err("refused");
        assert_eq!(refused.kind(), Kind::InvalidArgument);
    }
}

#[test]
fn a_pin_can_have_a_name() {
    let (inner, kept) = (memory(), memory());
    let history = begin(&inner, &kept);
    let first = pinned(&history);
    let none = finished(history.labelled("release/1")).expect_err("none");
    assert_eq!(none.kind(), Kind::NotFound);
    finished(history.label("release/1", &first)).expect("named");
    put(&history, "/a", "one\n");
    let second = pinned(&history);
    finished(history.label("../other", &second)).expect("named");
    let other = begin(&inner, &kept);
    assert_eq!(finished(other.labelled("release/1")).expect("named"), first);
    finished(history.label("release/1", &second)).expect("named");
    assert_eq!(
        finished(other.labelled("release/1")).expect("named"),
        second
    );
    assert!(finished(history.label("x", "no pin")).is_err());
}
