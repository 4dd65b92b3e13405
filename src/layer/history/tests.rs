//! Tests of the history: against snapshots of the tree, with processes that end at each step, and
//! what it costs.

mod moments;
mod pins;

use std::cell::Cell;
use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::*;
use crate::core::error::Kind;
use crate::core::path::VPath;
use crate::core::testing::{bytes, path};
use crate::files::stepping::{ended, polled, stepping};
use crate::files::{Files, FilesOptions};
use crate::protocol::{Backend, BackendExt, Content, Edit, GlobQuery, Replacement};
use crate::storage::memory::Memory;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn with(inner: &SharedBackend, at: &SharedBackend, keep: Retention) -> History {
    let who: Who = Rc::new(|| {
        Ok(Author {
            by: "agent-7".into(),
            call: "call-1".into(),
        })
    });
    let options = HistoryOptions {
        overwrite: true,
        keep,
    };
    let dir = path("/history");
    let room = Room::new(at.clone(), dir, None);
    History::new(inner.clone(), room, who, options)
}

fn begin(inner: &SharedBackend, at: &SharedBackend) -> History {
    with(inner, at, Retention::default())
}

fn finished<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn put(backend: &dyn Backend, at: &str, text: &str) {
    for answer in finished(backend.upload(vec![(path(at), bytes(text))])) {
        answer.expect("uploaded");
    }
}

fn body(backend: &dyn Backend, at: &str) -> Option<String> {
    let answer = finished(backend.download(&[path(at)])).remove(0);
    answer
        .ok()
        .map(|body| String::from_utf8_lossy(&body).into_owned())
}

fn edit(old: &str, new: &str) -> Edit {
    Edit {
        old: bytes(old),
        new: bytes(new),
        replace_all: false,
        whole: false,
        appends: false,
    }
}

type Tree = BTreeMap<String, String>;

fn tree(backend: &dyn Backend) -> Tree {
    let all = GlobQuery::new("**", VPath::root());
    let found = finished(backend.glob(&all)).expect("listed").files;
    let names = found.into_iter().map(|info| info.path.as_str().to_owned());
    names
        .map(|name| {
            let text = body(backend, &name).expect("a file");
            (name, text)
        })
        .collect()
}

fn log(history: &History, at: &str) -> Vec<Note> {
    finished(history.log(&path(at), 1000)).expect("a log")
}

#[test]
fn each_change_notes_who_made_it_and_what_it_replaced() {
    let (inner, at) = (memory(), memory());
    put(&*inner, "/a", "one\n");
    let history = begin(&inner, &at);
    finished(history.edit(&path("/a"), &edit("one", "two"))).expect("edited");
    finished(history.write(&path("/b"), Content::Text(bytes("b")))).expect("written");
    finished(history.delete(&path("/a"), None)).expect("deleted");
    let notes = log(&history, "/");
    let operations: Vec<&str> = notes.iter().map(|note| &*note.operation).collect();
    assert_eq!(operations, ["delete", "write", "edit"]);
    assert!(
        notes
            .iter()
            .all(|note| &*note.by == "agent-7" && &*note.call == "call-1")
    );
    assert_eq!(log(&history, "/b").len(), 1);
    let of_edit = &notes[2].files[0];
    let content = |digest: &Option<Rc<str>>| {
        finished(history.store.content(digest.as_ref())).expect("it is kept")
    };
    assert_eq!(content(&of_edit.before), Some(bytes("one\n")));
    assert_eq!(content(&of_edit.after), Some(bytes("two\n")));
    assert_eq!(notes[0].files[0].before, of_edit.after);
    assert_eq!(notes[0].files[0].after, None);
}

#[test]
fn a_change_that_is_refused_is_not_noted() {
    let (inner, at) = (memory(), memory());
    put(&*inner, "/a", "one\n");
    let history = begin(&inner, &at);
    assert!(finished(history.edit(&path("/a"), &edit("absent", ""))).is_err());
    assert!(finished(history.edit(&path("/none"), &edit("a", "b"))).is_err());
    assert!(finished(history.delete(&path("/none"), None)).is_err());
    let new = Content::New(bytes("x"), None);
    let refused = finished(history.write(&path("/a"), new)).expect_err("refused");
    assert_eq!(refused.kind(), Kind::AlreadyExists);
    let stale = Replacement {
        path: path("/a"),
        before: Some(bytes("zero\n")),
        after: None,
        mode: None,
    };
    let answers = finished(history.noted("delete", &[stale])).expect("answers");
    assert!(answers[0].is_err());
    assert_eq!(log(&history, "/"), []);
    assert_eq!(body(&*inner, "/a").as_deref(), Some("one\n"));
}

#[test]
fn why_goes_back_to_the_call_that_created_the_file_and_sees_changes_past_the_history() {
    let (inner, at) = (memory(), memory());
    let history = begin(&inner, &at);
    put(&history, "/a", "first life\n");
    finished(history.delete(&path("/a"), None)).expect("deleted");
    put(&history, "/a", "one\n");
    put(&history, "/b", "other\n");
    finished(history.edit(&path("/a"), &edit("one", "two"))).expect("edited");
    let why = finished(history.why(&path("/a"))).expect("why");
    let operations: Vec<&str> = why.notes.iter().map(|note| &*note.operation).collect();
    assert_eq!(operations, ["edit", "uploadFiles"]);
    assert!(why.is_known);
    put(&*inner, "/a", "three\n");
    let why = finished(history.why(&path("/a"))).expect("why");
    assert_eq!((why.notes.len(), why.is_known), (2, false));
}

/// Numbers from a seed.
fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let state = Cell::new(seed);
    move |sides| {
        state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = state.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

const NAMES: &[&str] = &["/a", "/b", "/dir/c", "/dir/d", "/dir/deep/e"];

/// A change that is made at random.
fn changed(history: &History, roll: &mut impl FnMut(usize) -> usize) {
    let name = path(NAMES[roll(NAMES.len())]);
    let text = format!("{}\n", roll(6));
    match roll(6) {
        0 => drop(finished(history.delete(&name, None))),
        1 => drop(finished(history.delete(&path("/dir"), None))),
        2 => {
            let other = path(NAMES[roll(NAMES.len())]);
            let files = vec![(name.clone(), bytes(&text)), (other, bytes("x\n"))];
            drop(finished(history.upload(files)));
        }
        3 => drop(finished(history.edit(&name, &edit("x", &text)))),
        _ => drop(finished(history.write(&name, Content::Text(bytes(&text))))),
    }
}

#[test]
fn every_moment_can_be_compared_and_put_back() {
    for seed in 0..60 {
        let mut roll = dice(seed);
        let (inner, at) = (memory(), memory());
        let history = begin(&inner, &at);
        // The tree after each note.
        let mut moments: Vec<(Moment, Tree)> = Vec::new();
        for _ in 0..20 {
            changed(&history, &mut roll);
            if let Some(newest) = log(&history, "/").first() {
                moments.push((Moment::After(newest.id.clone()), tree(&history)));
            }
        }
        for _ in 0..6 {
            let (from, to) = (roll(moments.len()), roll(moments.len()));
            let (from, to) = (from.min(to), from.max(to));
            let mut seen = moments[from].1.clone();
            let diff = finished(history.diff(&moments[from].0, &moments[to].0)).expect("a diff");
            for file in diff {
                let text = |body: Option<Bytes>| {
                    body.map(|body| String::from_utf8_lossy(&body).into_owned())
                };
                let name = file.path.as_str().to_owned();
                assert_eq!(seen.remove(&name), text(file.before), "seed {seed}");
                seen.extend(text(file.after).map(|text| (name, text)));
            }
            assert_eq!(seen, moments[to].1, "seed {seed}");
        }
        let (moment, then) = &moments[roll(moments.len())];
        let now = tree(&history);
        let before = log(&history, "/")[0].id.clone();
        finished(history.restore(&path("/dir"), moment)).expect("restored");
        let mut expected: Tree = now.clone();
        expected.retain(|name, _| !name.starts_with("/dir/"));
        let inside = then.iter().filter(|(name, _)| name.starts_with("/dir/"));
        expected.extend(inside.map(|(name, text)| (name.clone(), text.clone())));
        assert_eq!(tree(&history), expected, "seed {seed}");
        finished(history.restore(&VPath::root(), moment)).expect("restored");
        assert_eq!(tree(&history), *then, "seed {seed}");
        // A restore is a change like others.
        finished(history.restore(&VPath::root(), &Moment::After(before))).expect("restored");
        assert_eq!(tree(&history), now, "seed {seed}");
    }
}

#[test]
fn a_restore_is_refused_if_somebody_changes_the_file_meanwhile() {
    let mut refused = 0;
    for polls in 0.. {
        let (inner, at) = (stepping(), memory());
        let history = begin(&inner, &at);
        put(&history, "/a", "one\n");
        let moment = Moment::After(log(&history, "/")[0].id.clone());
        put(&history, "/a", "two\n");
        let (all, file) = (VPath::root(), path("/a"));
        let mut restore: LocalBoxFuture<'_, _> = Box::pin(history.restore(&all, &moment));
        let mut done = (0..polls).find_map(|_| polled(&mut restore));
        let is_done = done.is_some();
        // Somebody who does not know of the history.
        let change = edit("two", "three");
        let mut other: LocalBoxFuture<'_, _> = Box::pin(inner.edit(&file, &change));
        let mut edited = false;
        while !edited || done.is_none() {
            edited = edited || polled(&mut other).is_some();
            if done.is_none() {
                done = polled(&mut restore);
            }
        }
        let answer = done.expect("an answer");
        let now = body(&*inner, "/a");
        match answer {
            Ok(_) => assert_eq!(now.as_deref(), Some("one\n"), "{polls}"),
            Err(error) => {
                assert_eq!(error.kind(), Kind::Conflict);
                assert_eq!(now.as_deref(), Some("three\n"), "{polls}");
                refused += 1;
            }
        }
        // Nothing is lost: what was replaced is in the newest note.
        if now.as_deref() == Some("one\n") {
            let newest = log(&history, "/").remove(0);
            let before = newest.files[0].before.as_ref();
            let before = finished(history.store.content(before)).expect("it is kept");
            let replaced = if is_done { "two\n" } else { "t" };
            let before = before.expect("a file");
            assert!(before.starts_with(replaced.as_bytes()), "{polls}");
        }
        if is_done {
            break;
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_process_that_ends_at_any_step_loses_nothing_that_it_replaced() {
    let changes: [fn(&History) -> LocalBoxFuture<'_, ()>; 4] = [
        |history| {
            let files = vec![(path("/a"), bytes("2\n")), (path("/dir/b"), bytes("3\n"))];
            Box::pin(async move { drop(history.upload(files).await) })
        },
        |history| Box::pin(async move { drop(history.delete(&path("/dir"), None).await) }),
        |history| Box::pin(async move { drop(history.edit(&path("/a"), &edit("one", "1")).await) }),
        |history| {
            let content = Content::Raw(bytes("new\n"), None);
            Box::pin(async move { drop(history.write(&path("/a"), content).await) })
        },
    ];
    for change in changes {
        let mut ends = 0;
        for polls in 0.. {
            let (inner, at) = (stepping(), stepping());
            put(&*inner, "/a", "one\n");
            put(&*inner, "/dir/b", "two\n");
            put(&*inner, "/dir/c", "three\n");
            let before = tree(&*inner);
            let history = begin(&inner, &at);
            let mut work = change(&history);
            let is_done = (0..=polls).any(|_| polled(&mut work).is_some());
            drop(work);
            let history = begin(&inner, &at);
            let began = Moment::At(0);
            finished(history.restore(&VPath::root(), &began)).expect("restored");
            assert_eq!(tree(&*inner), before, "{polls}");
            ends += 1;
            if is_done {
                break;
            }
        }
        assert!(ends > 4, "{ends}");
    }
}

fn sizes(at: &SharedBackend) -> Vec<(String, usize)> {
    let files = tree(&**at).into_iter();
    files.map(|(name, text)| (name, text.len())).collect()
}

#[test]
fn one_change_among_ten_thousand_files_adds_at_most_two_kilobytes_besides_the_body() {
    let (inner, at) = (memory(), memory());
    let many = (0..10_000).map(|number| (path(&format!("/many/{number}")), bytes("x")));
    finished(inner.upload(many.collect()));
    let history = begin(&inner, &at);
    let long = format!("/{}", "p".repeat(1_000));
    put(&history, &long, "one");
    put(&history, "/many/77", "one more");
    let size = |at: &SharedBackend| sizes(at).iter().map(|(name, size)| name.len() + size).sum();
    let before: usize = size(&at);
    let text = "changed".repeat(1_000);
    put(&history, &long, &text);
    let added = size(&at) - before - text.len();
    assert!(added <= 2_048, "{added} bytes");
    let before: usize = size(&at);
    put(&history, "/many/78", &text);
    // The body is there already.
    let added = size(&at) - before;
    assert!(added <= 2_048, "{added} bytes");
}

#[test]
fn equal_contents_are_kept_once() {
    let (inner, at) = (memory(), memory());
    let history = begin(&inner, &at);
    for number in 0..20 {
        put(&history, &format!("/{number}"), "the same");
    }
    let bodies = sizes(&at).into_iter();
    let bodies = bodies.filter(|(name, _)| name.starts_with("/history/bodies/"));
    assert_eq!(bodies.count(), 1);
}

fn bodies_are_those_of_notes(history: &History, at: &SharedBackend) {
    let notes = log(history, "/");
    let mut named: Vec<String> = notes
        .iter()
        .flat_map(Note::digests)
        .map(|digest| format!("/history/bodies/{digest}"))
        .collect();
    named.sort();
    named.dedup();
    let held = sizes(at).into_iter().map(|(name, _)| name);
    let held: Vec<String> = held.filter(|name| name.contains("/bodies/")).collect();
    assert_eq!(held, named);
}

#[test]
fn pruning_keeps_what_the_options_say_and_every_content_that_is_left() {
    let keeps = [
        Retention {
            count: Some(3),
            ..Retention::default()
        },
        Retention {
            bytes: Some(1_500),
            ..Retention::default()
        },
        Retention {
            age: Some(-1),
            ..Retention::default()
        },
        Retention::default(),
    ];
    let mut left = Vec::new();
    for keep in keeps {
        let (inner, at) = (memory(), memory());
        let history = with(&inner, &at, keep);
        for number in 0..10 {
            put(&history, "/a", &format!("{number}{}", "x".repeat(499)));
        }
        let pruned = finished(history.prune()).expect("pruned");
        assert_eq!(pruned.entries + pruned.dropped, 10);
        assert_eq!(log(&history, "/").len(), pruned.entries);
        bodies_are_those_of_notes(&history, &at);
        left.push((pruned.entries, pruned.bytes));
    }
    assert_eq!(left, [(3, 2_000), (2, 1_500), (0, 0), (10, 5_000)]);
}

#[test]
fn a_history_is_pruned_now_and_then() {
    let (inner, at) = (memory(), memory());
    let keep = Retention {
        count: Some(5),
        ..Retention::default()
    };
    let history = with(&inner, &at, keep);
    for number in 0..300 {
        put(&history, "/a", &format!("{number}"));
    }
    assert!(log(&history, "/").len() < 5 + PRUNE_EVERY as usize);
}

#[test]
fn a_content_that_is_noted_again_while_it_is_pruned_is_not_lost() {
    for polls in 0.. {
        let (inner, at) = (memory(), stepping());
        let keep = Retention {
            count: Some(1),
            ..Retention::default()
        };
        let history = with(&inner, &at, keep);
        put(&history, "/a", "old\n");
        put(&history, "/a", "new\n");
        put(&history, "/b", "b\n");
        let mut prune: LocalBoxFuture<'_, _> = Box::pin(history.prune());
        let is_done = (0..=polls).any(|_| polled(&mut prune).is_some());
        // It takes a content that the pruning may be deleting, and is broken off by the pruning at
        // each of its steps.
        let other = with(&inner, &at, keep);
        let mut change: LocalBoxFuture<'_, _> =
            Box::pin(other.upload(vec![(path("/c"), bytes("old\n"))]));
        let mut left = is_done;
        loop {
            let changed = polled(&mut change).is_some();
            left = left || polled(&mut prune).is_some();
            if changed {
                break;
            }
        }
        if !left {
            finished(prune).expect("pruned");
        }
        let note = log(&other, "/c").remove(0);
        let content = finished(other.store.content(note.files[0].after.as_ref()));
        assert_eq!(
            content.expect("it is kept"),
            Some(bytes("old\n")),
            "{polls}"
        );
        if is_done {
            break;
        }
    }
}

#[test]
fn a_moment_is_a_note_or_a_time() {
    assert_eq!(
        Moment::parse("2026-01-02T03:04:05.678Z").expect("a time"),
        Moment::At(1_767_323_045_678)
    );
    let id = "0001767323045678-0123456789abcdef-many";
    assert_eq!(Moment::parse(id).expect("a note"), Moment::After(id.into()));
    for wrong in ["", "yesterday", "0001767323045678", "1-2-3"] {
        assert_eq!(
            Moment::parse(wrong).expect_err("refused").kind(),
            Kind::InvalidArgument
        );
    }
}

#[test]
fn a_note_that_was_broken_off_is_left_out() {
    let (inner, at) = (memory(), memory());
    let history = begin(&inner, &at);
    put(&history, "/a", "one");
    put(&history, "/a", "two");
    let newest = log(&history, "/")[0].clone();
    let whole = newest.bytes();
    assert_eq!(Note::parse(&newest.id, &whole), Some(newest.clone()));
    for end in 0..whole.len() {
        assert_eq!(Note::parse(&newest.id, &whole.slice(..end)), None, "{end}");
    }
    let name = format!("/history/log/{}", newest.id);
    finished(at.upload(vec![(path(&name), whole.slice(..9))]));
    assert_eq!(log(&history, "/").len(), 1);
}
