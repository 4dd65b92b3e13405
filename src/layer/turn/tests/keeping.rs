//! Turns that are kept in a backend: whatever step a process ends at, the next one goes on with the
//! turn as it was before or after the call.

use std::collections::BTreeMap;

use super::store::single;
use super::*;
use crate::files::stepping::{polled, stepping};
use crate::protocol::Page;
use crate::side::Room;

fn kept(base: &SharedBackend, keep: &SharedBackend) -> Turn {
    let turn = begin(base);
    turn.keep_in(Room::new(keep.clone(), path("/turns"), None), "t");
    turn
}

fn finished<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn files_of(backend: &dyn Backend) -> Vec<(String, String)> {
    let all = GlobQuery::new("**", VPath::root());
    let mut files: Vec<(String, String)> = now(backend.glob(&all))
        .expect("listed")
        .files
        .into_iter()
        .map(|info| {
            let name = info.path.as_str().to_owned();
            let text = body(backend, &name).expect("a file");
            (name, text)
        })
        .collect();
    files.sort();
    files
}

/// What a turn changes, and what it has read.
async fn view(turn: &Turn) -> String {
    let changes = turn.diff().await.expect("a diff");
    let noted = turn.overlay.reads.borrow().all();
    let questions: BTreeMap<String, ()> = noted
        .into_iter()
        .map(|(question, _)| (format!("{question:?}"), ()))
        .collect();
    format!("{changes:#?} {questions:#?}")
}

const STEPS: usize = 12;

/// One call of a turn.
async fn step(turn: &Turn, at: usize) {
    let upload = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(at, text)| (path(at), bytes(text)));
        turn.upload(files.collect())
    };
    match at {
        0 => drop(turn.read(&path("/r"), Page::default()).await.expect("read")),
        1 => drop(
            turn.edit(&path("/a"), &edit("one", "1"))
                .await
                .expect("edited"),
        ),
        2 => drop(
            turn.write(&path("/new"), Content::Raw(bytes("new"), None))
                .await,
        ),
        3 => drop(turn.delete(&path("/dir"), None).await.expect("deleted")),
        4 => drop(upload(&[("/b", "b\n"), ("/dir/d", "d\n"), ("/x.bin", "\0")]).await),
        5 => drop(
            turn.grep(&GrepQuery::literal("one"))
                .await
                .expect("searched"),
        ),
        6 => drop(turn.discard(&["/new".into()]).await.expect("discarded")),
        7 => drop(
            turn.edit(&path("/a"), &edit("1", "I"))
                .await
                .expect("edited"),
        ),
        8 => drop(turn.delete(&path("/b"), None).await.expect("deleted")),
        9 => {
            let text = LONG.replace("2\n", "two\n").replace("8\n", "eight\n");
            drop(upload(&[("/long", &text)]).await);
        }
        10 => {
            let changes = turn.diff().await.expect("a diff");
            let of_long = changes.iter().find(|one| one.path.as_str() == "/long");
            let first = format!("{}.0", of_long.expect("a change").name);
            turn.accept(&[first.into()]).await.expect("accepted");
        }
        _ => drop(turn.rebase(&[]).await.expect("rebased")),
    }
}

const LONG: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn base() -> SharedBackend {
    let base: SharedBackend = single();
    for (at, text) in [("/a", "one\n"), ("/b", "two\n"), ("/dir/c", "c\n")] {
        put(&*base, at, text);
    }
    put(&*base, "/r", "r\n");
    put(&*base, "/long", LONG);
    base
}

#[test]
fn a_process_that_ends_at_any_step_leaves_the_turn_before_or_after_the_call() {
    let model = begin(&base());
    let mut views = vec![finished(view(&model))];
    for at in 0..STEPS {
        finished(step(&model, at));
        views.push(finished(view(&model)));
    }
    let expected = files_of(&model);

    let mut ends = 0;
    for polls in 0.. {
        let (base, keep) = (base(), stepping());
        let made = Cell::new(0);
        let turn = kept(&base, &keep);
        let mut work: LocalBoxFuture<'_, ()> = Box::pin(async {
            for at in 0..STEPS {
                step(&turn, at).await;
                made.set(at + 1);
            }
        });
        let is_done = (0..=polls).any(|_| polled(&mut work).is_some());
        drop(work);
        drop(turn);

        let turn = kept(&base, &keep);
        let seen = finished(view(&turn));
        let made = made.get();
        let from = if seen == views[made] {
            made
        } else {
            assert!(made < STEPS && seen == views[made + 1], "{polls}: {seen}");
            made + 1
        };
        for at in from..STEPS {
            finished(step(&turn, at));
        }
        assert_eq!(finished(view(&turn)), views[STEPS], "{polls}");
        let done = finished(turn.commit()).expect("committed");
        assert!(matches!(done, Outcome::Done(_)), "{done:?}");
        assert_eq!(files_of(&*base), expected);
        assert_eq!(files_of(&*keep), []);
        ends += 1;
        if is_done {
            break;
        }
    }
    assert!(ends > STEPS, "{ends}");
}

#[test]
fn a_process_that_ends_in_a_commit_leaves_all_of_it_or_nothing_and_the_next_one_finishes_it() {
    for journal in [true, false] {
        let mut lasted = 0;
        for polls in 0.. {
            let base = if journal { stepping() } else { memory() };
            let keep = stepping();
            for (at, text) in [("/a", "one\n"), ("/b", "two\n")] {
                finished(base.upload(vec![(path(at), bytes(text))]));
            }
            let turn = kept(&base, &keep);
            finished(turn.read(&path("/b"), Page::default())).expect("read");
            finished(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
            finished(turn.edit(&path("/b"), &edit("two", "2"))).expect("edited");
            finished(turn.write(&path("/c"), Content::Raw(bytes("c"), None))).expect("written");
            let mut commit: LocalBoxFuture<'_, Result<Outcome>> = Box::pin(turn.commit());
            let is_done = (0..=polls).any(|_| polled(&mut commit).is_some());
            drop(commit);
            drop(turn);

            let turn = kept(&base, &keep);
            let outcome = finished(turn.commit()).expect("an outcome");
            assert!(matches!(outcome, Outcome::Done(_)), "{polls}: {outcome:?}");
            let expected = [("/a", "1\n"), ("/b", "2\n"), ("/c", "c")];
            let expected = expected.map(|(at, text)| (at.to_owned(), text.to_owned()));
            assert_eq!(files_of(&*base), expected, "{polls}");
            assert_eq!(files_of(&*keep), [], "{polls}");
            lasted = polls;
            if is_done {
                break;
            }
        }
        assert!(lasted > 6, "{lasted}");
    }
}

#[test]
fn what_was_read_before_a_restart_is_checked_by_the_commit() {
    let reads: [fn(&Turn); 5] = [
        |turn| drop(finished(turn.read(&path("/r"), Page::default()))),
        |turn| drop(finished(turn.download(&[path("/r")]))),
        |turn| drop(finished(turn.read_raw(&path("/r")))),
        |turn| drop(finished(turn.grep(&GrepQuery::literal("r")))),
        |turn| drop(finished(turn.edit(&path("/r"), &edit("absent", "")))),
    ];
    for (at, read) in reads.iter().enumerate() {
        let (base, keep) = (base(), stepping());
        let turn = kept(&base, &keep);
        finished(turn.write(&path("/new"), Content::Raw(bytes("new"), None))).expect("written");
        read(&turn);
        drop(turn);
        put(&*base, "/r", "other r\n");
        let turn = kept(&base, &keep);
        let outcome = finished(turn.commit()).expect("an outcome");
        assert!(matches!(outcome, Outcome::Conflict(_)), "{at}");
        assert_eq!(body(&*base, "/new"), None);
    }
}

#[test]
fn discarding_all_changes_deletes_what_is_kept() {
    let (base, keep) = (base(), stepping());
    let turn = kept(&base, &keep);
    finished(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    finished(turn.ls(&path("/"))).expect("listed");
    assert!(!files_of(&*keep).is_empty());
    finished(turn.discard(&["/**".into()])).expect("discarded");
    assert_eq!(files_of(&*keep), []);
    finished(turn.edit(&path("/a"), &edit("one", "2"))).expect("edited");
    let again = kept(&base, &keep);
    assert_eq!(finished(again.diff()).expect("a diff").len(), 1);
}

#[test]
fn a_second_process_that_goes_on_with_a_turn_stops_the_first() {
    let (base, keep) = (base(), stepping());
    let first = kept(&base, &keep);
    finished(first.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    let second = kept(&base, &keep);
    finished(second.edit(&path("/a"), &edit("1", "2"))).expect("edited");
    let refused = finished(first.edit(&path("/a"), &edit("1", "3"))).expect_err("refused");
    assert_eq!(refused.kind(), Kind::Conflict);
    assert_eq!(body(&first, "/a").as_deref(), Some("1\n"));
    assert!(finished(first.commit()).is_err());
    assert_eq!(body(&*base, "/a").as_deref(), Some("one\n"));
    finished(second.commit()).expect("committed");
    assert_eq!(body(&*base, "/a").as_deref(), Some("2\n"));
}

#[test]
fn an_entry_that_was_broken_off_is_left_out_and_a_gap_is_refused() {
    let (base, keep) = (base(), stepping());
    let turn = kept(&base, &keep);
    finished(turn.edit(&path("/a"), &edit("one", "1"))).expect("edited");
    finished(turn.edit(&path("/a"), &edit("1", "2"))).expect("edited");
    let last = body(&*keep, "/turns/t/log/00000002").expect("an entry");
    for end in [0, 1, last.len() / 2, last.len() - 1] {
        finished(keep.upload(vec![(path("/turns/t/log/00000002"), bytes(&last[..end]))]));
        let turn = kept(&base, &keep);
        assert_eq!(finished(fetched(&turn, "/a")).as_deref(), Some("1\n"));
        finished(turn.edit(&path("/a"), &edit("1", "2"))).expect("edited");
    }
    finished(kept(&base, &keep).edit(&path("/a"), &edit("2", "3"))).expect("edited");
    finished(keep.delete(&path("/turns/t/log/00000002"), None)).expect("deleted");
    let refused = finished(kept(&base, &keep).diff()).expect_err("refused");
    assert_eq!(refused.kind(), Kind::Unavailable);
}

async fn fetched(turn: &Turn, at: &str) -> Option<String> {
    let answer = turn.download(&[path(at)]).await.remove(0);
    answer
        .ok()
        .map(|body| String::from_utf8_lossy(&body).into_owned())
}

#[test]
fn a_call_that_cannot_be_kept_changes_nothing() {
    let keep = single();
    let (base, shared): (SharedBackend, SharedBackend) = (base(), keep.clone());
    let turn = kept(&base, &shared);
    finished(step(&turn, 1));
    let before = finished(view(&turn));
    for at in [2, 3, 4, 6, 7, 8] {
        keep.storage().fails.set(Some(0));
        let _ = finished(async {
            match at {
                2 => turn
                    .write(&path("/new"), Content::Raw(bytes("new"), None))
                    .await
                    .map(drop),
                3 => turn.delete(&path("/dir"), None).await.map(drop),
                4 => turn
                    .upload(vec![(path("/a"), bytes("A")), (path("/u"), bytes("u"))])
                    .await
                    .remove(0),
                6 => turn.discard(&["/a".into()]).await.map(drop),
                7 => turn.edit(&path("/a"), &edit("1", "I")).await.map(drop),
                _ => turn.delete(&path("/a"), None).await.map(drop),
            }
        })
        .expect_err("refused");
        keep.storage().fails.set(None);
        assert_eq!(
            finished(changed(&turn)),
            finished(changed(&kept(&base, &shared)))
        );
        assert!(before.starts_with(&finished(changed(&turn))), "{at}");
    }
}

async fn changed(turn: &Turn) -> String {
    format!("{:#?}", turn.diff().await.expect("a diff"))
}

#[test]
fn a_long_turn_is_written_anew_so_that_it_takes_little_room() {
    let (base, keep) = (base(), stepping());
    let turn = kept(&base, &keep);
    for at in 0..1_100 {
        let text = format!("{at}\n");
        finished(turn.upload(vec![(path("/a"), bytes(&text))]));
    }
    assert!(files_of(&*keep).len() < 200);
    let wide = "x".repeat(300_000);
    for at in 0..20 {
        finished(turn.upload(vec![(path("/w"), bytes(&format!("{at}{wide}")))]));
    }
    let size: usize = files_of(&*keep).iter().map(|(_, text)| text.len()).sum();
    assert!(size < 3_000_000, "{size}");
    let again = kept(&base, &keep);
    assert_eq!(finished(changed(&again)), finished(changed(&turn)));
}
