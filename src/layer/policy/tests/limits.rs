//! Rate limits and quotas, also for calls that are concurrent or cancelled.

use futures_util::future::join_all;

use super::slow::Slow;
use super::*;
use crate::files::WriteMode;

#[test]
fn a_rate_is_a_sliding_window_and_says_when_to_come_again() {
    let (clock, seams) = clocked();
    let rate = |covers, operations| Rate {
        covers,
        operations,
        per: Duration::from_millis(1000),
    };
    let policy = Policy {
        rates: Rates::new([
            rate(Covers::Everything, 5),
            rate(Covers::Writes, 2),
            rate(Covers::Only(Operation::Edit), 1),
        ]),
        seams,
        ..Policy::default()
    };
    let backend = stack(with(&[("/a", "x")]), policy).expect("a policy");
    write(&backend, "/b", "x").expect("first");
    clock.set(clock.get() + 400);
    edit(&backend, "/a", "x", "y").expect("second");
    let error = write(&backend, "/c", "x").expect_err("third write");
    assert_eq!(error.code(), "rate_limited");
    assert_eq!(error.wait(), Some(Duration::from_millis(600)));
    for _ in 0..3 {
        read(&backend, "/a").expect("reads are left");
    }
    assert_eq!(code(read(&backend, "/a")), "rate_limited");
    clock.set(clock.get() + 600);
    write(&backend, "/c", "x").expect("the first one is past");
    assert_eq!(code(write(&backend, "/d", "x")), "rate_limited");
    clock.set(clock.get() - 1_000_000);
    assert_eq!(code(write(&backend, "/d", "x")), "rate_limited");
    clock.set(clock.get() + 1000);
    let batch = ["/d", "/e", "/f"].map(|at| (path(at), Bytes::new()));
    let stored: Vec<bool> = now(backend.upload(batch.to_vec()))
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(stored, [true, true, false]);
}

fn limited(
    inner: SharedBackend,
    max_bytes: u64,
    max_files: u64,
    max_file_bytes: u64,
) -> SharedBackend {
    let limits = Limits {
        max_bytes: Some(max_bytes),
        max_files: Some(max_files),
        max_file_bytes: Some(max_file_bytes),
    };
    stack(
        inner,
        Policy {
            quota: Some(limits),
            ..Policy::default()
        },
    )
    .expect("a policy")
}

#[test]
fn a_quota_counts_writes_edits_uploads_and_deletes() {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    let inner: SharedBackend = Rc::new(Files::new(Memory::default(), options));
    write(&inner, "/old", "1234").expect("before the quota");
    let backend = limited(inner, 10, 3, 8);
    assert_eq!(code(write(&backend, "/a", "1234567")), "quota_exceeded");
    assert_eq!(code(write(&backend, "/old", "123456789")), "quota_exceeded");
    write(&backend, "/a", "123456").expect("10 of 10");
    assert_eq!(code(write(&backend, "/b", "1")), "quota_exceeded");
    write(&backend, "/b", "").expect("an empty one");
    assert_eq!(code(write(&backend, "/c", "")), "quota_exceeded");
    assert_eq!(code(edit(&backend, "/a", "6", "67")), "quota_exceeded");
    edit(&backend, "/a", "56", "").expect("shrinks");
    edit(&backend, "/old", "4", "456").expect("10 of 10 again");
    now(backend.delete(&path("/b"), None)).expect("deleted");
    let batch = vec![
        (path("/a"), bytes("12")),
        (path("/a"), bytes("123")),
        (path("/a"), bytes("12345")),
        (path("/d"), Bytes::new()),
    ];
    let stored: Vec<bool> = now(backend.upload(batch))
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(stored, [true, true, false, true]);
    write(&backend, "/a", "1234").expect("10 of 10 once more");
    assert_eq!(code(write(&backend, "/a", "12345")), "quota_exceeded");
    now(backend.delete(&VPath::root(), None)).expect("all");
    write(&backend, "/x/a", "12345678").expect("all is free");
    now(backend.delete(&path("/x"), None)).expect("a directory");
    write(&backend, "/a", "12345678").expect("free again");
    assert_eq!(
        code(write(&backend, "/img.png", "YWFhYWFhYWFh")),
        "quota_exceeded"
    );
    write(&backend, "/img.png", "YWE=").expect("two bytes, not four");
}

#[test]
fn a_burst_of_writes_cannot_pass_a_quota_together() {
    let backend = limited(Rc::new(Slow(memory())), 50, 7, 100);
    let mut writes = (0..20)
        .map(|n| {
            let backend = backend.clone();
            async move {
                let place = path(&format!("/f{n}"));
                backend
                    .write(&place, Content::Text(bytes("1234567890")))
                    .await
                    .is_ok()
            }
        })
        .collect::<Vec<_>>();
    writes.reverse();
    let answers = block_on(join_all(writes));
    assert_eq!(answers.iter().filter(|stored| **stored).count(), 5);
}

#[test]
fn clones_of_a_policy_count_together_whatever_they_are_put_round() {
    let rate = Rate {
        covers: Covers::Everything,
        operations: 3,
        per: Duration::from_secs(3600),
    };
    let policy = Policy {
        rates: Rates::new([rate]),
        ..Policy::default()
    };
    let answers: Vec<bool> = (0..5)
        .map(|n| {
            let backend = stack(memory(), policy.clone()).expect("a policy");
            write(&backend, &format!("/f{n}"), "x").is_ok()
        })
        .collect();
    assert_eq!(answers, [true, true, true, false, false]);
}

#[test]
fn a_burst_over_several_views_of_the_same_files_cannot_pass_a_quota_together() {
    let stored = |one_at_a_time: Option<OneAtATime>| {
        let files: SharedBackend = Rc::new(Slow(memory()));
        let policy = Policy {
            quota: Some(Limits {
                max_bytes: Some(50),
                ..Limits::default()
            }),
            one_at_a_time,
            ..Policy::default()
        };
        let writes = (0..20).map(|n| {
            let view = stack(files.clone(), policy.clone()).expect("a policy");
            async move {
                let place = path(&format!("/f{n}"));
                let content = Content::Text(bytes("1234567890"));
                view.write(&place, content).await.is_ok()
            }
        });
        let answers = block_on(join_all(writes));
        answers.iter().filter(|stored| **stored).count()
    };
    assert_eq!(stored(Some(OneAtATime::default())), 5);
    // Without serialization each write is checked before any is stored.
    assert_eq!(stored(None), 20);
}

#[test]
fn a_write_given_up_half_way_leaves_the_quota_right() {
    let backend = limited(Rc::new(Slow(memory())), 10, 9, 10);
    let place = path("/a");
    let mut call = backend.write(&place, Content::Text(bytes("1234567890")));
    assert!(waits(&mut call));
    drop(call);
    let place = path("/b");
    let answer = block_on(backend.write(&place, Content::Text(bytes("1234567890"))));
    answer.expect("the room of the first was given back");
}
