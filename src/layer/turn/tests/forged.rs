//! Journals that somebody else wrote, or planted: they do no more than whoever finds them may do, and
//! stop nobody's work.

use super::store::single;
use super::*;
use crate::layer::policy::{Policy, stack};
use crate::side::{Key, Room, Writer};

const JOURNAL: &str = "/.kitbag/turns/journal";

/// A journal as another process writes it: `p`, `a` or `u` for its stage; path, before, after.
fn journal(stage: u8, files: &[(&str, Option<&str>, Option<&str>)]) -> String {
    let key = Key::of(b"the key of another process").expect("a key");
    let room = Room::new(memory(), path("/.kitbag/turns"), Some(key));
    journal_in(&room, stage, files)
}

fn journal_in(room: &Room, stage: u8, files: &[(&str, Option<&str>, Option<&str>)]) -> String {
    let mut out = Writer::default();
    out.text(match stage {
        b'p' => "preparing",
        b'a' => "applying",
        _ => "undoing",
    });
    out.number(7);
    for (path, before, after) in files {
        out.text(path);
        out.part(before.map(str::as_bytes));
        out.part(after.map(str::as_bytes));
        out.part(None);
    }
    let sealed = now(room.sealed("journal", "journal", &out.finish()));
    String::from_utf8(sealed.to_vec()).expect("text")
}

/// The contents of the files that were moved aside.
fn aside(base: &dyn Backend) -> Vec<String> {
    let infos = now(base.ls(&path("/.kitbag/turns/.aside"))).expect("listed");
    infos
        .iter()
        .filter_map(|info| body(base, info.path.as_str()))
        .collect()
}

/// A backend with this journal, under a rule that keeps everything below `/skills` as it is.
fn guarded(journal: &str) -> (SharedBackend, SharedBackend) {
    let inner: SharedBackend = single();
    put(&*inner, "/skills/s", "good");
    put(&*inner, "/a", "one");
    put(&*inner, JOURNAL, journal);
    let policy = Policy {
        deny_prefixes: vec![path("/skills")],
        ..Policy::default()
    };
    let base = stack(inner.clone(), policy).expect("a policy");
    (inner, base)
}

/// Lets a turn that only reads find each of these journals, and checks what is there then.
fn each<T>(cases: &[(String, T)], check: impl Fn(&SharedBackend, &str, &T)) {
    for (journal, expected) in cases {
        let (inner, base) = guarded(journal);
        assert_eq!(names(&begin(&base), "/"), names(&*inner, "/"), "{journal}");
        check(&inner, journal, expected);
    }
}

#[test]
fn a_planted_journal_changes_nothing_that_the_rules_of_its_finder_forbid() {
    let journals = [
        journal(b'a', &[("/skills/s", Some("good"), Some("evil"))]),
        journal(b'a', &[("/skills/new", None, Some("evil"))]),
        journal(b'a', &[("/skills/s", Some("good"), None)]),
        journal(b'u', &[("/skills/s", Some("evil"), Some("good"))]),
        journal(b'u', &[("/skills/s", None, Some("good"))]),
        // Taken back, because a file holds something else.
        journal(
            b'a',
            &[
                ("/skills/s", Some("evil"), Some("good")),
                ("/a", Some("other"), Some("x")),
            ],
        ),
        journal(b'a', &[("/.kitbag/history/log/1", None, Some("evil"))]),
        String::from("garbage"),
        String::new(),
        "x".repeat(200),
    ];
    each(
        &journals.map(|journal| (journal, ())),
        |inner, journal, ()| {
            assert_eq!(body(&**inner, "/a").as_deref(), Some("one"), "{journal}");
            assert_eq!(body(&**inner, "/skills/s").as_deref(), Some("good"));
            assert_eq!(body(&**inner, "/skills/new"), None);
            assert_eq!(body(&**inner, "/.kitbag/history/log/1"), None);
            assert_eq!(body(&**inner, JOURNAL), None);
            assert_eq!(aside(&**inner), [journal]);
            // And the work goes on.
            let turn = begin(inner);
            put(&turn, "/b", "new");
            assert!(matches!(now(Box::pin(turn.commit())), Ok(Outcome::Done(_))));
        },
    );
}

#[test]
fn a_commit_of_another_process_is_finished_by_whoever_may_make_its_changes() {
    let journals = [
        journal(
            b'a',
            &[("/a", Some("zero"), Some("one")), ("/b", None, Some("new"))],
        ),
        journal(
            b'u',
            &[("/a", Some("zero"), Some("one")), ("/b", None, Some("new"))],
        ),
        journal(b'p', &[("/skills/s", Some("good"), Some("evil"))]),
    ];
    let expected = [
        (Some("one"), Some("new")),
        (Some("zero"), None),
        (Some("one"), None),
    ];
    let cases: Vec<_> = journals.into_iter().zip(expected).collect();
    each(&cases, |inner, _, &(a, b)| {
        assert_eq!(body(&**inner, "/a").as_deref(), a);
        assert_eq!(body(&**inner, "/b").as_deref(), b);
        assert_eq!(body(&**inner, "/skills/s").as_deref(), Some("good"));
        assert_eq!(body(&**inner, JOURNAL), None);
        assert_eq!(aside(&**inner), Vec::<String>::new());
    });
}

#[test]
fn a_journal_of_this_process_that_it_did_not_leave_is_judged_like_any_other() {
    let room = Room::of_process(memory(), path("/.kitbag/turns"));
    // Somebody has kept a copy of one that was carried out, when the rules were others.
    let journals = [
        journal_in(&room, b'a', &[("/skills/s", Some("good"), Some("evil"))]),
        journal_in(&room, b'u', &[("/skills/s", Some("evil"), Some("good"))]),
    ];
    each(
        &journals.map(|journal| (journal, ())),
        |inner, journal, ()| {
            assert_eq!(body(&**inner, "/skills/s").as_deref(), Some("good"));
            assert_eq!(body(&**inner, JOURNAL), None);
            assert_eq!(aside(&**inner), [journal]);
        },
    );
}
