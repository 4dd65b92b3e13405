//! `ls` from the catalogue: it is the listing of the backend, and takes none.

use super::*;
use crate::layer::policy::{Mode, Policy, Rule, Rules, Touch, stack};
use crate::protocol::{FileInfo, Transfer};

const DIRS: &[&str] = &["/", "/a", "/a/deep", "/a/deep/er", "/none", "/a/1.txt"];

/// Blocks of several kinds: directories that fill some of them, and files between these.
fn tree() -> Shared {
    let storage = Shared::default();
    let backend = plain(&storage);
    for at in 0..400 {
        let body = prose(at, [20, 200, 900][at as usize % 3]);
        for dir in ["/a", "/a/deep", "/a/deep/er", "/b.d"] {
            upload(&backend, &format!("{dir}/{at}.txt"), body.as_bytes());
        }
        upload(&backend, &format!("/c/{at}/x"), b"words");
    }
    // Sorted as a file before what is in the directory of this name, and between others.
    upload(&backend, "/a/deep.txt", b"words");
    upload(&backend, "/b", b"words");
    storage
}

fn by_notes(storage: &Shared) -> Indexed {
    let files = indexed(storage).with_notes();
    files.ls_by_notes_from(0);
    files
}

fn listed(files: &dyn Backend, dir: &str) -> std::result::Result<Vec<FileInfo>, String> {
    ready(files.ls(&path(dir))).map_err(|error| error.to_string())
}

/// Both list the same; returns how many directories were listed for it.
fn compare(storage: &Shared, files: &Indexed) -> usize {
    let mut levels = 0;
    for dir in DIRS.iter().chain(&["/b.d", "/c", "/c/7"]) {
        let before = storage.levels();
        let found = listed(files, dir);
        levels += storage.levels() - before;
        assert_eq!(found, listed(&*plain(storage), dir), "{dir}");
    }
    levels
}

fn moved(files: &Indexed, from: &str, to: &str) {
    let asked = Transfer {
        from: path(from),
        to: path(to),
        keeps: false,
        overwrite: false,
    };
    ready(files.transfer(&asked)).expect("moved");
}

#[test]
fn a_directory_from_the_catalogue_is_as_it_is_listed_whatever_is_changed() {
    let storage = tree();
    let files = by_notes(&storage);
    assert!(compare(&storage, &files) > 0, "there is no index yet");
    ready(files.update()).expect("updated");
    assert_eq!(compare(&storage, &files), 0);
    assert_eq!(compare(&storage, &by_notes(&storage)), 0);
    let delete = |at: &str| {
        ready(files.delete(&path(at), None)).expect("deleted");
    };
    let shared: SharedBackend = Rc::new(by_notes(&storage));
    let changes: &[&dyn Fn()] = &[
        &|| upload(&shared, "/a/new.txt", b"words"),
        &|| upload(&shared, "/a/7.txt", b"other words"),
        &|| delete("/a/8.txt"),
        // What is left of a directory, or not.
        &|| upload(&shared, "/new/deep/1.txt", b"words"),
        &|| (0..400).for_each(|at| delete(&format!("/a/deep/er/{at}.txt"))),
        &|| delete("/c/7/x"),
        &|| upload(&shared, "/a/deep/er", b"a file now"),
        &|| upload(&shared, "/c", b"a file, too"),
        &|| delete("/b.d"),
        &|| moved(&files, "/a/deep", "/d"),
        &|| moved(&files, "/d", "/a/back"),
    ];
    for (number, change) in changes.iter().enumerate() {
        change();
        compare(&storage, &files);
        // Entries that are out of date stay in the segments.
        if number % 2 == 1 {
            ready(files.update()).expect("updated");
            // The other writer has not told yet that its last change has ended.
            let levels = compare(&storage, &files);
            assert!(levels <= 2, "{levels} after change {number}");
        }
    }
}

#[test]
fn noted_paths_are_asked_for_and_a_noted_directory_is_listed() {
    let storage = tree();
    let files = by_notes(&storage);
    ready(files.update()).expect("updated");
    let cost = |dir: &str| {
        let before = storage.levels();
        assert_eq!(listed(&files, dir).map(|_| ()), Ok(()));
        storage.levels() - before
    };
    ready(files.delete(&path("/a/8.txt"), None)).expect("deleted");
    ready(files.delete(&path("/c/7"), None)).expect("deleted");
    // A delete may be one of a directory, so it is asked what is below.
    assert_eq!([cost("/a"), cost("/c")], [1, 1]);
    assert_eq!([cost("/b.d"), cost("/")], [0, 0]);
    upload(&plain(&storage), "/c/7/y", b"words");
    assert_eq!(cost("/c/7"), 1, "all of it may have changed");
    assert_eq!(listed(&files, "/c/7"), listed(&*plain(&storage), "/c/7"));
}

#[test]
fn a_small_directory_is_listed_and_a_long_listing_makes_the_index_be_read() {
    let storage = tree();
    let files = indexed(&storage).with_notes();
    ready(files.update()).expect("updated");
    files.ls_by_notes_from(20);
    let cost = |dir: &str| {
        let before = storage.levels();
        listed(&files, dir).expect("listed");
        storage.levels() - before
    };
    assert_eq!([cost("/"), cost("/c/7"), cost("/")], [1, 1, 1]);
    assert!(!files.state.base.borrow().is_loaded());
    assert_eq!([cost("/a"), cost("/a")], [1, 0]);
    assert_eq!([cost("/"), cost("/c/7")], [1, 1]);
}

#[test]
fn where_a_mount_is_shown_or_a_rule_is_asked_the_backend_lists() {
    let (storage, empty) = (tree(), Shared::default());
    let tree: SharedBackend =
        Rc::new(Composite::new(plain(&storage), [(path("/m"), plain(&empty))]).expect("a tree"));
    let files = over(tree.clone()).with_notes();
    files.ls_by_notes_from(0);
    ready(files.update()).expect("updated");
    let found = listed(&files, "/");
    assert_eq!(found, listed(&*tree, "/"));
    let is_mount = |info: &FileInfo| info.path == path("/m");
    assert!(found.expect("listed").iter().any(is_mount));
    let rule = Rule::new(&[Touch::Read], Mode::Deny, ["/a/**"]);
    let policy = Policy {
        permissions: Some(Rules::new(vec![rule.expect("a rule")], true)),
        ..Policy::default()
    };
    let files = over(stack(plain(&storage), policy).expect("a policy")).with_notes();
    files.ls_by_notes_from(0);
    files.glob_by_notes_from(0);
    ready(files.update()).expect("updated");
    let refused = |error: crate::core::error::Error| error.kind();
    let listing = ready(files.ls(&path("/a")));
    assert_eq!(listing.map_err(refused), Err(Kind::PermissionDenied));
    let query = GlobQuery::new("*", path("/a"));
    let globbed = ready(files.glob(&query)).map(|found| found.files.len());
    assert_eq!(globbed.map_err(refused), Err(Kind::PermissionDenied));
}
