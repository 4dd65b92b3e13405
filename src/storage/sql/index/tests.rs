//! What is stored of files, compared with one set for each; which blocks become one; names.

use proptest::prelude::*;

use super::block::{Block, files_of, matching, most_files, size_of};
use super::take::{Outline, merges};
use super::terms::{BINARY, numbers};
use super::*;
use crate::core::file::Mime;
use crate::search::grams::{Collector, FULL, Grams, LEAST};
use crate::storage::sql::dialect::Table;
use crate::storage::sql::statements::Place;

fn place(dialect: Dialect, table: &str) -> Place {
    Place {
        dialect,
        table: Table::parse(table).expect("sound"),
        namespace: Rc::from("tenant"),
    }
}

/// Whether a set has a trigram.
fn has(grams: &Grams, gram: Gram) -> bool {
    match grams {
        Grams::Nothing => false,
        Grams::Anything | Grams::Unread => true,
        Grams::Set { size, bits } => {
            let place = gram >> (FULL - size);
            let word = bits.get(place as usize >> 6).copied().unwrap_or_default();
            word >> (place & 63) & 1 == 1
        }
    }
}

/// The slice of a block for a trigram, as the database cuts it out of the rows.
fn slice(block: &Block, gram: Gram) -> Vec<u8> {
    let layout = block.layout();
    let place = (gram >> (FULL - block.size)) as usize;
    let row = layout.width * layout.each;
    let rows: Vec<&[u8]> = block.slices.chunks(row).collect();
    assert_eq!(rows.len(), layout.rows);
    let from = place % layout.each * layout.width;
    rows[place / layout.each][from..from + layout.width].to_vec()
}

/// The files of a block that may match.
fn found(block: &Block, need: &Need) -> Vec<i64> {
    let grams: Vec<Gram> = need.iter().flatten().flatten().copied().collect();
    let slices: Sorted<Gram, Vec<u8>> = grams.iter().map(|g| (*g, slice(block, *g))).collect();
    let places = matching(need, |gram| slices.get(&gram).map(|slice| &slice[..]));
    match places {
        Some(places) => places.iter().map(|at| block.files[*at]).collect(),
        None => block.files.clone(),
    }
}

/// The same by the sets, one after another.
fn admitted(sets: &[(i64, Grams)], need: &Need) -> Vec<i64> {
    let all = |set: &Grams, literal: &Vec<Gram>| literal.iter().all(|gram| has(set, *gram));
    let admits = |set: &Grams| {
        need.iter()
            .all(|clause| clause.iter().any(|literal| all(set, literal)))
    };
    sets.iter()
        .filter(|(_, set)| admits(set))
        .map(|(id, _)| *id)
        .collect()
}

fn bodies() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("([a-d]{0,4} ?\n?){0,40}", 1..40)
}

proptest! {
    #[test]
    fn a_block_admits_what_its_sets_admit(
        bodies in bodies(),
        odd in prop::collection::vec(0..12u8, 40),
        dead in prop::collection::vec(any::<bool>(), 40),
        pattern in "[a-d]{3,6}(\\|[a-d]{3,5})?",
        cut in 0..40usize,
    ) {
        let mut collector = Collector::default();
        let sets: Vec<(i64, Grams)> = (1i64..).step_by(2).zip(&bodies).zip(&odd).map(|((id, body), odd)| {
            (id, match odd {
                0 => Grams::Nothing,
                1 => Grams::Anything,
                _ => collector.collect(body.as_bytes()),
            })
        }).collect();
        prop_assume!(sets.iter().all(|(_, set)| size_of(set) == LEAST));
        let query = GrepQuery { regex: true, ..GrepQuery::literal(&pattern) };
        let need = need(&query, 0).expect("a valid pattern");
        let (left, right) = sets.split_at(cut.min(sets.len()));
        let parts: Vec<Block> = [left, right].iter().filter(|part| !part.is_empty())
            .map(|part| Block::of(LEAST, part)).collect();
        let apart: Vec<i64> = parts.iter().flat_map(|part| found(part, &need)).collect();
        prop_assert_eq!(&apart, &admitted(&sets, &need));
        let living: Vec<(i64, Grams)> = sets.iter().zip(&dead)
            .filter(|(_, dead)| !**dead).map(|(one, _)| one.clone()).collect();
        let ids: Vec<i64> = living.iter().map(|(id, _)| *id).collect();
        let merged = Block::merged(&parts, &ids).expect("all are there");
        prop_assert_eq!(&merged, &Block::of(LEAST, &living));
        if !living.is_empty() {
            prop_assert_eq!(found(&merged, &need), admitted(&living, &need));
        }
        prop_assert_eq!(Block::merged(&parts, &[2]), None);
    }

    #[test]
    fn a_short_text_has_the_numbers_of_a_block(gaps in prop::collection::vec(1..3i64, 0..200)) {
        let files: Vec<i64> = gaps.iter().scan(0, |last, gap| { *last += gap; Some(*last) }).collect();
        let block = Block { size: LEAST, files: files.clone(), slices: Vec::new() };
        prop_assert_eq!(files_of(&block.ranges()), files);
    }
}

#[test]
fn files_that_were_written_together_have_one_pair_of_numbers() {
    let files: Vec<i64> = (7..2_000).chain([2_001]).collect();
    let block = Block {
        size: LEAST,
        files,
        slices: Vec::new(),
    };
    assert_eq!(block.ranges(), "[[7,1999],[2001,2001]]");
    // A text that nobody here has written takes no memory.
    assert_eq!(files_of("[[1,9000000000]]").len(), most_files(LEAST));
    assert_eq!(numbers("[[1,2],[3,4]]").collect::<Vec<i64>>(), [1, 2, 3, 4]);
}

#[test]
fn a_block_fits_into_one_value_of_a_database() {
    for size in LEAST..=FULL {
        let most = most_files(size);
        assert!(most >= 32 && most.div_ceil(8) << size <= 1 << 20, "{size}");
    }
}

#[test]
fn a_clause_without_trigrams_excludes_nothing() {
    let need: Need = vec![vec![vec![5], Vec::new()], vec![vec![9]]];
    let slice = |gram: Gram| match gram {
        9 => Some(&[0b101u8][..]),
        _ => Some(&[0u8][..]),
    };
    assert_eq!(matching(&need, slice), Some(vec![0, 2]));
    // Nor does a slice that is missing.
    assert_eq!(matching(&need, |_| None), None);
}

#[test]
fn blocks_of_about_one_size_become_one_and_those_that_are_half_dead_smaller() {
    let block = |block: i64, size: u32, files: usize, live: usize| Outline {
        block,
        size,
        files,
        live,
    };
    let four = |size: u32| (1..5).map(move |n| block(n, size, 256, 250));
    assert_eq!(merges(&four(12).collect::<Vec<_>>()), [[1, 2, 3, 4]]);
    let mixed: Vec<Outline> = four(12).take(3).chain([block(9, 11, 256, 250)]).collect();
    assert!(merges(&mixed).is_empty(), "of another size");
    let full = block(7, 12, 2_048, 2_048);
    assert!(merges(&[full, full, full, full, full]).is_empty());
    assert_eq!(
        merges(&[block(7, 12, 2_048, 1_025)]),
        Vec::<Vec<i64>>::new()
    );
    assert_eq!(merges(&[block(7, 12, 2_048, 1_000)]), [[7]]);
    assert_eq!(merges(&[block(7, 12, 100, 49)]), [[7]]);
    assert!(merges(&[block(7, 12, 100, 0)]).is_empty(), "it is removed");
    // No more together than fit.
    let large: Vec<Outline> = (1..6).map(|n| block(n, 12, 1_000, 1_000)).collect();
    assert_eq!(merges(&large), [[1, 2]]);
}

/// What 100,000 files in blocks of 256 end as, if each step makes the blocks that are to be made.
#[test]
fn blocks_stay_few_and_no_file_is_taken_often() {
    let (mut all, mut moved) = (Vec::new(), 0usize);
    for n in 0..400i64 {
        all.push(Outline {
            block: n + 1,
            size: 12,
            files: 256,
            live: 256,
        });
        for (at, group) in merges(&all).into_iter().enumerate() {
            let live = all.iter().filter(|one| group.contains(&one.block));
            let live: usize = live.map(|one| one.live).sum();
            moved += live;
            all.retain(|one| !group.contains(&one.block));
            all.push(Outline {
                block: 10_000 * (n + 1) + at as i64,
                size: 12,
                files: live,
                live,
            });
        }
    }
    assert!(all.len() <= 100_000 / 1_024 + 8, "{}", all.len());
    assert!(moved <= 2 * 400 * 256, "{moved}");
}

#[test]
fn files_that_are_left_out_of_the_index_are_never_searched() {
    for kind in BINARY {
        assert!(!Mime::given(kind).is_text(), "{kind}");
    }
}

#[test]
fn the_number_of_an_index_is_read_from_its_name_only() {
    let place = place(Dialect::Sqlite, "s.files");
    let number = |name: &str| place.generation(name).map(|found| found.0);
    assert_eq!(number("files_index_0000000000ff"), Some(255));
    for other in [
        "files_index_ff",
        "files_index_0000000000FF",
        "files_index_",
        "other_index_0000000000ff",
        "files_index_0000000000ff_insert",
        "files_search_00000000000000ff",
    ] {
        assert_eq!(number(other), None, "{other}");
    }
}

#[test]
fn only_what_is_named_as_an_older_index_is_removed_as_one() {
    let place = place(Dialect::Sqlite, "s.files");
    let statements = place.drop_older("files_search_00000000000000ff");
    let sent: Vec<&str> = statements.iter().map(|one| &one.sql[..]).collect();
    assert_eq!(
        sent.first().copied(),
        Some("DROP TRIGGER IF EXISTS \"s\".\"files_search_00000000000000ff_delete\"")
    );
    assert!(sent.contains(&"DROP TABLE IF EXISTS \"s\".\"files_trigrams_00000000000000ff\""));
    for other in [
        "files_search_ff",
        "files_search_00000000000000FF",
        "files_search_\"; DROP TABLE x; --",
        "other_search_00000000000000ff",
        "files_index_0000000000ff",
    ] {
        assert!(place.drop_older(other).is_empty(), "{other}");
    }
}

#[test]
fn names_without_a_schema_stand_where_one_is_not_allowed() {
    let made = place(Dialect::Sqlite, "s.files").create_in_sqlite(Generation(1));
    for statement in &made {
        assert!(
            statement.sql.contains(" \"s\".\"files_"),
            "{}",
            statement.sql
        );
        assert_eq!(
            statement.sql.matches("\"s\".").count(),
            1,
            "{}",
            statement.sql
        );
    }
    assert!(
        !place(Dialect::Sqlite, "files")
            .create_in_sqlite(Generation(1))
            .iter()
            .any(|one| one.sql.contains("\".\""))
    );
}

#[test]
fn a_name_that_leaves_no_room_is_refused() {
    let fits = |length: usize| place(Dialect::Postgres, &"x".repeat(length)).fits().is_ok();
    assert!(fits(44));
    assert!(!fits(45));
}

fn statements(dialect: Dialect) -> Vec<Statement> {
    let place = place(dialect, "files");
    let index = Generation(1);
    let block = Block::of(LEAST, &[(5, Grams::Anything)]);
    let narrow = Narrow {
        generation: index,
        files: None,
        blocks: "[3]".into(),
    };
    vec![
        place.look_up(index, "[1,2]", 9),
        place.page_of(&narrow, "[1]", &Keys::of_prefix("/evil"), Some(b"evil"), 9),
        place.waiting(index, 9),
        place.untaken(index, 7, 9),
        place.bodies_of(index, "[1]"),
        place.store_block(index, 3, block.clone(), "[0]"),
        place.store_block(index, 3, block, "[1,2]"),
        place.all_blocks(index),
        place.live_in(index, "[1]"),
        place.rows_of(index, "[1]"),
        place.drop_blocks(index, "[1]"),
        place.check(index),
        place.fill(index, ("evil", "/evil")),
        place.complete(index),
        place.generations(),
    ]
}

#[test]
fn no_name_is_left_in_a_text_and_no_value_stands_in_it() {
    for (dialect, mark) in [(Dialect::Postgres, '$'), (Dialect::Sqlite, '?')] {
        for Statement { sql, values, .. } in statements(dialect) {
            assert!(!sql.contains(['{', '}']), "{sql}");
            assert!(!sql.contains("tenant") && !sql.contains("evil"), "{sql}");
            assert_eq!(sql.matches(mark).count(), values.len(), "{sql}");
        }
    }
}

#[test]
fn what_is_asked_of_files_is_asked_for_one_namespace() {
    let tenant = Value::from("tenant");
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        let asked = statements(dialect);
        let of_tenant = asked.iter().filter(|one| one.values.contains(&tenant));
        // The others tell no paths, or fill the table of all tenants.
        assert_eq!(of_tenant.count(), 10, "{dialect:?}");
    }
}
