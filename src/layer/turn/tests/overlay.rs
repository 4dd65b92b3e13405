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
