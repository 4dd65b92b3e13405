//! What is kept is read again; of two runs one writes; what is lost loses only its files.

use super::*;
use crate::core::testing::{now, path};
use crate::layer::tests::memory;

fn book() -> Book {
    let dir = VPath::own("/.kitbag/sync").expect("a path");
    Book {
        room: Room::new(memory(), dir, None),
    }
}

fn entry(number: usize) -> (VPath, Entry) {
    let entry = Entry {
        digest: Digest::of(format!("{number}").as_bytes()),
        size: 7,
        stamps: Pair {
            a: Some(Stamp {
                size: 7,
                modified: -3,
            }),
            b: None,
        },
        text: number.is_multiple_of(2).then_some(3),
    };
    (
        path(&format!("/dir {}/{number:05} é.md", number % 7)),
        entry,
    )
}

fn entries(count: usize) -> Entries {
    let mut all: Entries = (0..count).map(entry).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn paths(entries: &Entries) -> Vec<VPath> {
    entries.iter().map(|(path, _)| path.clone()).collect()
}

fn names(base: &Base) -> Vec<String> {
    base.parts.iter().map(|part| part.name.clone()).collect()
}

#[test]
fn what_was_agreed_is_read_as_it_was_written() {
    let book = book();
    for count in [0, 1, 3_000, 12_000] {
        let was = now(book.base()).expect("read");
        let all = entries(count);
        let written = now(book.publish(&was, 1, all.clone(), &paths(&all)));
        assert!(written.expect("written").is_some());
        let base = now(book.base()).expect("read");
        assert_eq!((base.run, base.is_damaged), (1, false));
        assert!(base.entries == all, "{count}");
        let parts = now(book.room.list("parts")).expect("listed");
        assert_eq!(parts.len(), base.parts.len());
    }
}

#[test]
fn a_new_file_changes_one_part() {
    let book = book();
    let all = entries(12_000);
    let written = now(book.publish(&Base::default(), 1, all.clone(), &paths(&all)));
    assert!(written.expect("written").is_some());
    let first = now(book.base()).expect("read");
    assert!(first.parts.len() > 6, "{}", first.parts.len());
    let mut more = all.clone();
    let new = path("/dir 3/05000 z");
    more.push((new.clone(), entry(1).1));
    more.sort_by(|a, b| a.0.cmp(&b.0));
    let written = now(book.publish(&first, 2, more.clone(), &[new]));
    assert!(written.expect("written").is_some());
    let second = now(book.base()).expect("read");
    let new = second
        .parts
        .iter()
        .filter(|part| !first.has_part(&part.name));
    assert!(new.count() <= 2);
}

#[test]
fn of_two_runs_one_writes() {
    let book = book();
    let none = now(book.base()).expect("read");
    let written = now(book.publish(&none, 1, entries(3), &paths(&entries(9))));
    assert!(written.expect("written").is_some());
    let refused = now(book.publish(&none, 1, entries(4), &paths(&entries(9))));
    assert!(refused.expect("refused").is_none());
    let first = now(book.base()).expect("read");
    let written = now(book.publish(&first, 2, entries(5), &paths(&entries(9))));
    assert!(written.expect("written").is_some());
    let refused = now(book.publish(&first, 2, entries(6), &paths(&entries(9))));
    assert!(refused.expect("refused").is_none());
    assert_eq!(now(book.base()).expect("read").entries, entries(5));
}

#[test]
fn a_lost_part_loses_only_its_files() {
    let book = book();
    let all = entries(12_000);
    let written = now(book.publish(&Base::default(), 1, all.clone(), &paths(&all)));
    assert!(written.expect("written").is_some());
    let base = now(book.base()).expect("read");
    now(book.room.remove(&format!("parts/{}", base.parts[1].name))).expect("removed");
    let left = now(book.base()).expect("read");
    assert!(left.is_damaged);
    assert!(left.entries.len() < all.len() && left.entries.len() > all.len() / 2);
    assert!(left.entries.iter().all(|one| all.contains(one)));
}

#[test]
fn what_is_being_done_is_kept() {
    let book = book();
    let doing = |after| now(book.doing(after)).expect("read");
    assert!(doing(0).is_empty());
    let some: Doing = vec![
        (path("/a b"), entry(1).1.stamps),
        (path("/c"), Pair::default()),
    ];
    now(book.put_doing(4, &some)).expect("written");
    assert_eq!(doing(4), some);
    assert!(doing(5).is_empty());
    now(book.put_doing(4, &Vec::new())).expect("removed");
    assert!(doing(4).is_empty());
    now(book.put_doing(4, &Vec::new())).expect("nothing to remove");
}

/// One change of what was agreed on; the paths that it changed.
type Edit = fn(&mut Entries) -> Vec<VPath>;

#[test]
fn parts_without_a_change_are_those_that_all_files_would_give() {
    let edits: [(&str, Edit); 11] = [
        ("nothing", |_| Vec::new()),
        ("the first", |all| edited(all, &[0])),
        ("the last", |all| {
            let last = all.len() - 1;
            edited(all, &[last])
        }),
        ("two neighbours", |all| edited(all, &[5_000, 5_001])),
        ("some apart", |all| edited(all, &[10, 4_000, 11_000])),
        ("the first is gone", |all| vec![all.remove(0).0]),
        ("the last is gone", |all| vec![all.pop().expect("one").0]),
        ("one is gone", |all| vec![all.remove(7_777).0]),
        ("a new first one", |all| added_to(all, "/a")),
        ("a new last one", |all| added_to(all, "/z")),
        ("all are gone", |all| {
            let gone = paths(all);
            all.clear();
            gone
        }),
    ];
    for (what, edit) in edits {
        let book = book();
        let mut all = entries(12_000);
        let written = now(book.publish(&Base::default(), 1, all.clone(), &paths(&all)));
        let first = written.expect("written").expect("the only run");
        let read = now(book.base()).expect("read");
        assert_eq!(names(&first), names(&read));
        let changed = edit(&mut all);
        let (parts, bodies) = parts_of(&read, &all, &changed);
        let whole = parts_of(&Base::default(), &all, &paths(&all)).0;
        let of = |parts: &[Part]| parts.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(of(&parts), of(&whole), "{what}");
        let new = bodies.iter().flatten().count();
        assert!(new <= changed.len().min(6) + 1, "{what}: {new}");
        let written = now(book.publish(&read, 2, all.clone(), &changed));
        assert!(written.expect("written").is_some());
        assert!(now(book.base()).expect("read").entries == all, "{what}");
    }
}

fn edited(all: &mut Entries, places: &[usize]) -> Vec<VPath> {
    let new = |place: &usize| {
        all[*place].1.digest = Digest::of(b"new");
        all[*place].0.clone()
    };
    places.iter().map(new).collect()
}

fn added_to(all: &mut Entries, name: &str) -> Vec<VPath> {
    all.push((path(name), entry(1).1));
    all.sort_by(|a, b| a.0.cmp(&b.0));
    vec![path(name)]
}

#[test]
fn a_part_that_is_not_in_order_is_written_anew() {
    let book = book();
    let all = entries(3_000);
    let written = now(book.publish(&Base::default(), 1, all.clone(), &paths(&all)));
    assert!(written.expect("written").is_some());
    let mut base = now(book.base()).expect("read");
    assert!(base.same_part(&all[0].0, &[]).is_some());
    base.parts[0].count = 0;
    assert!(base.same_part(&all[0].0, &[]).is_none());
    let (_, bodies) = parts_of(&base, &all, &[]);
    assert!(bodies[0].is_some());
}
