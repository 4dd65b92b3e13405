//! Every statement as it would be sent: its text and its values.

use super::*;
use crate::core::file::{Format, Mime, Texture};
use crate::core::testing::path;
use crate::core::time::Time;
use crate::storage::sql::dialect::check_namespace;
use crate::storage::{Alteration, Version};

fn place(dialect: Dialect) -> Place {
    Place {
        dialect,
        table: Table::parse("files").expect("sound"),
        namespace: Rc::from("tenant"),
    }
}

fn file(body: &'static [u8]) -> NewFile {
    NewFile {
        body: Bytes::from_static(body),
        created: Time::from_micros(1),
        modified: Time::from_micros(2),
        mime: Mime::TEXT,
        format: Format::V2,
        texture: Texture::Ascii,
        mode: None,
    }
}

/// One file that is created, and the same replaced, deleted and compared.
fn alterations(at: &VPath, new: &NewFile) -> Vec<Alteration> {
    let was = Some(Version::Number(7));
    let one = |was: &Option<Version>, file: Option<&NewFile>| Alteration {
        path: at.clone(),
        was: was.clone(),
        file: file.cloned(),
    };
    vec![
        one(&None, Some(new)),
        one(&was, Some(new)),
        one(&was, None),
        one(&None, None),
    ]
}

fn all(dialect: Dialect, evil: &str) -> Vec<Statement> {
    let place = place(dialect);
    let at = path(evil);
    let new = file(b"'; DROP TABLE files; --");
    vec![
        place.stat(&at, Some(evil.as_bytes())),
        place.get(&at),
        place.get_many(&[&at, &at]),
        place.page(&Keys::of_prefix(evil), Some(evil.as_bytes()), 10),
        place.level(&at),
        place.create(&at, &new, 1),
        place.overwrite(&[(at.clone(), new.clone())], || 1),
        place.update(&at, &new, 1),
        place.delete(&at, Some(1)),
        place.change(&alterations(&at, &new), || 1),
        place.delete_tree(&at),
    ]
}

#[test]
fn no_value_ever_stands_in_the_text() {
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        for statement in all(dialect, "/x'; DROP TABLE files; --") {
            assert!(!statement.sql.contains("DROP"), "{}", statement.sql);
            assert!(!statement.sql.contains("tenant"), "{}", statement.sql);
            let marks = match dialect {
                Dialect::Postgres => statement.sql.matches("::").count(),
                Dialect::Sqlite => statement.sql.matches('?').count(),
            };
            assert_eq!(marks, statement.values.len(), "{}", statement.sql);
        }
    }
}

#[test]
fn every_statement_asks_for_its_namespace_and_none_for_a_pattern() {
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        for statement in all(dialect, "/a%_b") {
            assert!(statement.values.contains(&Value::from("tenant")));
            let upper = statement.sql.to_uppercase();
            assert!(!upper.contains("LIKE") && !upper.contains("GLOB") && !upper.contains('~'));
        }
    }
}

#[test]
fn deleted_rows_have_a_namespace_that_nobody_can_pass() {
    let sweep = place(Dialect::Sqlite).sweep();
    assert_eq!(sweep.values, [Value::from("!tenant")]);
    assert!(check_namespace(&["!tenant"]).is_err());
}

#[test]
fn a_row_of_an_insert_takes_as_many_values_as_it_says() {
    let statement = place(Dialect::Sqlite).create(&path("/a"), &file(b""), 1);
    assert_eq!(statement.values.len(), ROW_VALUES);
}

#[test]
fn a_scope_is_one_range_of_keys() {
    let scope = Scope {
        root: VPath::root(),
        prefix: "src/ma".to_owned(),
    };
    let keys = Keys::of_scope(&scope);
    assert_eq!(keys.from, "/src/ma");
    assert_eq!(keys.until.as_deref(), Some("/src/mb"));
    let next = keys.behind("/src/main.rs");
    assert!(next.from.as_str() > "/src/main.rs" && next.until == keys.until);
}
