//! Searches that list nothing: what layers above and below see of them. That they miss no change is shown by
//! the histories of `tests/simulation/src/notes`.

use super::*;
use crate::layer::policy::{Mode, Policy, Rule, Rules, Touch, stack};

/// The paths of a search, and what it cost.
fn found(backend: &dyn Backend, pattern: &str) -> (Vec<String>, GrepStats) {
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal(pattern)
    };
    let found = ready(backend.grep(&query)).expect("found");
    let paths = found.matches.paths.iter().map(VPath::to_string);
    (paths.collect(), found.stats.expect("stats"))
}

fn ruled(inner: SharedBackend) -> SharedBackend {
    let rule = Rule::new(&[Touch::Read, Touch::Write], Mode::Deny, ["/secret/**"]);
    let policy = Policy {
        permissions: Some(Rules::new(vec![rule.expect("a rule")], true)),
        ..Policy::default()
    };
    stack(inner, policy).expect("a policy")
}

#[test]
fn what_a_policy_above_or_below_hides_is_neither_found_nor_counted() {
    let storage = filled_storage(30);
    upload(&plain(&storage), "/secret/key.txt", b"a retry_budget");
    let open = Rc::new(indexed(&storage).with_notes());
    ready(open.update()).expect("updated");
    upload(
        &(open.clone() as SharedBackend),
        "/secret/more.txt",
        b"a retry_budget",
    );
    let (paths, stats) = found(&*open, "retry_budget");
    assert_eq!(paths, ["/secret/key.txt", "/secret/more.txt", "/src/17.ts"]);
    assert_eq!((stats.by_notes, stats.unindexed), (true, 1));
    assert_eq!(stats.candidates + stats.indexed, 31);
    let (paths, stats) = found(&*ruled(open), "retry_budget");
    assert_eq!(paths, ["/src/17.ts"]);
    assert!(stats.by_notes);
    assert_eq!((stats.requests, stats.unindexed, stats.indexed), (0, 0, 0));
    let below = over(ruled(plain(&storage))).with_notes();
    let (paths, stats) = found(&below, "retry_budget");
    assert_eq!(paths, ["/src/17.ts"]);
    assert_eq!(stats.unindexed, 0);
}

#[test]
fn a_write_that_a_policy_below_refuses_fails_as_it_does_without_notes() {
    let storage = filled_storage(3);
    let files = over(ruled(plain(&storage))).with_notes();
    ready(files.update()).expect("updated");
    let secret = path("/secret/key.txt");
    let refused = ready(files.store(&secret, Bytes::from_static(b"x")));
    assert_eq!(
        refused.map_err(|error| error.kind()),
        Err(Kind::PermissionDenied)
    );
}

#[test]
fn an_index_around_a_composite_asks_its_mounts_for_their_files_only() {
    let (a, b) = (filled_storage(40), filled_storage(20));
    let tree: SharedBackend =
        Rc::new(Composite::new(plain(&b), [(path("/m"), plain(&a))]).expect("a tree"));
    let files: SharedBackend = Rc::new(over(tree).with_notes());
    let room = Room::new(plain(&b), dir(), None);
    let index = Indexed::new(
        Rc::new(Composite::new(plain(&b), [(path("/m"), plain(&a))]).expect("a tree")),
        room,
    );
    ready(index.update()).expect("updated");
    let (paths, stats) = found(&*files, "retry_budget");
    assert_eq!(paths, ["/m/src/17.ts", "/src/17.ts"]);
    assert!(stats.by_notes && stats.candidates < 10, "{stats:?}");
    upload(&files, "/m/new.ts", b"a new retry_budget");
    let (paths, stats) = found(&*files, "retry_budget");
    assert_eq!(paths, ["/m/new.ts", "/m/src/17.ts", "/src/17.ts"]);
    assert_eq!((stats.by_notes, stats.unindexed), (true, 1));
    let moved = crate::protocol::Transfer {
        from: path("/m/src"),
        to: path("/m/lib"),
        keeps: false,
        overwrite: false,
    };
    ready(files.transfer(&moved)).expect("moved");
    let (paths, stats) = found(&*files, "retry_budget");
    assert_eq!(paths, ["/m/lib/17.ts", "/m/new.ts", "/src/17.ts"]);
    assert!(stats.by_notes);
}

#[test]
fn an_index_of_another_format_is_as_if_there_were_none_and_is_built_again() {
    let storage = filled_storage(20);
    let files = indexed(&storage).with_notes();
    ready(files.update()).expect("updated");
    assert!(found(&files, "retry_budget").1.by_notes);
    let room = Room::new(plain(&storage), dir(), None);
    // Only its kind tells that it is of another format.
    let body = ready(files.open(&Vec::new(), true)).known.manifest.encode();
    ready(room.put("index", manifest::NAME, &body)).expect("stored");
    let (paths, stats) = found(&files, "retry_budget");
    assert_eq!((paths.len(), stats.by_notes), (1, false));
    ready(files.update()).expect("updated");
    assert!(found(&files, "retry_budget").1.by_notes);
}

#[test]
fn more_trigrams_are_looked_up_in_large_indexes() {
    let count = |files| {
        let query = GrepQuery::literal("a_long_identifier");
        let need = grams::need(&query, grams::extra(files)).expect("a query");
        need.iter().flatten().map(Vec::len).sum::<usize>()
    };
    assert_eq!([0, 100_000, 1_000_000].map(count), [6, 7, 8]);
}
