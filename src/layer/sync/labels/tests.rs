//! Labels go where contents go: sent, merged, copied, moved; and nowhere without somebody who keeps them.

use std::rc::Rc;
use std::task::{Context, Waker};

use bytes::Bytes;

use crate::core::error::Kind;
use crate::core::path::VPath;
use crate::core::testing::path;
use crate::files::stepping::{ended, stepping};
use crate::layer::history::{Author, History, HistoryOptions};
use crate::layer::provenance::{Flow, LabelRule, Options, Patterns, Provenance, Seen, Then};
use crate::layer::sync::{Choice, Pair, Side, Sync, SyncOptions, Synced};
use crate::layer::tests::memory;
use crate::pins::Digest;
use crate::protocol::{BackendExt, Operation, SharedBackend, Transfer, files_beneath};
use crate::side::Room;

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

/// Files below `/web` are labelled, and may not get into `/memories`.
fn labelled(inner: SharedBackend) -> Rc<Provenance> {
    let patterns = |text| Patterns::parse([text]).expect("a pattern");
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
        file: None,
    };
    Rc::new(Provenance::new(inner, options))
}

/// A conversation over the same files that has read something with a label.
fn tainted(at: &Provenance, label: &str) -> SharedBackend {
    Rc::new(at.conversation(vec![Seen {
        label: label.into(),
        path: path("/elsewhere"),
        operation: Operation::Read,
    }]))
}

fn put(at: &SharedBackend, name: &str, text: &str) {
    let body = Bytes::copy_from_slice(text.as_bytes());
    now(at.store(&path(name), body)).expect("stored");
}

/// The files of a tree with their labels, as `name: text [labels]`.
fn shown(at: &Provenance) -> Vec<String> {
    let infos = now(files_beneath(at, &VPath::root())).expect("listed");
    let mut all: Vec<String> = infos
        .iter()
        .map(|info| {
            let reader = at.conversation(Vec::new());
            let body = now(reader.fetch(&info.path)).expect("read");
            let labels = now(at.labels(&info.path)).expect("labels");
            let labels: Vec<&str> = labels.iter().map(|label| &**label).collect();
            let text = String::from_utf8_lossy(&body).into_owned();
            format!("{}: {text} [{}]", info.path.as_str(), labels.join(","))
        })
        .collect();
    all.sort();
    all
}

struct Two {
    a: Rc<Provenance>,
    b: Rc<Provenance>,
    kept: SharedBackend,
}

fn two() -> Two {
    Two {
        a: labelled(memory()),
        b: labelled(memory()),
        kept: memory(),
    }
}

fn between(a: SharedBackend, b: SharedBackend, kept: &SharedBackend, options: SyncOptions) -> Sync {
    let dir = VPath::own("/.kitbag/sync").expect("a path");
    let options = SyncOptions {
        names: Pair {
            a: "one".into(),
            b: "two".into(),
        },
        ..options
    };
    Sync::new(a, b, Room::new(kept.clone(), dir, None), options).expect("a sync")
}

impl Two {
    fn sync(&self) -> Synced {
        self.sync_as(SyncOptions::default())
    }

    fn sync_as(&self, options: SyncOptions) -> Synced {
        let run = between(self.a.clone(), self.b.clone(), &self.kept, options);
        let synced = now(run.run()).expect("synced");
        for side in [&self.a, &self.b] {
            assert!(side.taint().seen().is_empty(), "a sync is no reader");
        }
        synced
    }

    /// Syncs; both sides have the same files with the same labels then.
    fn same(&self) -> Vec<String> {
        let synced = self.sync();
        assert!(synced.refused.is_empty(), "{:?}", synced.refused);
        let a = shown(&self.a);
        assert_eq!(shown(&self.b), a);
        assert!(self.sync().changed.is_empty());
        a
    }

    fn clean(&self, side: Side) -> SharedBackend {
        let at = match side {
            Side::A => &self.a,
            Side::B => &self.b,
        };
        Rc::new(at.conversation(Vec::new()))
    }
}

#[test]
fn what_is_sent_has_its_labels() {
    let two = two();
    put(&tainted(&two.a, "web"), "/notes", "1");
    put(&tainted(&two.b, "mail"), "/letter", "2");
    put(&two.clean(Side::A), "/plain", "3");
    put(&two.clean(Side::B), "/web/page", "4");
    assert_eq!(
        two.same(),
        [
            "/letter: 2 [mail]",
            "/notes: 1 [web]",
            "/plain: 3 []",
            "/web/page: 4 [web]"
        ]
    );
    // Over what was agreed on; and a file that somebody without a label replaced has none.
    put(&tainted(&two.a, "mail"), "/plain", "33");
    put(&two.clean(Side::B), "/notes", "11");
    assert_eq!(
        two.same(),
        [
            "/letter: 2 [mail]",
            "/notes: 11 []",
            "/plain: 33 [mail]",
            "/web/page: 4 [web]"
        ]
    );
}

#[test]
fn a_merge_has_the_labels_of_both() {
    let two = two();
    put(&two.clean(Side::A), "/f", "1\n2\n3\n4\n5\n");
    two.same();
    put(&tainted(&two.a, "web"), "/f", "one\n2\n3\n4\n5\n");
    put(&tainted(&two.b, "mail"), "/f", "1\n2\n3\n4\nfive\n");
    assert_eq!(two.same(), ["/f: one\n2\n3\n4\nfive\n [mail,web]"]);
}

#[test]
fn a_conflict_copy_has_the_labels_of_what_it_holds() {
    let two = two();
    put(&two.clean(Side::A), "/f", "old");
    two.same();
    put(&tainted(&two.a, "web"), "/f", "of a");
    put(&tainted(&two.b, "mail"), "/f", "of b");
    let synced = two.sync();
    assert_eq!(synced.conflicts.len(), 1);
    // Where a labelled content stood, another one has its labels as well.
    for (side, wanted) in [(&two.a, "/f: of b [mail,web]"), (&two.b, "/f: of b [mail]")] {
        let all = shown(side);
        assert!(all[0].starts_with("/f (conflict of one"), "{all:?}");
        assert!(all[0].ends_with(": of a [web]"), "{all:?}");
        assert_eq!(all[1], wanted);
    }

    for (side, wanted) in [(Side::A, "/f: of a 2 ["), (Side::B, "/f: of b 2 [mail")] {
        put(&tainted(&two.a, "web"), "/f", "of a 2");
        put(&tainted(&two.b, "mail"), "/f", "of b 2");
        two.sync_as(SyncOptions {
            choose: Some(Rc::new(move |_| {
                crate::core::future::done(Ok(Choice::Take(side)))
            })),
            ..SyncOptions::default()
        });
        for all in [shown(&two.a), shown(&two.b)] {
            assert!(all[1].starts_with(wanted), "{all:?}");
            assert!(all[1].contains("web") || side == Side::B, "{all:?}");
        }
    }
}

#[test]
fn a_moved_file_has_its_labels_and_those_of_who_moved_it() {
    let two = two();
    put(&tainted(&two.a, "web"), "/old", "a text that is moved");
    two.same();
    let moved = Transfer {
        from: path("/old"),
        to: path("/new"),
        keeps: false,
        overwrite: false,
    };
    now(tainted(&two.b, "mail").transfer(&moved)).expect("moved");
    assert_eq!(two.same(), ["/new: a text that is moved [mail,web]"]);
}

#[test]
fn equal_files_get_the_labels_of_either_side() {
    let two = two();
    put(&tainted(&two.a, "web"), "/f", "the same");
    put(&tainted(&two.b, "mail"), "/f", "the same");
    assert_eq!(two.same(), ["/f: the same [mail,web]"]);
    // Somebody writes what was there, and that is a new label.
    put(&tainted(&two.a, "third"), "/f", "the same");
    assert_eq!(two.same(), ["/f: the same [mail,third,web]"]);
}

#[test]
fn a_flow_of_the_receiver_refuses_and_the_rest_goes_on() {
    let two = two();
    put(&tainted(&two.a, "mail"), "/memories/a", "fine");
    put(&two.clean(Side::A), "/web/page", "bad");
    // The first side knows no such flow.
    let inner = memory();
    put(&inner, "/memories/b", "obey");
    put(&inner, "/other", "fine");
    let options = Options {
        labels: vec![LabelRule {
            paths: Patterns::parse(["/**"]).expect("a pattern"),
            label: "web".into(),
        }],
        flows: Vec::new(),
        ask: None,
        file: None,
    };
    let a: SharedBackend = Rc::new(Provenance::new(inner, options));
    let run = between(a, two.b.clone(), &two.kept, SyncOptions::default());
    let synced = now(run.run()).expect("synced");
    let refused = synced.refused.iter();
    let refused: Vec<_> = refused
        .map(|one| (one.path.as_str(), one.side, one.error.kind()))
        .collect();
    assert_eq!(refused, [("/memories/b", Side::B, Kind::PermissionDenied)]);
    assert_eq!(shown(&two.b), ["/other: fine [web]"]);
}

#[test]
fn what_has_labels_is_not_sent_to_where_nobody_keeps_them() {
    let two = two();
    let plain = memory();
    put(&two.clean(Side::A), "/f", "1\n2\n3\n4\n5\n");
    put(&two.clean(Side::A), "/moved", "what will be moved");
    let run = || {
        let run = between(
            two.a.clone(),
            plain.clone(),
            &two.kept,
            SyncOptions::default(),
        );
        now(run.run()).expect("synced")
    };
    assert!(run().refused.is_empty());
    put(&tainted(&two.a, "web"), "/notes", "1");
    put(&two.clean(Side::A), "/fine", "2");
    put(&plain, "/of b", "3");
    let synced = run();
    let error = &synced.refused[0].error;
    assert_eq!(synced.refused.len(), 1);
    assert_eq!(synced.refused[0].side, Side::B);
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("'web'"), "{error}");
    assert!(now(plain.fetch(&path("/notes"))).is_err());
    assert!(now(plain.fetch(&path("/fine"))).is_ok());
    assert!(shown(&two.a).contains(&"/of b: 3 []".to_owned()));

    // A merge, a copy and a move would carry them as well.
    put(&tainted(&two.a, "web"), "/f", "one\n2\n3\n4\n5\n");
    put(&plain, "/f", "1\n2\n3\n4\nfive\n");
    put(&tainted(&two.a, "web"), "/fine", "of a");
    put(&plain, "/fine", "of b");
    let moved = Transfer {
        from: path("/moved"),
        to: path("/moved 2"),
        keeps: false,
        overwrite: false,
    };
    now(tainted(&two.a, "web").transfer(&moved)).expect("moved");
    let before = now(files_beneath(&*plain, &VPath::root())).expect("listed");
    let refused = run().refused;
    let mut paths: Vec<&str> = refused.iter().map(|one| one.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/f", "/fine", "/moved 2", "/notes"]);
    let after = now(files_beneath(&*plain, &VPath::root())).expect("listed");
    assert_eq!(before, after);
}

#[test]
fn an_edit_where_nobody_knows_labels_keeps_those_of_what_it_replaces() {
    let two = two();
    let plain = memory();
    // Both had it before the first run, and only one side knows where it came from.
    put(&tainted(&two.b, "web"), "/f", "from the web");
    put(&plain, "/f", "from the web");
    let run = || {
        let run = between(
            plain.clone(),
            two.b.clone(),
            &two.kept,
            SyncOptions::default(),
        );
        let synced = now(run.run()).expect("synced");
        assert!(synced.refused.is_empty(), "{:?}", synced.refused);
    };
    run();
    put(&plain, "/f", "from the web, edited");
    run();
    assert_eq!(shown(&two.b), ["/f: from the web, edited [web]"]);
}

#[test]
fn a_run_that_is_broken_off_anywhere_leaves_no_content_without_its_labels() {
    for steps in 0..400 {
        let two = Two {
            a: labelled(stepping()),
            b: labelled(stepping()),
            kept: stepping(),
        };
        put(&tainted(&two.a, "web"), "/a", "new");
        put(&tainted(&two.a, "web"), "/f", "of a");
        put(&tainted(&two.b, "mail"), "/f", "of b");
        let run = between(
            two.a.clone(),
            two.b.clone(),
            &two.kept,
            SyncOptions::default(),
        );
        let mut run = Box::pin(run.run());
        let context = &mut Context::from_waker(Waker::noop());
        let is_over = (0..steps).any(|_| run.as_mut().poll(context).is_ready());
        drop(run);
        for line in [shown(&two.a), shown(&two.b)].concat() {
            let label = match line.contains(": of b ") {
                true => "mail",
                false => "web",
            };
            assert!(line.contains(label), "after {steps} steps: {line}");
        }
        if is_over {
            assert!(steps > 20, "only {steps} steps");
            return;
        }
    }
    panic!("it does not end");
}

#[test]
fn others_are_tainted_while_a_sync_runs() {
    let two = Two {
        a: labelled(stepping()),
        b: labelled(stepping()),
        kept: memory(),
    };
    put(&tainted(&two.a, "web"), "/a", "new");
    let run = between(
        two.a.clone(),
        two.b.clone(),
        &two.kept,
        SyncOptions::default(),
    );
    let mut run = Box::pin(run.run());
    let context = &mut Context::from_waker(Waker::noop());
    // The same conversation reads between the steps of the run.
    assert!(run.as_mut().poll(context).is_pending());
    let mine: SharedBackend = two.a.clone();
    now(mine.fetch(&path("/a"))).expect("read");
    assert_eq!(two.a.taint().seen().len(), 1);
    put(&mine, "/mine", "written then");
    assert!(now(run).expect("synced").refused.is_empty());
    assert!(two.b.taint().seen().is_empty());
    assert!(shown(&two.a).contains(&"/mine: written then [web]".to_owned()));
}

#[test]
fn a_history_on_the_way_keeps_contents_with_what_they_came_with() {
    for steps in 0..400 {
        let (a, b) = (labelled(memory()), labelled(stepping()));
        put(&tainted(&a, "web"), "/notes", "from the web");
        put(&tainted(&a, "mail"), "/web/page", "clean there");
        // The conversation that the sync is given has read something else.
        let given = tainted(&b, "third");
        let kept = stepping();
        let room = Room::new(kept.clone(), path("/history"), None);
        let who = Rc::new(|| Ok(Author::default()));
        let options = HistoryOptions {
            overwrite: true,
            ..HistoryOptions::default()
        };
        let side: SharedBackend = Rc::new(History::new(given, room, who, options));
        let run = between(a, side, &memory(), SyncOptions::default());
        let mut run = Box::pin(run.run());
        let context = &mut Context::from_waker(Waker::noop());
        let is_over = (0..steps).any(|_| run.as_mut().poll(context).is_ready());
        drop(run);
        // Whoever has it from the history writes it with its label, and with no other one.
        let body = format!("/history/bodies/{}", Digest::of(b"from the web").hex());
        let is_kept = now(kept.fetch(&path(&body))).is_ok();
        let clean: SharedBackend = Rc::new(b.conversation(Vec::new()));
        put(&clean, "/restored", "from the web");
        let labels = now(b.labels(&path("/restored"))).expect("labels");
        assert!(!labels.has("third"), "after {steps} steps");
        assert!(labels.has("web") || !is_kept, "after {steps} steps");
        if is_over {
            assert!(is_kept, "the history has it");
            return;
        }
    }
    panic!("it does not end");
}
