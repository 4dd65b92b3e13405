//! Rows and files: the columns to request, the conversion of rows to files, and the division of
//! files into statements.

use bytes::Bytes;

use crate::core::file::{Format, Mime, Texture};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::core::time::Time;
use crate::storage::sql::statement::Value;
use crate::storage::{Entry, Meta, NewFile, Version};

/// Maximum bytes of bodies in one statement; a single larger file is allowed.
pub(super) const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of rows in one statement.
pub(super) const BATCH_ROWS: usize = 500;

/// The type of a result column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A text.
    Text(&'static str),
    /// An integer, in any form in which drivers return 64 bits.
    Number(&'static str),
    /// Bytes, in any form in which drivers return them.
    Bytes(&'static str),
}

/// The rows of a result with the requested columns; `None` for NULL.
pub type Rows = Vec<Vec<Option<Value>>>;

pub(super) const META: [Column; 6] = [
    Column::Text("path"),
    Column::Number("size"),
    Column::Text("mime_type"),
    Column::Number("version"),
    Column::Number("created_at"),
    Column::Number("modified_at"),
];

pub(super) const FILE: [Column; 7] = [
    Column::Text("path"),
    Column::Number("size"),
    Column::Text("mime_type"),
    Column::Number("version"),
    Column::Number("created_at"),
    Column::Number("modified_at"),
    Column::Bytes("content"),
];

pub(super) const CHANGED: [Column; 2] = [Column::Text("path"), Column::Number("version")];

pub(super) fn stored(file: &NewFile, version: Option<i64>) -> Meta {
    Meta {
        format: Format::V2,
        ..file.meta(version.map(|version| Version::Number(version.unsigned_abs())))
    }
}

pub(super) fn text(row: &[Option<Value>], at: usize) -> Option<String> {
    match row.get(at) {
        Some(Some(Value::Text(text))) => Some(text.to_string()),
        _ => None,
    }
}

pub(super) fn number(row: &[Option<Value>], at: usize) -> Option<i64> {
    match row.get(at) {
        Some(Some(Value::Number(number))) => Some(*number),
        _ => None,
    }
}

/// Converts a row to a file; a row with a non-canonical path is skipped.
pub(super) fn entry(row: Vec<Option<Value>>) -> Option<(Entry, Bytes)> {
    let path = VPath::from_stored(&text(&row, 0)?).filter(|path| !path.is_root())?;
    let size = number(&row, 1).unwrap_or(0).unsigned_abs();
    // Rows of an older table have no type.
    let mime = text(&row, 2)
        .filter(|mime| !mime.is_empty())
        .map(|mime| Mime::given(&mime));
    let time = |at| Time::from_micros(number(&row, at).unwrap_or(0));
    let meta = Meta {
        size,
        created: Some(time(4)),
        modified: time(5),
        format: Format::V2,
        texture: mime
            .as_ref()
            .filter(|mime| !mime.is_text())
            .map(|_| Texture::Binary),
        mime,
        mode: None,
        version: number(&row, 3).map(|version| Version::Number(version.unsigned_abs())),
    };
    let body = match row.into_iter().nth(6) {
        Some(Some(Value::Bytes(body))) => body,
        _ => Bytes::new(),
    };
    Some((Entry { path, meta }, body))
}

/// Divides files into batches for one statement: limited in values and bytes, and without duplicate
/// paths.
pub(super) fn batches(
    files: Vec<(VPath, NewFile)>,
    most_rows: usize,
) -> Vec<Vec<(VPath, NewFile)>> {
    let mut out: Vec<Vec<(VPath, NewFile)>> = Vec::new();
    let mut seen: Sorted<VPath, ()> = Sorted::new();
    let mut bytes = 0u64;
    for (path, file) in files {
        let size = file.body.len() as u64;
        let fits = out.last().is_some_and(|batch| batch.len() < most_rows)
            && bytes.saturating_add(size) <= BATCH_BYTES
            && seen.get(&path).is_none();
        if !fits {
            seen = Sorted::new();
            bytes = 0;
            out.push(Vec::new());
        }
        bytes = bytes.saturating_add(size);
        seen.insert(path.clone(), ());
        if let Some(batch) = out.last_mut() {
            batch.push((path, file));
        }
    }
    out
}

/// Whether a driver's error is an answer of the database: SQLite names its result code, in `code` or
/// in the text, and PostgreSQL gives an SQLSTATE. Classes 08 and 57 and `40003` are about broken
/// connections and unknown outcomes. All other errors may come from the network.
#[cfg_attr(
    not(host = "javascript"),
    allow(dead_code, reason = "for JavaScript drivers")
)]
pub(super) fn is_refusal(code: &str, message: &str) -> bool {
    let sqlstate = code.len() == 5
        && code
            .bytes()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && code.bytes().any(|b| b.is_ascii_digit());
    let unclear = code.starts_with("08") || code.starts_with("57") || code == "40003";
    (sqlstate && !unclear) || code.contains("SQLITE_") || message.contains("SQLITE_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_no_path_twice_and_no_more_than_they_may() {
        let file = |size: usize| NewFile {
            body: Bytes::from(vec![b'x'; size]),
            created: Time::from_micros(0),
            modified: Time::from_micros(0),
            mime: Mime::TEXT,
            format: Format::V2,
            texture: Texture::Ascii,
            mode: None,
        };
        let path = |name: &str| VPath::parse(name).expect("a path");
        let sizes = |files| -> Vec<usize> { batches(files, 3).iter().map(Vec::len).collect() };
        let many = (0..7).map(|n| (path(&format!("/{n}")), file(1))).collect();
        assert_eq!(sizes(many), [3, 3, 1]);
        let twice = vec![
            (path("/a"), file(1)),
            (path("/a"), file(1)),
            (path("/b"), file(1)),
        ];
        assert_eq!(sizes(twice), [1, 2]);
        let large = BATCH_BYTES as usize + 1;
        let big = vec![
            (path("/a"), file(1)),
            (path("/b"), file(large)),
            (path("/c"), file(1)),
        ];
        assert_eq!(sizes(big), [1, 1, 1]);
        assert!(sizes(Vec::new()).is_empty());
    }

    #[test]
    fn only_an_answer_of_the_database_is_a_refusal() {
        for (code, message) in [
            ("SQLITE_TOOBIG", "string or blob too big"),
            ("ERR_SQLITE_ERROR", "string or blob too big"),
            ("", "D1_ERROR: string or blob too big: SQLITE_TOOBIG"),
            ("54000", "index row size exceeds maximum"),
            ("22P02", "invalid input"),
        ] {
            assert!(is_refusal(code, message), "{code} {message}");
        }
        for (code, message) in [
            ("ECONNRESET", "read ECONNRESET"),
            ("EPIPE", "write EPIPE"),
            ("", "D1_ERROR: Network connection lost."),
            ("", "Connection terminated unexpectedly"),
            ("08006", "connection failure"),
            (
                "57P01",
                "terminating connection due to administrator command",
            ),
            ("40003", "statement completion unknown"),
        ] {
            assert!(!is_refusal(code, message), "{code} {message}");
        }
    }

    #[test]
    fn a_row_without_a_canonical_path_is_no_file() {
        let row = |key: &str| {
            let mut row = vec![Some(Value::from(key))];
            row.resize(7, None);
            entry(row)
        };
        assert!(row("/a").is_some());
        for key in ["a", "/", "", "/a//b", "/a/../b"] {
            assert!(row(key).is_none(), "{key}");
        }
    }
}
