//! What is kept is read again; of two runs one writes; what is lost loses only its files.

use super::*;
use crate::core::testing::{now, path};
use crate::layer::sync::entry::at;
use crate::layer::sync::parts;
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

fn as_new(entries: Entries) -> Vec<(VPath, Option<Entry>)> {
    let new = entries.into_iter().map(|(path, entry)| (path, Some(entry)));
    new.collect()
}

/// Writes what is new, over what was read.
fn published(book: &Book, new: Vec<(VPath, Option<Entry>)>) -> Base {
    let (mut base, file) = now(book.base()).expect("read");
    let written = now(book.publish(&mut base, file.as_ref(), new, u64::MAX));
    assert!(written.expect("written").is_some());
    base
}

/// The base with all of its parts.
fn whole(book: &Book) -> Base {
    let (mut base, _) = now(book.base()).expect("read");
    let places: Vec<usize> = (0..base.parts.len()).collect();
    now(book.load(&mut base, &places)).expect("read");
    base
}

fn all_of(base: &Base) -> Entries {
    let parts = base.parts.iter();
    parts
        .flat_map(|part| part.entries.clone().expect("read"))
        .collect()
}

fn names_in_order(base: &Base) -> Vec<String> {
    base.parts.iter().map(|part| part.name.clone()).collect()
}

#[test]
fn what_was_agreed_is_read_as_it_was_written() {
    for count in [0, 1, 3_000, 12_000] {
        let book = book();
        let all = entries(count);
        published(&book, as_new(all.clone()));
        let base = whole(&book);
        assert_eq!((base.run, base.is_damaged), (1, false));
        assert!(all_of(&base) == all, "{count}");
        let stored = now(book.room.list("parts")).map_or(0, |parts| parts.len());
        assert_eq!(stored, names(&base).len());
        let texts: u64 = base.parts.iter().map(|part| part.texts).sum();
        let kept = all.iter().filter(|(_, entry)| entry.text.is_some());
        assert_eq!(
            texts,
            kept.map(|(_, entry)| parts::stored(entry.size))
                .sum::<u64>()
        );
    }
}

#[test]
fn a_new_file_changes_one_part() {
    let book = book();
    let first = published(&book, as_new(entries(12_000)));
    assert!(first.parts.len() > 24, "{}", first.parts.len());
    let new = (path("/dir 3/05000 z"), entry(1).1);
    let second = published(&book, as_new(vec![new]));
    let is_read = |part: &&Part| part.entries.is_some();
    assert_eq!(second.parts.iter().filter(is_read).count(), 1);
    let old = names(&first);
    let is_new = |part: &&Part| !has(&old, &part.name);
    assert!(second.parts.iter().filter(is_new).count() <= 2);
}

#[test]
fn of_two_runs_one_writes() {
    let book = book();
    let before = |count| {
        let (mut base, file) = now(book.base()).expect("read");
        let book = &book;
        move || {
            let new = as_new(entries(count));
            now(book.publish(&mut base, file.as_ref(), new, u64::MAX))
                .ok()
                .flatten()
        }
    };
    let (mut one, mut two) = (before(3), before(4));
    assert!(one().is_some());
    assert!(two().is_none());
    let (mut one, mut two) = (before(5), before(3_000));
    assert!(one().is_some());
    assert!(two().is_none());
    assert_eq!(all_of(&whole(&book)), entries(5));
}

/// What becomes of a part of this name.
type Damage = fn(&Book, &str);

#[test]
fn a_lost_part_loses_only_its_files() {
    let all = entries(12_000);
    let damages: [(&str, Damage); 3] = [
        ("gone", |book, name| {
            now(book.room.remove(name)).expect("removed")
        }),
        ("of others", |book, name| {
            now(book.room.put("part", name, b"what is this?\n")).expect("written");
        }),
        ("out of order", |book, name| {
            let found = now(book.room.read("part", name))
                .expect("read")
                .expect("there");
            let lines: Vec<&str> = text_of(&found.body).lines().rev().collect();
            let body = lines[..lines.len() / 2].join("\n");
            now(book.room.put("part", name, body.as_bytes())).expect("written");
        }),
    ];
    for (what, damage) in damages {
        let book = book();
        let base = published(&book, as_new(all.clone()));
        damage(&book, &format!("parts/{}", base.parts[1].name));
        let left = whole(&book);
        assert!(left.is_damaged, "{what}");
        assert!(left.parts[1].is_changed, "{what}");
        let left = all_of(&left);
        assert!(
            left.len() < all.len() && left.len() > all.len() / 2,
            "{what}"
        );
        assert!(
            left.iter()
                .all(|(path, entry)| at(&all, path) == Some(entry)),
            "{what}"
        );
        assert!(left.is_sorted_by(|a, b| a.0 < b.0), "{what}");
    }
}

#[test]
fn a_base_that_is_not_whole_is_none() {
    let book = book();
    let base = published(&book, as_new(entries(1_000)));
    let found = now(book.room.read("base", "base"))
        .expect("read")
        .expect("there");
    let text = text_of(&found.body);
    let lines: Vec<&str> = text.lines().collect();
    let mut swapped = lines.clone();
    swapped.swap(1, 2);
    for damaged in [
        "",
        "7",
        "7\nabc",
        "7 abc",
        text.rsplit_once(" /dir").expect("a path").0,
        &text.replace(&base.parts[0].name, "../../x"),
        &swapped.join("\n"),
    ] {
        now(book.room.put("base", "base", damaged.as_bytes())).expect("written");
        let (read, file) = now(book.base()).expect("read");
        assert!(
            read.is_damaged && read.parts.len() == 1 && file.is_some(),
            "{damaged}"
        );
        assert!(read.entry(&entries(1)[0].0).is_none());
    }
    published(&book, as_new(entries(9)));
    assert_eq!(all_of(&whole(&book)), entries(9));
}

#[test]
fn a_run_that_another_one_overtook_is_told_so() {
    let book = book();
    published(&book, as_new(entries(1_000)));
    let (mut base, _) = now(book.base()).expect("read");
    published(&book, vec![(entries(1)[0].0.clone(), None)]);
    let place = base.place(&entries(1)[0].0);
    let error = now(book.load(&mut base, &[place])).expect_err("overtaken");
    assert_eq!(error.code(), "conflict");
}

#[test]
fn a_part_says_what_a_side_lists_of_it_only_if_that_is_enough() {
    let book = book();
    let mut all = entries(2_000);
    for (place, (_, entry)) in all.iter_mut().enumerate() {
        // Of the last files nothing is known of one side.
        entry.stamps.b = entry.stamps.a.filter(|_| place < 1_000);
    }
    let base = published(&book, as_new(all));
    let (first, last) = (&base.parts[0], base.parts.last().expect("one"));
    assert!(first.sums.a.is_some() && first.sums.a == first.sums.b);
    assert!(last.sums.a.is_some() && last.sums.b.is_none());
    let files = first.entries.iter().flatten();
    let listed: Vec<(&VPath, Option<Stamp>)> =
        files.map(|(path, entry)| (path, entry.stamps.a)).collect();
    let of = |files: &[(&VPath, Option<Stamp>)]| parts::sum(base.key, files.iter().copied());
    assert_eq!(of(&listed), first.sums.a);
    for place in [0, 5, listed.len() - 1] {
        let mut other = listed.clone();
        other[place].1 = Some(Stamp {
            size: 7,
            modified: -2,
        });
        assert_ne!(of(&other), first.sums.a);
        other[place].1 = Some(Stamp {
            size: 8,
            modified: -3,
        });
        assert_ne!(of(&other), first.sums.a);
        other.remove(place);
        assert_ne!(of(&other), first.sums.a);
        let more = path("/dir 0/00000");
        other.insert(
            place,
            (
                &more,
                Some(Stamp {
                    size: 7,
                    modified: -3,
                }),
            ),
        );
        assert_ne!(of(&other), first.sums.a);
        other[place].1 = None;
        assert_eq!(of(&other), None);
    }
}

#[test]
fn the_oldest_texts_go_first_wherever_they_are() {
    let book = book();
    let with = |run: u64| {
        let mut all = entries(4_000);
        all.iter_mut().for_each(|(_, entry)| entry.text = Some(run));
        all
    };
    published(&book, as_new(with(2)));
    // The oldest are in the middle, in a part that the last run below does not name.
    let old: Entries = with(1)[2_000..2_010].to_vec();
    published(&book, as_new(old.clone()));
    let (mut base, file) = now(book.base()).expect("read");
    let most = parts::stored(7) * 3_999;
    let new = as_new(with(9)[..1].to_vec());
    let written = now(book.publish(&mut base, file.as_ref(), new, most));
    assert!(written.expect("written").is_some());
    let is_read = |part: &&Part| part.entries.is_some();
    assert!(base.parts.iter().filter(is_read).count() <= 8);
    let left = whole(&book);
    let gone: Vec<VPath> = all_of(&left)
        .into_iter()
        .filter_map(|(path, entry)| entry.text.is_none().then_some(path))
        .collect();
    assert!(old.iter().all(|(path, _)| gone.contains(path)));
    // A sixteenth is free now, and no more.
    let (kept, text) = (
        parts::stored(7) * (4_000 - gone.len() as u64),
        parts::stored(7),
    );
    let most = most - most / 16;
    assert!(kept <= most && kept + text > most, "{kept}, {most}");
}

#[test]
fn what_is_being_done_is_kept() {
    let book = book();
    let doing = || now(book.doing()).expect("read");
    assert_eq!(doing(), (0, Vec::new()));
    let some: Doing = vec![
        (path("/a b"), entry(1).1.stamps),
        (path("/c"), Pair::default()),
    ];
    now(book.put_doing(4, &some)).expect("written");
    assert_eq!(doing(), (4, some));
    now(book.put_doing(4, &Vec::new())).expect("removed");
    assert!(doing().1.is_empty());
    now(book.put_doing(4, &Vec::new())).expect("nothing to remove");
}

/// One change of what was agreed on: the places of the files that are edited, those that go, and new ones.
type Edit = (
    &'static str,
    &'static [usize],
    &'static [usize],
    &'static [&'static str],
);

#[test]
fn parts_without_a_change_are_those_that_all_files_would_give() {
    let edits: [Edit; 11] = [
        ("the first", &[0], &[], &[]),
        ("the last", &[11_999], &[], &[]),
        ("two neighbours", &[5_000, 5_001], &[], &[]),
        ("some apart", &[10, 4_000, 11_000], &[], &[]),
        ("the first is gone", &[], &[0], &[]),
        ("the last is gone", &[], &[11_999], &[]),
        ("one is gone", &[], &[7_777], &[]),
        ("a new first one", &[], &[], &["/a"]),
        ("a new last one", &[], &[], &["/z"]),
        ("one of each", &[3], &[2_000], &["/dir 5/0000"]),
        ("nothing", &[], &[], &[]),
    ];
    for (what, edited, gone, added) in edits {
        let book = book();
        let mut all = entries(12_000);
        published(&book, as_new(all.clone()));
        let mut new: Vec<(VPath, Option<Entry>)> = Vec::new();
        for place in edited {
            all[*place].1.digest = Digest::of(b"new");
            new.push((all[*place].0.clone(), Some(all[*place].1.clone())));
        }
        for place in gone {
            new.push((all.remove(*place).0, None));
        }
        for name in added {
            all.push((path(name), entry(1).1));
            new.push((path(name), Some(entry(1).1)));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        new.sort_by(|a, b| a.0.cmp(&b.0));
        let count = new.len();
        let second = published(&book, new);
        let read = second.parts.iter().filter(|part| part.entries.is_some());
        assert!(read.count() <= 2 * count + 1, "{what}");
        let mut cut = Cut::new(second.key);
        cut.add(all.clone());
        cut.end();
        let of = |parts: &[Part]| -> Vec<_> { parts.iter().map(Part::line).collect() };
        assert_eq!(of(&second.parts), of(&cut.parts), "{what}");
        let left = whole(&book);
        assert_eq!(names_in_order(&left), names_in_order(&second));
        assert!(all_of(&left) == all, "{what}");
    }
}

#[test]
fn all_files_may_go() {
    let book = book();
    let all = entries(3_000);
    published(&book, as_new(all.clone()));
    let gone = all.into_iter().map(|(path, _)| (path, None));
    published(&book, gone.collect());
    let left = whole(&book);
    assert!(all_of(&left).is_empty() && !left.is_damaged);
    assert!(now(book.room.list("parts")).expect("listed").is_empty());
    published(&book, as_new(entries(2)));
    assert_eq!(all_of(&whole(&book)), entries(2));
}
