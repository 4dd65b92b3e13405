//! Commits, undo and rebase, on backends with transactions, with a journal, and under rules.

use super::store::single;
use super::*;
use crate::files::stepping::{Steps, stepping_with};
use crate::layer::composite::Composite;
use crate::layer::policy::{Limits, Mode, Policy, Rule, Rules, Touch, stack};
use crate::protocol::Page;

fn done(outcome: Result<Outcome>) -> Receipt {
    match outcome.expect("an outcome") {
        Outcome::Done(receipt) => receipt,
        Outcome::Conflict(conflicts) => panic!("{conflicts:?}"),
    }
}

fn conflicts(outcome: Result<Outcome>) -> Vec<(String, &'static str)> {
    match outcome.expect("an outcome") {
        Outcome::Done(_) => Vec::new(),
        Outcome::Conflict(all) => all
            .into_iter()
            .map(|one| (one.path.as_str().to_owned(), one.operation))
            .collect(),
    }
}

fn committed(turn: &Turn) -> Result<Outcome> {
    block_on(turn.commit())
}

fn taken_back(base: &SharedBackend, receipt: &Receipt) -> Result<Outcome> {
    now(Box::pin(undo(
        base.clone(),
        receipt,
        "tests".into(),
        overlays(),
    )))
}

fn no_journal(base: &dyn Backend) {
    assert_eq!(body(base, "/.kitbag/turns/journal"), None);
}

/// Backends that commit in different ways.
fn each() -> Vec<SharedBackend> {
    let composite = Composite::new(memory(), [(path("/dir"), memory())]).expect("mounts");
    let parent: SharedBackend = Rc::new(begin(&memory()));
    let policy = Policy {
        quota: Some(Limits {
            max_bytes: Some(1000),
            ..Limits::default()
        }),
        ..Policy::default()
    };
    let guarded = stack(single(), policy).expect("a policy");
    let together = stepping_with(Steps::Together, None);
    let moments = stepping_with(Steps::Moments, None);
    let composite: SharedBackend = Rc::new(composite);
    vec![
        memory(),
        single(),
        composite,
        parent,
        guarded,
        together,
        moments,
    ]
}

#[test]
fn a_commit_makes_all_changes_and_undo_takes_them_back() {
    for base in each() {
        put(&*base, "/a", "one\n");
        put(&*base, "/dir/b", "two\n");
        let turn = begin(&base);
        now(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
        now(turn.delete(&path("/dir/b"), None)).expect("deleted");
        now(turn.write(&path("/dir/c"), Content::Text(bytes("three")))).expect("written");
        let receipt = done(committed(&turn));
        assert_eq!(receipt.files.len(), 3);
        assert_eq!(body(&*base, "/a").as_deref(), Some("1\n"));
        assert_eq!(body(&*base, "/dir/b"), None);
        assert_eq!(body(&*base, "/dir/c").as_deref(), Some("three"));
        no_journal(&*base);
        done(taken_back(&base, &receipt));
        assert_eq!(body(&*base, "/a").as_deref(), Some("one\n"));
        assert_eq!(body(&*base, "/dir/b").as_deref(), Some("two\n"));
        assert_eq!(body(&*base, "/dir/c"), None);
        no_journal(&*base);
        assert!(now(Box::pin(turn.diff())).expect("a diff").is_empty());
    }
}

#[test]
fn what_others_changed_is_a_conflict_and_nothing_is_changed() {
    for base in each() {
        put(&*base, "/a", "one\n");
        put(&*base, "/read", "read\n");
        let turn = begin(&base);
        now(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
        put(&turn, "/c", "new");
        put(&*base, "/a", "other\n");
        assert_eq!(conflicts(committed(&turn)), [("/a".into(), "write")]);
        assert_eq!(body(&*base, "/c"), None);
        no_journal(&*base);

        let turn = begin(&base);
        assert_eq!(body(&turn, "/read").as_deref(), Some("read\n"));
        now(turn.ls(&path("/"))).expect("listed");
        put(&turn, "/a", "mine");
        put(&*base, "/read", "reread\n");
        put(&*base, "/new", "");
        assert_eq!(
            conflicts(committed(&turn)),
            [("/".into(), "ls"), ("/read".into(), "read")]
        );
        assert_eq!(body(&*base, "/a").as_deref(), Some("other\n"));
        no_journal(&*base);
    }
}

#[test]
fn undo_is_refused_over_newer_work() {
    for base in each() {
        put(&*base, "/a", "one\n");
        let turn = begin(&base);
        put(&turn, "/a", "two\n");
        put(&turn, "/b", "new\n");
        let receipt = done(committed(&turn));
        put(&*base, "/b", "newer\n");
        assert_eq!(
            conflicts(taken_back(&base, &receipt)),
            [("/b".into(), "write")]
        );
        assert_eq!(body(&*base, "/a").as_deref(), Some("two\n"));
    }
}

#[test]
fn a_read_that_was_different_in_between_is_a_conflict() {
    let base = memory();
    let turn = begin(&base);
    assert_eq!(body(&turn, "/a"), None);
    put(&turn, "/b", "new\n");
    let other = begin(&base);
    put(&other, "/a", "one\n");
    let receipt = done(committed(&other));
    assert_eq!(body(&turn, "/a").as_deref(), Some("one\n"));
    done(taken_back(&base, &receipt));
    assert_eq!(body(&turn, "/a"), None);
    assert_eq!(conflicts(committed(&turn)), [("/a".into(), "read")]);
    now(Box::pin(turn.rebase(&[]))).expect("rebased");
    done(committed(&turn));
}

#[test]
fn the_same_pages_and_matches_elsewhere_are_no_conflict() {
    let base = memory();
    put(&*base, "/long", "a\nb\nc\nd\n");
    let turn = begin(&base);
    let first = Page {
        offset: 0,
        limit: 2,
    };
    now(turn.read(&path("/long"), first)).expect("read");
    now(turn.grep(&GrepQuery::literal("b"))).expect("found");
    put(&turn, "/x", "1");
    put(&*base, "/long", "a\nb\nc\nother\n");
    done(committed(&turn));
    let turn = begin(&base);
    now(turn.grep(&GrepQuery::literal("b"))).expect("found");
    put(&*base, "/more", "b");
    assert_eq!(conflicts(committed(&turn)), [("/".into(), "grep")]);
}

#[test]
fn a_change_that_fails_midway_is_taken_back() {
    let files = single();
    let base: SharedBackend = files.clone();
    put(&*base, "/a", "one\n");
    put(&*base, "/b", "two\n");
    // Of the puts of a commit: the journal twice, then the files.
    for fails in 0..4 {
        let turn = begin(&base);
        put(&turn, "/a", "1\n");
        put(&turn, "/b", "2\n");
        files.storage().fails.set(Some(fails));
        let error = committed(&turn).expect_err("no room");
        assert_eq!(error.kind(), Kind::QuotaExceeded, "{fails}: {error}");
        assert_eq!(body(&*base, "/a").as_deref(), Some("one\n"), "{fails}");
        assert_eq!(body(&*base, "/b").as_deref(), Some("two\n"), "{fails}");
        files.storage().fails.set(None);
        done(committed(&begin(&base)));
        no_journal(&*base);
    }
}

#[test]
fn rules_judge_a_commit_before_anything_is_changed() {
    for inner in [memory(), single()] {
        put(&*inner, "/a", "one\n");
        put(&*inner, "/secret/s", "hidden\n");
        let rules = vec![
            Rule::new(&[Touch::Read, Touch::Write], Mode::Deny, ["/secret/**"]).expect("a rule"),
        ];
        let policy = Policy {
            permissions: Some(Rules::new(rules, true)),
            quota: Some(Limits {
                max_bytes: Some(40),
                ..Limits::default()
            }),
            ..Policy::default()
        };
        let base = stack(inner.clone(), policy).expect("a policy");
        let turn = begin(&base);
        put(&turn, "/a", "two\n");
        put(&turn, "/z", "three\n");
        // The rules refuse it in the turn, as it reads the file first.
        let answer = now(turn.upload(vec![(path("/secret/s"), bytes("mine"))]));
        assert_eq!(
            answer[0].as_ref().expect_err("refused").kind(),
            Kind::PermissionDenied
        );
        let big = begin(&base);
        put(&big, "/a", "two\n");
        put(&big, "/big", &"x".repeat(50));
        let error = committed(&big).expect_err("over the quota");
        assert_eq!(error.kind(), Kind::QuotaExceeded);
        assert!(error.to_string().contains("nothing was changed"), "{error}");
        assert_eq!(body(&*inner, "/a").as_deref(), Some("one\n"));
        done(committed(&turn));
        assert_eq!(body(&*inner, "/a").as_deref(), Some("two\n"));
        assert_eq!(body(&*inner, "/z").as_deref(), Some("three\n"));
        // The quota counts what the commit stored.
        let full = now(base.write(&path("/more"), Content::Text(bytes(&"y".repeat(30)))));
        assert_eq!(full.expect_err("full").kind(), Kind::QuotaExceeded);
    }
}

#[test]
fn nothing_that_rules_refuse_gets_in_by_a_turn() {
    let inner = single();
    let shared: SharedBackend = inner.clone();
    put(&*shared, "/fixed/f", "fixed\n");
    let policy = Policy {
        deny_prefixes: vec![path("/fixed")],
        ..Policy::default()
    };
    let base = stack(shared.clone(), policy).expect("a policy");
    let turn = begin(&base);
    put(&turn, "/a", "new\n");
    now(turn.delete(&path("/fixed/f"), None)).expect("in the turn only");
    let error = committed(&turn).expect_err("refused");
    assert_eq!(error.kind(), Kind::PermissionDenied);
    assert_eq!(body(&*shared, "/fixed/f").as_deref(), Some("fixed\n"));
    assert_eq!(body(&*shared, "/a"), None);
    let nested: SharedBackend = Rc::new(turn);
    let child = begin(&nested);
    put(&child, "/fixed/g", "new\n");
    done(committed(&child));
    assert_eq!(body(&*shared, "/fixed/g"), None);
}

#[test]
fn a_rebase_merges_lines_and_lists_what_it_cannot_merge() {
    let base = memory();
    let text = "1\n2\n3\n4\n5\n";
    for at in ["/merge", "/same", "/clash", "/gone", "/deleted", "/both"] {
        put(&*base, at, text);
    }
    let turn = begin(&base);
    now(turn.edit(&path("/merge"), &edit("1", "one"))).expect("edited");
    now(turn.edit(&path("/same"), &edit("1", "one"))).expect("edited");
    now(turn.edit(&path("/clash"), &edit("1", "one"))).expect("edited");
    now(turn.edit(&path("/gone"), &edit("1", "one"))).expect("edited");
    now(turn.delete(&path("/deleted"), None)).expect("deleted");
    now(turn.delete(&path("/both"), None)).expect("deleted");
    put(&*base, "/merge", "1\n2\n3\n4\nfive\n");
    put(&*base, "/same", "one\n2\n3\n4\n5\n");
    put(&*base, "/clash", "ONE\n2\n3\n4\n5\n");
    now(base.delete(&path("/gone"), None)).expect("deleted");
    put(&*base, "/deleted", "other\n");
    now(base.delete(&path("/both"), None)).expect("deleted");
    let rebased = now(Box::pin(turn.rebase(&[]))).expect("rebased");
    assert_eq!(rebased.merged, [path("/merge")]);
    let listed: Vec<&str> = rebased
        .conflicts
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(listed, ["/clash", "/deleted", "/gone"]);
    assert_eq!(
        body(&turn, "/merge").as_deref(),
        Some("one\n2\n3\n4\nfive\n")
    );
    assert_eq!(conflicts(committed(&turn)).len(), 3);
    now(Box::pin(turn.rebase(&["/{clash,gone,deleted}".into()]))).expect("rebased");
    done(committed(&turn));
    assert_eq!(
        body(&*base, "/merge").as_deref(),
        Some("one\n2\n3\n4\nfive\n")
    );
    assert_eq!(body(&*base, "/clash").as_deref(), Some("one\n2\n3\n4\n5\n"));
    assert_eq!(body(&*base, "/gone").as_deref(), Some("one\n2\n3\n4\n5\n"));
    assert_eq!(body(&*base, "/deleted"), None);
}

#[test]
fn a_turn_commits_into_the_turn_below() {
    let base = memory();
    put(&*base, "/a", "one\n");
    let parent = Rc::new(begin(&base));
    let shared: SharedBackend = parent.clone();
    let child = begin(&shared);
    now(child.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    put(&child, "/b", "new");
    done(committed(&child));
    assert_eq!(body(&*base, "/a").as_deref(), Some("one\n"));
    assert_eq!(body(&*parent, "/a").as_deref(), Some("1\n"));
    done(committed(&parent));
    assert_eq!(body(&*base, "/a").as_deref(), Some("1\n"));
    assert_eq!(body(&*base, "/b").as_deref(), Some("new"));
}

#[test]
fn a_diff_shows_each_kind_of_change() {
    let base = memory();
    put(&*base, "/change", "1\n2\n3\n4\n5\n6\n");
    put(&*base, "/move", "moved\n");
    put(&*base, "/delete", "deleted\n");
    put(&*base, "/same", "same\n");
    let turn = begin(&base);
    now(turn.edit(&path("/change"), &edit("1\n", "one\n"))).expect("edited");
    now(turn.edit(&path("/change"), &edit("6\n", "six\n"))).expect("edited");
    put(&turn, "/moved/here", "moved\n");
    now(turn.delete(&path("/move"), None)).expect("deleted");
    now(turn.delete(&path("/delete"), None)).expect("deleted");
    put(&turn, "/created", "new\n");
    put(&turn, "/same", "same\n");
    let diff = || now(Box::pin(turn.diff())).expect("a diff");
    let seen: Vec<(String, ChangeKind, usize)> = diff()
        .into_iter()
        .map(|one| (one.path.as_str().to_owned(), one.kind, one.hunks.len()))
        .collect();
    assert_eq!(
        seen,
        [
            ("/change".into(), ChangeKind::Changed, 2),
            ("/created".into(), ChangeKind::Created, 1),
            ("/delete".into(), ChangeKind::Deleted, 1),
            ("/moved/here".into(), ChangeKind::Moved(path("/move")), 0),
        ]
    );
    let second: Rc<str> = format!("{}.1", diff()[0].name).into();
    now(Box::pin(turn.accept(std::slice::from_ref(&second)))).expect("accepted");
    assert_eq!(
        body(&turn, "/change").as_deref(),
        Some("1\n2\n3\n4\n5\nsix\n")
    );
    let error = now(Box::pin(turn.accept(&[second]))).expect_err("an old hunk");
    assert_eq!(error.kind(), Kind::NoMatch);
    let gone = now(Box::pin(turn.discard(&["/{moved/**,move,cr*}".into()]))).expect("discarded");
    assert_eq!(gone.len(), 3);
    assert_eq!(body(&turn, "/move").as_deref(), Some("moved\n"));
    done(committed(&turn));
    assert_eq!(names(&*base, "/"), ["/change", "/move", "/same"]);
}

#[test]
fn a_moved_file_is_dropped_whole_by_either_of_its_paths() {
    for pattern in ["/old/report", "/report", "/old/**", "/rep*"] {
        for base in each() {
            put(&*base, "/report", "precious\n");
            put(&*base, "/other", "o\n");
            let turn = begin(&base);
            put(&turn, "/old/report", "precious\n");
            now(turn.delete(&path("/report"), None)).expect("deleted");
            now(turn.delete(&path("/other"), None)).expect("deleted");
            let gone = now(Box::pin(turn.discard(&[pattern.into()]))).expect("discarded");
            assert_eq!(gone, [path("/old/report"), path("/report")], "{pattern}");
            assert_eq!(body(&turn, "/report").as_deref(), Some("precious\n"));
            done(committed(&turn));
            assert_eq!(body(&*base, "/report").as_deref(), Some("precious\n"));
            assert_eq!(body(&*base, "/old/report"), None);
            assert_eq!(body(&*base, "/other"), None);
        }
    }
}

#[test]
fn a_commit_in_one_step_whose_answer_is_lost_is_made_or_not_and_says_which() {
    for steps in [Steps::Together, Steps::Moments] {
        let base = stepping_with(steps, Some(0));
        put(&*base, "/a", "one\n");
        let turn = begin(&base);
        now(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
        put(&turn, "/b", "two\n");
        let receipt = done(committed(&turn));
        assert_eq!(receipt.files.len(), 2);
        assert_eq!(body(&*base, "/a").as_deref(), Some("1\n"));
        assert_eq!(body(&*base, "/b").as_deref(), Some("two\n"));
        no_journal(&*base);
    }
}
