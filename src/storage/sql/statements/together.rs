//! One statement that changes several files if all of them have the versions that are expected.
//! PostgreSQL locks their rows first, in order, and compares what it then finds. SQLite executes one
//! writing statement at a time, but one statement cannot insert and delete there: rows to delete go
//! to a namespace that nobody can have, by an update like any other, and are deleted later.
//!
//! The values are one JSON text and the bodies end to end, since SQLite may limit parameters to a
//! hundred.

use bytes::Bytes;

use super::Place;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::statement::{Statement, Value};
use crate::storage::{Alteration, NewFile, Version};

// In these texts `{f}` stands for the table, `{n}` for the namespace, `{b}` for the bodies and `{r}`
// for the rows: path, expected version, type, version of a new file (0 for a deletion, NULL if the
// row is only compared), two times, and where the body is. Two statements of PostgreSQL insert in
// one order, so they do not block each other.
const POSTGRES: &str = "WITH given AS MATERIALIZED (SELECT j.value ->> 0 AS path, CAST(j.value ->> 1 \
    AS bigint) AS was, j.value ->> 2 AS mime, CAST(j.value ->> 3 AS bigint) AS fresh, CAST(j.value \
    ->> 4 AS bigint) AS created, CAST(j.value ->> 5 AS bigint) AS modified, substring({b} FROM \
    CAST(j.value ->> 6 AS integer) FOR CAST(j.value ->> 7 AS integer)) AS body FROM \
    json_array_elements(CAST({r} AS json)) AS j), held AS MATERIALIZED (SELECT path, version FROM \
    {f} WHERE namespace = {n} AND path IN (SELECT path FROM given) ORDER BY path FOR UPDATE), fits \
    AS MATERIALIZED (SELECT NOT EXISTS (SELECT 1 FROM given LEFT JOIN held ON held.path = \
    given.path WHERE held.version IS DISTINCT FROM given.was) AS yes), gone AS (DELETE FROM {f} AS \
    f USING given, fits WHERE fits.yes AND given.fresh = 0 AND f.namespace = {n} AND f.path = \
    given.path RETURNING f.path, f.version), kept AS (UPDATE {f} AS f SET mime_type = given.mime, \
    version = f.version + 1, created_at = given.created, modified_at = given.modified, content = \
    given.body FROM given, fits WHERE fits.yes AND given.fresh > 0 AND given.was IS NOT NULL AND \
    f.namespace = {n} AND f.path = given.path RETURNING f.path, f.version), made AS (INSERT INTO \
    {f} (namespace, path, mime_type, version, created_at, modified_at, content) SELECT {n}, path, \
    mime, fresh, created, modified, body FROM given, fits WHERE fits.yes AND fresh > 0 AND was IS \
    NULL ORDER BY path RETURNING path, version) SELECT path, version FROM gone UNION ALL SELECT \
    path, version FROM kept UNION ALL SELECT path, version FROM made";

// Some drivers pass an empty buffer as NULL, and a part of an empty blob is NULL as well. A row to delete gets a namespace with a character that
// no namespace of a caller can have.
const SQLITE: &str = "WITH given AS MATERIALIZED (SELECT j.value ->> 0 AS path, j.value ->> 1 AS was, \
    j.value ->> 2 AS mime, j.value ->> 3 AS fresh, j.value ->> 4 AS created, j.value ->> 5 AS \
    modified, coalesce(substr({b}, j.value ->> 6, j.value ->> 7), x'') AS body FROM json_each({r}) AS \
    j) INSERT INTO {f} AS f \
    (namespace, path, mime_type, version, created_at, modified_at, content) SELECT {n}, path, mime, \
    fresh, created, modified, body FROM given WHERE fresh IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \
    given AS g LEFT JOIN {f} AS x ON x.namespace = {n} AND x.path = g.path WHERE x.version IS NOT \
    g.was) ON CONFLICT (namespace, path) DO UPDATE SET namespace = CASE excluded.version WHEN 0 THEN \
    '!' || f.namespace ELSE f.namespace END, path = CASE excluded.version WHEN 0 THEN \
    hex(randomblob(8)) || f.path ELSE f.path END, mime_type = excluded.mime_type, version = \
    f.version + 1, created_at = excluded.created_at, modified_at = excluded.modified_at, content = \
    excluded.content RETURNING path, version";

impl Place {
    /// Makes all changes or none; returns a row for each file that was changed.
    pub fn change(&self, changes: &[Alteration], version: fn() -> u64) -> Statement {
        let mut rows = String::new();
        let mut bodies: Vec<u8> = Vec::new();
        for change in changes {
            rows.push(if rows.is_empty() { '[' } else { ',' });
            row(&mut rows, &mut bodies, change, version);
        }
        rows.push(']');
        let bodies = Value::Bytes(Bytes::from(bodies));
        let template = match self.dialect {
            Dialect::Postgres => POSTGRES,
            Dialect::Sqlite => SQLITE,
        };
        let mut statement = self.start("");
        for part in template.split('{') {
            match part.split_once('}') {
                Some(("f", rest)) => statement.push(self.table.as_str()).push(rest),
                Some(("n", rest)) => statement.text(&self.namespace).push(rest),
                Some(("b", rest)) => statement.bind(bodies.clone()).push(rest),
                Some((_, rest)) => statement.text(&rows).push(rest),
                None => statement.push(part),
            };
        }
        statement
    }

    /// Deletes the rows that [`Place::change`] could not delete in SQLite.
    pub fn sweep(&self) -> Statement {
        let mut statement = self.start("DELETE FROM ");
        statement
            .push(self.table.as_str())
            .push(" WHERE namespace = ")
            .text(&format!("!{}", self.namespace));
        statement
    }
}

fn row(out: &mut String, bodies: &mut Vec<u8>, change: &Alteration, version: fn() -> u64) {
    out.push('[');
    quote(out, change.path.as_str());
    match &change.was {
        Some(Version::Number(was)) => number(out, *was as i64),
        // Rows have numbers, so this one is of something else and fits nothing.
        Some(Version::Tag(_)) => number(out, -1),
        None => out.push_str(",null"),
    }
    match &change.file {
        Some(file) => {
            let NewFile { body, mime, .. } = file;
            out.push(',');
            quote(out, mime.as_str());
            let start = bodies.len().saturating_add(1);
            let times = [
                version() as i64,
                file.created.micros(),
                file.modified.micros(),
            ];
            for one in times.into_iter().chain([start as i64, body.len() as i64]) {
                number(out, one);
            }
            bodies.extend_from_slice(body);
        }
        // No column is NULL, also for the short life of a row to delete.
        None if change.was.is_some() => out.push_str(",\"\",0,0,0,1,0"),
        None => out.push_str(",null,null"),
    }
    out.push(']');
}

/// Writes a number of JSON after a comma.
fn number(out: &mut String, number: i64) {
    out.push(',');
    out.push_str(&number.to_string());
}

/// Writes a text of JSON.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '\0'..=' ' | '"' | '\\' => {
                let code = u32::from(char);
                out.push_str("\\u00");
                out.push(hex(code >> 4));
                out.push(hex(code & 15));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn hex(digit: u32) -> char {
    char::from_digit(digit, 16).unwrap_or('0')
}
