//! What the index is asked for, and what it is never asked for.

use super::terms::BINARY;
use super::*;
use crate::core::file::Mime;
use crate::storage::sql::dialect::Table;
use crate::storage::sql::statements::Place;

fn clauses(pattern: &str, regex: bool, ignore_case: bool) -> Vec<Vec<String>> {
    let query = GrepQuery {
        regex,
        ignore_case,
        ..GrepQuery::literal(pattern)
    };
    required(&query).expect("a valid pattern")
}

fn place(table: &str) -> Place {
    Place {
        dialect: Dialect::Sqlite,
        table: Table::parse(table).expect("sound"),
        namespace: std::rc::Rc::from("tenant"),
    }
}

#[test]
fn fts5_is_asked_for_trigrams_that_every_match_has() {
    let asked = |pattern: &str| sqlite::expression(&clauses(pattern, false, false));
    let always = " OR \"\u{e000}\u{e001}\u{e002}\"";
    let one = |text: &str| Some(format!("(((\"{text}\"))){always}"));
    assert_eq!(asked("abc"), one("abc"));
    assert_eq!(asked("a\"c"), one("a\"\"c"));
    assert_eq!(
        asked("日本語x"),
        Some(format!("(((\"日本語\" AND \"本語x\"))){always}"))
    );
    // Bytes after the last character could belong to it, in the eyes of FTS5.
    assert_eq!(asked("caf\u{e9}"), one("caf"));
    assert_eq!(asked("日本語"), None);
    // Characters that newer versions of Unicode fold in another way, and the end of a text.
    assert_eq!(asked("\u{13a0}\u{13a1}\u{13a2}."), None);
    assert_eq!(asked("a\0b"), None);
    for short in ["", "ab", "é."] {
        assert_eq!(asked(short), None, "{short}");
    }
}

#[test]
fn a_choice_is_asked_for_as_a_whole_or_not_at_all() {
    let asked = |pattern: &str| sqlite::expression(&clauses(pattern, true, false));
    assert_eq!(
        asked("one|two").expect("trigrams").matches(" OR ").count(),
        2
    );
    for any in ["one|日本", ".*", "\\w+", "one|tw"] {
        assert_eq!(asked(any), None, "{any}");
    }
    assert!(asked("one.*日本").expect("trigrams").contains("\"one\""));
}

#[test]
fn pg_trgm_is_asked_for_the_encoded_form_in_lower_case() {
    let asked = |pattern: &str| postgres::patterns(&clauses(pattern, false, true));
    let one = |text: &str| vec![vec![text.to_owned()]];
    assert_eq!(asked("ReTry"), one("%retry%"));
    assert_eq!(asked("abc%_\\"), one("%abc\\%\\_\\\\\\\\%"));
    let exact = |pattern: &str| postgres::patterns(&clauses(pattern, false, false));
    assert_eq!(exact("xé"), one("%x\\\\303\\\\251%"));
    // No three letters or digits in a row: every row would be a candidate.
    for any in ["});", "a_b", "ab cd"] {
        assert!(asked(any).is_empty(), "{any}");
    }
    let long = exact(&"é".repeat(500));
    assert!(long.iter().flatten().all(|pattern| pattern.len() < 1_000));
}

#[test]
fn files_that_are_left_out_of_the_index_are_never_searched() {
    for kind in BINARY {
        assert!(!Mime::given(kind).is_text(), "{kind}");
    }
}

#[test]
fn the_number_of_an_index_is_read_from_its_name_only() {
    let place = place("s.files");
    let number = |name: &str| place.generation(name).map(|found| found.0);
    assert_eq!(number("files_search_00000000000000ff"), Some(255));
    for other in [
        "files_search_ff",
        "files_search_00000000000000FF",
        "files_search_",
        "other_search_00000000000000ff",
        "files_search_00000000000000ff_add",
    ] {
        assert_eq!(number(other), None, "{other}");
    }
}

#[test]
fn names_without_a_schema_stand_where_one_is_not_allowed() {
    let made = place("s.files").create_sqlite_index(Generation(1));
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
        !place("files")
            .create_sqlite_index(Generation(1))
            .iter()
            .any(|one| one.sql.contains("\".\""))
    );
}
