//! Compares sheets with a sorted map: after any sequence of changes, both contain the same files.

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;

use super::*;
use crate::core::testing::{cases, path};

fn meta(size: u64) -> Meta {
    Meta {
        size,
        created: Some(Time::from_micros(1_700_000_000_000_000)),
        modified: Time::from_micros(1_700_000_000_000_000 + size as i64),
        mime: Some(Mime::TEXT),
        format: Format::V2,
        texture: Some(Texture::Ascii),
        version: Some(Version::Number(size.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        mode: None,
    }
}

/// A minimal storage of sheets: keys in byte order, with the last sheet after all others.
#[derive(Default)]
struct Book(BTreeMap<String, Vec<u8>>);

fn key(upper: Option<&VPath>) -> String {
    upper.map_or("\u{10ffff}".into(), |path| path.to_string())
}

impl Book {
    fn sheet_of(&self, path: &VPath) -> Sheet {
        let behind = (Bound::Included(path.to_string()), Bound::Unbounded);
        match self.0.range(behind).next() {
            Some((_, bytes)) => Sheet::read(bytes).unwrap(),
            None => Sheet::default(),
        }
    }

    fn keep(&mut self, sheet: &Sheet) {
        let records = sheet.records();
        if records.is_empty() {
            self.0.remove(&key(sheet.upper()));
        }
        for record in records {
            assert!(record.bytes.len() < LIMIT + 4096, "{}", record.bytes.len());
            self.0.insert(key(record.upper.as_ref()), record.bytes);
        }
    }

    fn all(&self) -> Vec<Entry> {
        let sheets = self.0.values().map(|bytes| Sheet::read(bytes).unwrap());
        sheets.flat_map(|sheet| sheet.rows).collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Set(VPath, Meta),
    Remove(VPath),
    RemoveTree(VPath),
}

/// Few names, so that they collide; some of them long, so that sheets are split.
fn a_path() -> impl Strategy<Value = VPath> {
    let name = prop_oneof![
        "[a-c]",
        "[a-c]-",
        "é[ab]",
        "🙂{1,2}",
        Just("x".repeat(200)),
        Just("x".repeat(200) + "y")
    ];
    prop::collection::vec(name, 1..4).prop_map(|names| path(&names.join("/")))
}

fn a_meta() -> impl Strategy<Value = Meta> {
    let mime = prop_oneof![
        Just(None),
        Just(Some(Mime::TEXT)),
        "[a-z]{1,5}/[a-z]{1,5}".prop_map(|text| Some(Mime::given(&text)))
    ];
    let texture = prop_oneof![
        Just(None),
        Just(Some(Texture::Ascii)),
        Just(Some(Texture::Text)),
        Just(Some(Texture::Binary))
    ];
    (
        any::<u64>(),
        any::<Option<i64>>(),
        any::<i64>(),
        mime,
        any::<bool>(),
        texture,
        any::<Option<u64>>(),
    )
        .prop_map(
            |(size, created, modified, mime, old, texture, version)| Meta {
                size,
                created: created.map(Time::from_micros),
                modified: Time::from_micros(modified),
                mime,
                format: if old { Format::V1 } else { Format::V2 },
                texture,
                version: version.map(Version::Number),
                mode: None,
            },
        )
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (a_path(), a_meta()).prop_map(|(path, meta)| Step::Set(path, meta)),
        2 => a_path().prop_map(Step::Remove),
        1 => a_path().prop_map(Step::RemoveTree),
    ]
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn sheets_hold_what_a_sorted_map_holds(steps in prop::collection::vec(a_step(), 1..300)) {
        let mut book = Book::default();
        let mut map: BTreeMap<VPath, Meta> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Set(path, meta) => {
                    let mut sheet = book.sheet_of(&path);
                    prop_assert_eq!(sheet.get(&path), map.get(&path));
                    sheet.set(&path, meta.clone());
                    book.keep(&sheet);
                    map.insert(path, meta);
                }
                Step::Remove(path) => {
                    let mut sheet = book.sheet_of(&path);
                    sheet.remove(&path);
                    book.keep(&sheet);
                    map.remove(&path);
                }
                Step::RemoveTree(path) => {
                    let prefix = path.dir_prefix();
                    let sheets: Vec<Sheet> =
                        book.0.values().map(|bytes| Sheet::read(bytes).unwrap()).collect();
                    let mut gone = Vec::new();
                    for mut sheet in sheets {
                        gone.extend(sheet.remove_beginning(&prefix));
                        book.keep(&sheet);
                    }
                    for path in gone {
                        prop_assert!(map.remove(&path).is_some());
                    }
                    prop_assert!(!map.keys().any(|path| path.as_str().starts_with(&prefix)));
                }
            }
        }
        let expected: Vec<Entry> =
            map.into_iter().map(|(path, meta)| Entry { path, meta }).collect();
        prop_assert_eq!(book.all(), expected);
    }

    #[test]
    fn files_left_out_are_not_there_and_all_others_are(
        paths in prop::collection::btree_set(a_path(), 1..40),
        others in prop::collection::btree_set(a_path(), 0..40),
    ) {
        let rows = paths.iter().map(|path| Entry { path: path.clone(), meta: meta(1) });
        let mut sheet = Sheet::last(rows.collect());
        sheet.leave_out(&others.iter().cloned().collect::<Vec<_>>());
        let left: Vec<&VPath> = sheet.rows().iter().map(|row| &row.path).collect();
        prop_assert_eq!(left, paths.difference(&others).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_that_are_no_sheet_are_refused_and_nothing_worse(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Sheet::read(&bytes);
        let mut formed = vec![FORM];
        formed.extend(bytes);
        let _ = Sheet::read(&formed);
    }

    #[test]
    fn a_sheet_cut_short_is_refused(count in 1usize..20, cut in any::<prop::sample::Index>()) {
        let rows = (0..count as u64)
            .map(|n| Entry { path: path(&format!("/dir/{n:03}")), meta: meta(n) })
            .collect();
        let bytes = Sheet::last(rows).records().remove(0).bytes;
        prop_assert!(Sheet::read(&bytes).is_some());
        prop_assert!(Sheet::read(&bytes[..cut.index(bytes.len())]).is_none());
    }
}

#[test]
fn many_files_in_order_fill_few_sheets() {
    let mut book = Book::default();
    let names: Vec<VPath> = (0..10_000)
        .map(|n| path(&format!("/src/dir{:02}/file{:02}.ts", n / 100, n % 100)))
        .collect();
    for batch in names.chunks(100) {
        let mut sheet = book.sheet_of(&batch[0]);
        for path in batch {
            sheet.set(path, meta(path.as_str().len() as u64));
        }
        book.keep(&sheet);
    }
    assert_eq!(book.all().len(), 10_000);
    assert!(book.0.len() < 40, "{} sheets", book.0.len());
}

#[test]
fn an_emptied_sheet_leaves_its_paths_to_the_next() {
    let rows = (0..2_000)
        .map(|n| Entry {
            path: path(&format!("/{n:05}")),
            meta: meta(n),
        })
        .collect();
    let mut book = Book::default();
    book.keep(&Sheet::last(rows));
    assert!(book.0.len() > 2);
    let first = book.sheet_of(&path("/00000"));
    let upper = first.upper().unwrap().clone();
    for row in first.rows() {
        let mut sheet = book.sheet_of(&row.path);
        sheet.remove(&row.path);
        book.keep(&sheet);
    }
    let sheet = book.sheet_of(&path("/00000"));
    assert!(sheet.reaches(&upper) && sheet.get(&upper).is_none());
    assert_ne!(sheet.upper(), Some(&upper));
    assert_eq!(book.all().len(), 2_000 - first.rows().len());
}
