//! Runs over trees in memory: the table of meanings, merges, conflict copies, rules, and what is lost.

mod created;

use std::rc::Rc;

use bytes::Bytes;

use super::entry::Stamp;
use super::*;
use crate::core::testing::path;
use crate::files::stepping::ended;
use crate::layer::policy::{Policy, Rule, Rules, Touch, stack};
use crate::layer::tests::memory;
use crate::protocol::{BackendExt, FileInfo, files_beneath};

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

/// Two trees, and where is kept what they agreed on.
struct Trees {
    a: SharedBackend,
    b: SharedBackend,
    kept: SharedBackend,
    options: SyncOptions,
}

fn trees() -> Trees {
    Trees {
        a: memory(),
        b: memory(),
        kept: memory(),
        options: SyncOptions {
            names: Pair {
                a: "one".into(),
                b: "two".into(),
            },
            ..SyncOptions::default()
        },
    }
}

fn put(at: &SharedBackend, name: &str, text: &str) {
    let body = Bytes::copy_from_slice(text.as_bytes());
    now(at.store(&path(name), body)).expect("stored");
}

fn gone(at: &SharedBackend, name: &str) {
    now(at.delete(&path(name), None)).expect("deleted");
}

/// The files of a tree, as `name: text`.
fn files(at: &SharedBackend) -> Vec<String> {
    let infos = now(files_beneath(&**at, &VPath::root())).expect("listed");
    let mut all: Vec<String> = infos
        .iter()
        .map(|info| {
            let body = now(at.fetch(&info.path)).expect("read");
            format!("{}: {}", info.path.as_str(), String::from_utf8_lossy(&body))
        })
        .collect();
    all.sort();
    all
}

impl Trees {
    fn room(&self) -> Room {
        let dir = VPath::own("/.kitbag/sync").expect("a path");
        Room::new(self.kept.clone(), dir, None)
    }

    fn try_sync(&self) -> Result<Synced> {
        let (a, b) = (self.a.clone(), self.b.clone());
        now(Sync::new(a, b, self.room(), self.options.clone())?.run())
    }

    fn sync(&self) -> Synced {
        self.try_sync().expect("synced")
    }

    /// Syncs, and expects both trees to be the same.
    fn same(&self) -> Vec<String> {
        let synced = self.sync();
        assert!(synced.refused.is_empty(), "{:?}", synced.refused);
        let (a, b) = (files(&self.a), files(&self.b));
        assert_eq!(a, b);
        let again = self.sync();
        assert!(
            again.changed.is_empty() && again.conflicts.is_empty(),
            "{again:?}"
        );
        a
    }
}

/// What somebody does to a file before a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Leaves,
    Edits(&'static str),
    Deletes,
}

#[test]
fn all_nine_meanings_of_a_file_that_was_agreed_on() {
    use Act::{Deletes, Edits, Leaves};
    let old = "1\n2\n3\n4\n5\n";
    let (first, last) = ("first\n2\n3\n4\n5\n", "1\n2\n3\n4\nlast\n");
    let other = "other\n2\n3\n4\n5\n";
    let cases: [(Act, Act, &[&str]); 11] = [
        (Leaves, Leaves, &[old]),
        (Leaves, Edits(last), &[last]),
        (Leaves, Deletes, &[]),
        (Edits(first), Leaves, &[first]),
        (Edits(first), Edits(last), &["first\n2\n3\n4\nlast\n"]),
        (Edits(first), Edits(first), &[first]),
        (Edits(first), Edits(other), &[other, first]),
        (Edits(first), Deletes, &[first]),
        (Deletes, Leaves, &[]),
        (Deletes, Edits(last), &[last]),
        (Deletes, Deletes, &[]),
    ];
    for (of_a, of_b, wanted) in cases {
        let trees = trees();
        put(&trees.a, "/keep", "x");
        put(&trees.a, "/f.md", old);
        trees.same();
        for (at, act) in [(&trees.a, of_a), (&trees.b, of_b)] {
            match act {
                Leaves => {}
                Edits(text) => put(at, "/f.md", text),
                Deletes => gone(at, "/f.md"),
            }
        }
        let all = trees.same();
        let texts: Vec<&str> = all
            .iter()
            .filter(|file| file.starts_with("/f"))
            .filter_map(|file| Some(file.split_once(": ")?.1))
            .collect();
        let mut texts = texts;
        texts.sort_unstable();
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(texts, wanted);
        if wanted.len() == 2 {
            assert!(
                all.iter().any(|file| *file == format!("/f.md: {other}")),
                "{all:?}"
            );
            assert!(
                all.iter()
                    .any(|file| file.starts_with("/f (conflict of one, ")),
                "{all:?}"
            );
        }
    }
}

#[test]
fn new_files_go_to_the_other_side_and_two_of_one_name_stay_both() {
    let trees = trees();
    put(&trees.a, "/a", "of a");
    put(&trees.b, "/b", "of b");
    put(&trees.a, "/same", "the same");
    put(&trees.b, "/same", "the same");
    put(&trees.a, "/both.txt", "mine");
    put(&trees.b, "/both.txt", "theirs");
    let all = trees.same();
    assert_eq!(all.len(), 5, "{all:?}");
    assert!(all.contains(&"/both.txt: theirs".to_owned()));
}

#[test]
fn binary_files_stay_both() {
    let trees = trees();
    put(&trees.a, "/x.bin", "1\n2\n3\0");
    trees.same();
    put(&trees.a, "/x.bin", "one\n2\n3\0");
    put(&trees.b, "/x.bin", "1\n2\nthree\0");
    assert_eq!(trees.same().len(), 2);
}

#[test]
fn texts_beyond_a_megabyte_stay_both() {
    for (lines, files) in [(100_000, 1), (120_000, 2)] {
        let trees = trees();
        let text = "ten bytes\n".repeat(lines);
        put(&trees.a, "/big", &text);
        trees.same();
        put(&trees.a, "/big", &format!("first\n{text}"));
        put(&trees.b, "/big", &format!("{text}last\n"));
        assert_eq!(trees.same().len(), files, "{lines}");
    }
}

#[test]
fn texts_for_merges_take_a_fifth_of_the_tree_with_their_seals() {
    let trees = trees();
    for (count, size) in [(7_000, 800), (2_000, 3_000)] {
        let text = |file: usize| format!("{size} {file} {}", "x".repeat(size));
        let files: Vec<(VPath, Bytes)> = (0..count)
            .map(|file| (path(&format!("/{size}/{file}")), text(file).into()))
            .collect();
        for (path, body) in &files {
            now(trees.a.store(path, body.clone())).expect("stored");
        }
        trees.sync();
        let listed = |infos: Vec<FileInfo>| -> u64 { infos.iter().filter_map(size_of).sum() };
        let tree = listed(now(files_beneath(&*trees.a, &VPath::root())).expect("listed"));
        let kept = listed(now(trees.room().list("texts")).expect("listed"));
        assert!(kept <= tree / 5, "{kept} of {tree}");
        assert!(kept > tree / 7, "{kept} of {tree}");
    }
}

fn size_of(info: &FileInfo) -> Option<u64> {
    Stamp::of(&info.entry).map(|stamp| stamp.size)
}

#[test]
fn a_moved_file_is_moved_and_not_sent() {
    let trees = trees();
    put(&trees.a, "/old/a", "a text");
    put(&trees.a, "/old/b", "another text");
    trees.same();
    for name in ["a", "b"] {
        let text = now(trees.a.fetch(&path(&format!("/old/{name}")))).expect("read");
        now(trees.a.store(&path(&format!("/new/{name}")), text)).expect("stored");
        gone(&trees.a, &format!("/old/{name}"));
    }
    let synced = trees.sync();
    assert_eq!(synced.sent_bytes, 0);
    let moved = |name: &str| Changed::Moved(path(&format!("/old/{name}")));
    let whats: Vec<Changed> = synced.changed.into_iter().map(|one| one.what).collect();
    assert_eq!(whats, [moved("a"), moved("b")]);
    assert_eq!(files(&trees.a), files(&trees.b));
}

#[test]
fn a_choice_decides_about_conflicts() {
    for (choice, wanted) in [
        (Choice::Take(Side::A), ["/f: mine", "/f: mine"]),
        (Choice::Take(Side::B), ["/f: theirs", "/f: theirs"]),
        (Choice::Leave, ["/f: mine", "/f: theirs"]),
    ] {
        let mut trees = trees();
        put(&trees.a, "/f", "mine");
        put(&trees.b, "/f", "theirs");
        trees.options.choose = Some(Rc::new(move |_| crate::core::future::done(Ok(choice))));
        let synced = trees.sync();
        assert_eq!(synced.conflicts[0].choice, choice);
        assert_eq!([files(&trees.a), files(&trees.b)].concat(), wanted);
    }
}

#[test]
fn a_conflict_copy_is_never_written_over_a_file() {
    let trees = trees();
    for round in 0..3 {
        put(&trees.a, "/f", &format!("mine {round}"));
        put(&trees.b, "/f", &format!("theirs {round}"));
        trees.same();
    }
    // All three were written within a second or two, so some of the names were taken.
    assert_eq!(files(&trees.a).len(), 4);
}

/// The texts that are there, without their names.
fn texts(all: &[String]) -> Vec<&str> {
    let text = |file: &'_ String| file.split_once(": ").map_or(0, |(name, _)| name.len() + 2);
    let mut all: Vec<&str> = all.iter().map(|file| &file[text(file)..]).collect();
    all.sort_unstable();
    all
}

/// Two trees with a conflict that was settled, and the path of its copy.
fn settled() -> (Trees, String) {
    let trees = trees();
    put(&trees.a, "/f.md", "mine");
    put(&trees.b, "/f.md", "theirs");
    let copy = trees.sync().conflicts.remove(0).copy.expect("a copy");
    (trees, copy.as_str().to_owned())
}

#[test]
fn a_copy_that_a_broken_off_run_made_is_not_made_again_though_a_side_edited_it() {
    for edits_first in [true, false] {
        let (mut trees, copy) = settled();
        // As if the run had ended right after it made the copy.
        trees.kept = memory();
        put(&trees.a, "/f.md", "mine");
        let side = if edits_first { &trees.a } else { &trees.b };
        put(side, &copy, "mine, edited");
        assert_eq!(texts(&trees.same()), ["mine", "mine, edited", "theirs"]);
    }
}

#[test]
fn a_copy_that_is_about_to_be_replaced_or_deleted_keeps_nothing() {
    for edited in [Some("edited"), None] {
        let (trees, copy) = settled();
        trees.same();
        put(&trees.a, "/f.md", "mine");
        put(&trees.b, "/f.md", "theirs again");
        match edited {
            Some(text) => put(&trees.b, &copy, text),
            None => gone(&trees.b, &copy),
        }
        let wanted: Vec<&str> = [edited, Some("mine"), Some("theirs again")]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(texts(&trees.same()), wanted);
    }
}

#[test]
fn a_copy_that_both_sides_hold_is_not_made_again() {
    let (trees, _) = settled();
    trees.same();
    put(&trees.a, "/f.md", "mine");
    put(&trees.b, "/f.md", "theirs again");
    assert_eq!(texts(&trees.same()), ["mine", "theirs again"]);
}

#[test]
fn without_what_was_agreed_differences_are_conflicts_and_nothing_is_lost() {
    let trees = trees();
    for name in ["/a", "/b", "/c"] {
        put(&trees.a, name, name);
    }
    trees.same();
    put(&trees.a, "/a", "edited");
    gone(&trees.b, "/b");
    let all = now(files_beneath(
        &*trees.kept,
        &VPath::own("/.kitbag/sync").expect("a path"),
    ));
    for info in all.expect("listed") {
        let damaged = Bytes::from_static(b"kitbag 1 base - 0\n7\n");
        now(trees.kept.store(&info.path, damaged)).expect("stored");
    }
    let all = trees.same();
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all.iter().any(|file| file.ends_with(": edited")));
    assert!(all.contains(&"/b: /b".to_owned()));
}

#[test]
fn a_run_that_only_plans_changes_nothing() {
    let mut trees = trees();
    put(&trees.a, "/a", "a");
    put(&trees.a, "/f", "mine");
    put(&trees.b, "/f", "theirs");
    trees.options.dry_run = true;
    let synced = trees.sync();
    assert_eq!(synced.changed.len(), 1);
    assert_eq!(synced.conflicts.len(), 1);
    assert_eq!(files(&trees.b), ["/f: theirs"]);
    assert!(now(trees.room().list("")).expect("listed").is_empty());
}

#[test]
fn only_the_asked_paths_are_synced_and_the_others_are_left() {
    let mut trees = trees();
    put(&trees.a, "/notes/a.md", "a");
    put(&trees.a, "/other/b.md", "b");
    trees.options.paths = vec!["/notes/**".into()];
    assert_eq!(trees.sync().changed.len(), 1);
    assert_eq!(files(&trees.b), ["/notes/a.md: a"]);
    // What was agreed on and is not asked for any more is not deleted.
    gone(&trees.a, "/notes/a.md");
    trees.options.paths = vec!["/other/**".into()];
    trees.sync();
    assert_eq!(files(&trees.b), ["/notes/a.md: a", "/other/b.md: b"]);
    trees.options.paths = Vec::new();
    assert_eq!(trees.same(), ["/other/b.md: b"]);
}

#[test]
fn what_ignore_files_name_stays_where_it_is() {
    let mut trees = trees();
    trees.options.ignore = vec![".gitignore".into()];
    put(&trees.a, "/.gitignore", "*.log\n/out/\n");
    put(&trees.a, "/x.log", "x");
    put(&trees.a, "/out/y", "y");
    put(&trees.b, "/of b.log", "of b");
    put(&trees.a, "/z", "z");
    trees.sync();
    assert_eq!(
        files(&trees.b),
        ["/.gitignore: *.log\n/out/\n", "/of b.log: of b", "/z: z"]
    );
    assert!(!files(&trees.a).iter().any(|file| file.starts_with("/of b")));
}

fn guarded(at: &SharedBackend, touch: &[Touch], pattern: &str) -> SharedBackend {
    use crate::layer::policy::Mode;
    let rule = Rule::new(touch, Mode::Deny, [pattern]).expect("a rule");
    let policy = Policy {
        permissions: Some(Rules::new(vec![rule], true)),
        ..Policy::default()
    };
    stack(at.clone(), policy).expect("a policy")
}

#[test]
fn what_a_side_may_not_read_is_never_sent_and_never_deleted() {
    let mut trees = trees();
    put(&trees.a, "/secret/key", "hidden");
    put(&trees.a, "/open", "open");
    trees.a = guarded(&trees.a, &[Touch::Read, Touch::Write], "/secret/**");
    trees.sync();
    assert_eq!(files(&trees.b), ["/open: open"]);
    // Agreed on first, and then hidden: it is not taken for deleted.
    put(&trees.a, "/late", "late");
    trees.same();
    trees.a = guarded(&trees.a, &[Touch::Read, Touch::Write], "/late");
    let synced = trees.sync();
    assert!(synced.changed.is_empty(), "{synced:?}");
    assert_eq!(files(&trees.b), ["/late: late", "/open: open"]);
}

#[test]
fn what_a_side_refuses_is_in_the_result_and_the_rest_goes_on() {
    let mut trees = trees();
    let inner = trees.b.clone();
    trees.b = guarded(&inner, &[Touch::Write], "/locked/**");
    put(&trees.a, "/locked/a", "a");
    put(&trees.a, "/b", "b");
    let synced = trees.sync();
    assert_eq!(files(&inner), ["/b: b"]);
    assert_eq!(synced.refused.len(), 1);
    assert_eq!(synced.refused[0].side, Side::B);
    assert_eq!(synced.refused[0].error.code(), "permission_denied");
    // It is tried again, and works when it is allowed.
    trees.b = inner;
    assert_eq!(trees.same(), ["/b: b", "/locked/a: a"]);
}

#[test]
fn a_side_that_lost_all_its_files_deletes_nothing() {
    let mut trees = trees();
    put(&trees.a, "/a", "a");
    put(&trees.a, "/b", "b");
    trees.same();
    trees.b = memory();
    let error = trees.try_sync().expect_err("refused");
    assert_eq!(error.code(), "conflict");
    assert!(
        error
            .to_string()
            .contains("\"two\" has no files, and 2 were agreed on"),
        "{error}"
    );
    assert_eq!(files(&trees.a).len(), 2);
    trees.options.allow_empty = true;
    trees.sync();
    assert!(files(&trees.a).is_empty());
}

#[test]
fn files_that_were_not_changed_are_not_read() {
    let trees = trees();
    put(&trees.a, "/a", "a");
    trees.same();
    // What was written within the last minute is read, since it may change within one tick of the clock.
    assert_eq!(trees.sync().read, 2);
}

#[test]
fn names_that_cannot_be_in_a_file_name_are_refused() {
    for (a, b) in [("", "b"), ("a/b", "b"), ("a", "a"), ("a:b", "c")] {
        let mut trees = trees();
        trees.options.names = Pair {
            a: a.into(),
            b: b.into(),
        };
        let error = trees.try_sync().expect_err("refused");
        assert!(error.to_string().contains("\"names\""), "{error}");
    }
}

#[test]
fn another_run_is_waited_for_and_one_that_was_broken_off_is_not() {
    let trees = trees();
    put(&trees.a, "/a", "a");
    let held = now(running::begin(&trees.room())).expect("begun");
    let error = trees.try_sync().expect_err("refused");
    assert_eq!(error.code(), "conflict");
    assert!(files(&trees.b).is_empty());
    drop(held);
    trees.same();
}
