//! The overlay: a turn over a tree answers like the tree with the turn's changes made.

use proptest::prelude::*;

use crate::core::testing::cases;

use super::*;
use crate::layer::composite::tests::flat::{Step, answer, any_path, step, text};

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn a_turn_answers_like_one_flat_tree(
        files in prop::collection::vec((any_path(), text()), 0..10),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let (flat, base) = (memory(), memory());
        for (at, text) in &files {
            put(&*flat, at, text);
            put(&*base, at, text);
        }
        let turn = begin(&base);
        for step in &steps {
            prop_assert_eq!(answer(&turn, step), answer(&*flat, step), "{:?}", step);
        }
    }

    #[test]
    fn a_turn_in_a_turn_answers_like_one_flat_tree(
        files in prop::collection::vec((any_path(), text()), 0..6),
        first in prop::collection::vec(step(), 1..10),
        second in prop::collection::vec(step(), 1..15),
    ) {
        let (flat, base) = (memory(), memory());
        for (at, text) in &files {
            put(&*flat, at, text);
            put(&*base, at, text);
        }
        let parent: SharedBackend = Rc::new(begin(&base));
        for step in &first {
            prop_assert_eq!(answer(&*parent, step), answer(&*flat, step), "{:?}", step);
        }
        let turn = begin(&parent);
        for step in &second {
            prop_assert_eq!(answer(&turn, step), answer(&*flat, step), "{:?}", step);
        }
    }
}

#[test]
fn nothing_below_changes() {
    let base = memory();
    put(&*base, "/a", "one\n");
    put(&*base, "/dir/b", "two\n");
    let turn = begin(&base);
    now(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    now(turn.delete(&path("/dir"), None)).expect("deleted");
    put(&turn, "/c", "three");
    assert_eq!(names(&turn, "/"), ["/a", "/c"]);
    assert_eq!(names(&*base, "/"), ["/a", "/dir/"]);
    assert_eq!(body(&*base, "/a").as_deref(), Some("one\n"));
    assert_eq!(body(&turn, "/a").as_deref(), Some("1\n"));
}

#[test]
fn an_edit_that_fails_leaves_the_file_below_in_view() {
    let base = memory();
    put(&*base, "/a", "one\n");
    let turn = begin(&base);
    let error = now(turn.edit(&path("/a"), &edit("two", "2"))).expect_err("no match");
    assert_eq!(error.kind(), Kind::NoMatch);
    put(&*base, "/a", "two\n");
    assert_eq!(body(&turn, "/a").as_deref(), Some("two\n"));
}

#[test]
fn the_librarys_own_files_are_not_shown_and_not_writable() {
    let base = memory();
    put(&*base, "/.kitbag/turns/journal", "needle");
    put(&*base, "/a/.kitbag/own", "needle");
    let turn = begin(&base);
    assert_eq!(names(&turn, "/"), ["/a/"]);
    assert_eq!(names(&turn, "/a"), Vec::<String>::new());
    assert_eq!(
        answer(&turn, &Step::Glob("**".into(), "/".into())),
        "[] false"
    );
    let grep = |text: &str| Step::Grep(text.into(), "/".into(), None, None, None, 0);
    assert_eq!(
        answer(&turn, &grep("needle")),
        answer(&turn, &grep("nowhere"))
    );
    for own in ["/.kitbag/turns/journal", "/.kitbag/history/x", "/a/.kitbag"] {
        let error = now(turn.write(&path(own), Content::Text(bytes("x")))).expect_err("refused");
        assert_eq!(error.kind(), Kind::PermissionDenied);
    }
}

#[test]
fn times_and_format_of_an_edited_file_stay() {
    let base = memory();
    put(&*base, "/a", "one\n");
    let created = now(base.read_raw(&path("/a"))).expect("read").created;
    let turn = begin(&base);
    now(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    let raw = now(turn.read_raw(&path("/a"))).expect("read");
    assert_eq!(raw.created, created);
    assert_eq!(raw.body, bytes("1\n"));
}

#[test]
fn what_was_merged_counts_as_what_was_there_before() {
    let base = memory();
    put(&*base, "/a", "1\n");
    let turn = begin(&base);
    now(turn.edit(&path("/a"), &edit("1", "2"))).expect("edited");
    now(turn.delete(&path("/a"), None)).expect("deleted");
    put(&turn, "/a", "2\n");
    let merged = |before: &str, after: Option<&str>| Replacement {
        path: path("/a"),
        before: Some(bytes(before)),
        after: after.map(bytes),
        mode: None,
    };
    // Somebody has rebased it since.
    assert!(
        now(turn.settle(vec![merged("0\n", Some("2\n"))]))
            .expect("settled")
            .is_empty()
    );
    assert_eq!(now(turn.diff()).expect("a diff").len(), 1);
    let settled = now(turn.settle(vec![merged("1\n", Some("2\n"))]));
    assert_eq!(settled.expect("settled"), [path("/a")]);
    assert!(now(turn.diff()).expect("a diff").is_empty());
    assert_eq!(body(&turn, "/a").as_deref(), Some("2\n"));
    // Later changes are its own, over what others have made of it.
    put(&*base, "/a", "2\n\n3\n");
    now(turn.edit(&path("/a"), &edit("2", "4"))).expect("edited");
    assert_eq!(now(turn.rebase(&[])).expect("rebased").conflicts.len(), 1);
    put(&*base, "/a", "2\nx\ny\n");
    let settled = now(turn.settle(vec![merged("2\n", Some("4\n"))]));
    assert_eq!(settled.expect("settled"), [path("/a")]);
    now(turn.rebase(&[])).expect("rebased");
    assert_eq!(body(&turn, "/a").as_deref(), Some("2\nx\ny\n"));
}

#[test]
fn a_file_that_a_turn_leaves_as_it_was_is_no_conflict() {
    for (first, last) in [
        (None, Some("new\n")),
        (Some("old\n"), None),
        (Some("old\n"), Some("new\n")),
    ] {
        let base = memory();
        if let Some(first) = first {
            put(&*base, "/a", first);
        }
        let turn = begin(&base);
        put(&turn, "/a", "own\n");
        match first {
            Some(first) => put(&turn, "/a", first),
            None => drop(now(turn.delete(&path("/a"), None)).expect("deleted")),
        }
        match last {
            Some(last) => put(&*base, "/a", last),
            None => drop(now(base.delete(&path("/a"), None)).expect("deleted")),
        }
        let rebased = now(turn.rebase(&[])).expect("rebased");
        assert!(rebased.conflicts.is_empty(), "{first:?} {last:?}");
        assert_eq!(body(&turn, "/a").as_deref(), last);
    }
}
