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

#[test]
fn what_was_agreed_is_read_as_it_was_written() {
    let book = book();
    for count in [0, 1, 3_000, 12_000] {
        let was = now(book.base()).expect("read");
        let all = entries(count);
        let written = now(book.publish(&was, 1, all.clone()));
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
    let written = now(book.publish(&Base::default(), 1, all.clone()));
    assert!(written.expect("written").is_some());
    let first = now(book.base()).expect("read");
    assert!(first.parts.len() > 6, "{}", first.parts.len());
    let mut more = all.clone();
    more.push((path("/dir 3/05000 z"), entry(1).1));
    more.sort_by(|a, b| a.0.cmp(&b.0));
    let written = now(book.publish(&first, 2, more.clone()));
    assert!(written.expect("written").is_some());
    let second = now(book.base()).expect("read");
    let new = second
        .parts
        .iter()
        .filter(|name| !first.parts.contains(name));
    assert!(new.count() <= 2);
}

#[test]
fn of_two_runs_one_writes() {
    let book = book();
    let none = now(book.base()).expect("read");
    let written = now(book.publish(&none, 1, entries(3)));
    assert!(written.expect("written").is_some());
    let refused = now(book.publish(&none, 1, entries(4)));
    assert!(refused.expect("refused").is_none());
    let first = now(book.base()).expect("read");
    let written = now(book.publish(&first, 2, entries(5)));
    assert!(written.expect("written").is_some());
    let refused = now(book.publish(&first, 2, entries(6)));
    assert!(refused.expect("refused").is_none());
    assert_eq!(now(book.base()).expect("read").entries, entries(5));
}

#[test]
fn a_lost_part_loses_only_its_files() {
    let book = book();
    let all = entries(12_000);
    let written = now(book.publish(&Base::default(), 1, all.clone()));
    assert!(written.expect("written").is_some());
    let base = now(book.base()).expect("read");
    now(book.room.remove(&format!("parts/{}", base.parts[1]))).expect("removed");
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
