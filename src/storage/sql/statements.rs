//! All statements that the storage sends, one function each, without sending them. Conditions are
//! part of the statement: a create inserts only if the row does not exist, an update requires the
//! version that it replaces, and the database checks this atomically. The namespace is always
//! compared for equality and never used as a pattern.

mod together;

use std::rc::Rc;

use bytes::Bytes;

use crate::core::path::VPath;
use crate::storage::sql::dialect::{Dialect, Table};
use crate::storage::sql::statement::{Statement, Value, after_prefix};
use crate::storage::{NewFile, Scope};

/// The columns of a row without the bytes, in this order.
const META: &str = "path, length_of_content AS size, mime_type, version, created_at, modified_at";

/// Number of values in one inserted row.
pub const ROW_VALUES: usize = 7;

/// The location of files: dialect, table, namespace.
#[derive(Clone, Debug)]
pub struct Place {
    /// The SQL dialect.
    pub dialect: Dialect,
    /// The table.
    pub table: Table,
    /// The namespace as one string.
    pub namespace: Rc<str>,
}

/// A range of keys, in byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The first key in the range.
    pub from: String,
    /// The first key after the range.
    pub until: Option<String>,
}

impl Keys {
    /// The keys that start with `prefix`.
    pub fn of_prefix(prefix: &str) -> Keys {
        Keys {
            from: prefix.to_owned(),
            until: after_prefix(prefix),
        }
    }

    /// The keys of a scope, except for a file at its root.
    pub fn of_scope(scope: &Scope) -> Keys {
        Keys::of_prefix(&scope.key_prefix())
    }

    /// The same range, starting after `key`.
    #[must_use]
    pub fn behind(&self, key: &str) -> Keys {
        Keys {
            // No canonical path lies between the two.
            from: format!("{key}\u{1}"),
            until: self.until.clone(),
        }
    }
}

impl Place {
    pub(super) fn start(&self, sql: &str) -> Statement {
        Statement::new(self.dialect, sql)
    }

    pub(super) fn meta(&self) -> String {
        let length = match self.dialect {
            Dialect::Postgres => "octet_length(content)",
            Dialect::Sqlite => "length(content)",
        };
        META.replace("length_of_content", length)
    }

    /// `SELECT … FROM table WHERE namespace = …`; more conditions can be appended.
    pub(super) fn select(&self, columns: &str) -> Statement {
        let mut statement = self.start("SELECT ");
        statement
            .push(columns)
            .push(" FROM ")
            .push(self.table.as_str())
            .push(" WHERE namespace = ")
            .text(&self.namespace);
        statement
    }

    pub(super) fn within(statement: &mut Statement, keys: &Keys) {
        statement.push(" AND path >= ").text(&keys.from);
        if let Some(until) = &keys.until {
            statement.push(" AND path < ").text(until);
        }
    }

    pub(super) fn holding(&self, statement: &mut Statement, literal: Option<&[u8]>) {
        let Some(literal) = literal.filter(|literal| !literal.is_empty()) else {
            return;
        };
        let value = Value::Bytes(Bytes::copy_from_slice(literal));
        match self.dialect {
            Dialect::Postgres => statement
                .push(" AND position(")
                .bind(value)
                .push(" IN content) > 0"),
            Dialect::Sqlite => statement
                .push(" AND instr(content, ")
                .bind(value)
                .push(") > 0"),
        };
    }

    /// The row of one file without its bytes; with a literal, only if the bytes contain it.
    pub fn stat(&self, path: &VPath, literal: Option<&[u8]>) -> Statement {
        let mut statement = self.select(&self.meta());
        statement.push(" AND path = ").text(path.as_str());
        self.holding(&mut statement, literal);
        statement
    }

    /// The row of one file with its bytes.
    pub fn get(&self, path: &VPath) -> Statement {
        let mut statement = self.select(&(self.meta() + ", content"));
        statement.push(" AND path = ").text(path.as_str());
        statement
    }

    /// Rows with their bytes, in any order.
    pub fn get_many(&self, paths: &[&VPath]) -> Statement {
        let mut statement = self.select(&format!("{}, content", self.meta()));
        statement.push(" AND path IN (");
        for (at, path) in paths.iter().enumerate() {
            if at > 0 {
                statement.push(", ");
            }
            statement.text(path.as_str());
        }
        statement.push(")");
        statement
    }

    /// A page of a key range, in order, without bytes.
    pub fn page(&self, keys: &Keys, literal: Option<&[u8]>, limit: usize) -> Statement {
        let mut statement = self.select(&self.meta());
        Place::within(&mut statement, keys);
        self.holding(&mut statement, literal);
        statement.push(&format!(" ORDER BY path LIMIT {limit}"));
        statement
    }

    /// The direct entries of a directory. The query seeks from one name to the next, so the files
    /// beneath a directory cost nothing: each step finds the first key after the last file, or
    /// after all keys of the last directory. A row stands for a directory if its path has another
    /// `/` after the prefix.
    pub fn level(&self, dir: &VPath) -> Statement {
        let prefix = dir.dir_prefix();
        let keys = Keys::of_prefix(&prefix);
        let behind = prefix.chars().count().saturating_add(1);
        let rest = format!("substr(level.entry, {behind})");
        let (find, char) = match self.dialect {
            Dialect::Postgres => ("strpos", "chr"),
            Dialect::Sqlite => ("instr", "char"),
        };
        let mut statement = self
            .start("WITH RECURSIVE level(entry) AS (SELECT entry FROM (SELECT path AS entry FROM ");
        statement
            .push(self.table.as_str())
            .push(" WHERE namespace = ")
            .text(&self.namespace);
        Place::within(&mut statement, &keys);
        statement
            .push(" ORDER BY path LIMIT 1) AS first UNION ALL SELECT (SELECT f.path FROM ")
            .push(self.table.as_str())
            .push(" AS f WHERE f.namespace = ")
            .text(&self.namespace)
            .push(&format!(
                " AND f.path >= CASE WHEN {find}({rest}, '/') = 0 THEN level.entry || {char}(1) ELSE "
            ))
            .text(&prefix)
            // '0' is the character after '/'.
            .push(&format!(
                " || substr({rest}, 1, {find}({rest}, '/') - 1) || '0' END"
            ));
        if let Some(until) = &keys.until {
            statement.push(" AND f.path < ").text(until);
        }
        statement.push(" ORDER BY f.path LIMIT 1) FROM level WHERE level.entry IS NOT NULL) ");
        let row = self.meta();
        match self.dialect {
            // A lateral join, row by row: with wrong estimates the planner would read the whole
            // table.
            Dialect::Postgres => statement
                .push("SELECT row.* FROM level CROSS JOIN LATERAL (SELECT ")
                .push(&row)
                .push(" FROM ")
                .push(self.table.as_str())
                .push(" WHERE namespace = ")
                .text(&self.namespace)
                .push(" AND path = entry LIMIT 1) AS row ORDER BY path"),
            Dialect::Sqlite => statement
                .push("SELECT ")
                .push(&row)
                .push(" FROM level CROSS JOIN ")
                .push(self.table.as_str())
                .push(" ON namespace = ")
                .text(&self.namespace)
                .push(" AND path = entry ORDER BY path"),
        };
        statement
    }

    fn row(&self, statement: &mut Statement, path: &VPath, file: &NewFile, version: u64) {
        statement
            .push("(")
            .text(&self.namespace)
            .push(", ")
            .text(path.as_str())
            .push(", ")
            .text(file.mime.as_str())
            .push(", ")
            .number(version)
            .push(", ");
        bind_time(statement, file.created.micros());
        statement.push(", ");
        bind_time(statement, file.modified.micros());
        statement.push(", ");
        self.bind_content(statement, &file.body);
        statement.push(")");
    }

    fn bind_content(&self, statement: &mut Statement, body: &Bytes) {
        let value = Value::Bytes(body.clone());
        match self.dialect {
            Dialect::Postgres => statement.bind(value),
            // Some drivers pass an empty buffer as NULL.
            Dialect::Sqlite => statement.push("coalesce(").bind(value).push(", x'')"),
        };
    }

    fn insert(&self) -> Statement {
        let mut statement = self.start("INSERT INTO ");
        statement.push(self.table.as_str()).push(
            " AS f (namespace, path, mime_type, version, created_at, modified_at, content) VALUES ",
        );
        statement
    }

    /// Stores a file if none exists; returns a row on success.
    pub fn create(&self, path: &VPath, file: &NewFile, version: u64) -> Statement {
        let mut statement = self.insert();
        self.row(&mut statement, path, file, version);
        statement.push(" ON CONFLICT (namespace, path) DO NOTHING RETURNING path, version");
        statement
    }

    /// Stores files unconditionally; the version of an existing file is incremented. Each path may
    /// occur only once.
    pub fn overwrite(&self, files: &[(VPath, NewFile)], version: impl Fn() -> u64) -> Statement {
        let mut statement = self.insert();
        for (at, (path, file)) in files.iter().enumerate() {
            if at > 0 {
                statement.push(", ");
            }
            self.row(&mut statement, path, file, version());
        }
        statement.push(
            " ON CONFLICT (namespace, path) DO UPDATE SET mime_type = excluded.mime_type, \
             version = f.version + 1, created_at = excluded.created_at, \
             modified_at = excluded.modified_at, content = excluded.content \
             RETURNING path, version",
        );
        statement
    }

    /// Stores a file if it has that version; returns a row on success.
    pub fn update(&self, path: &VPath, file: &NewFile, version: u64) -> Statement {
        let mut statement = self.start("UPDATE ");
        statement
            .push(self.table.as_str())
            .push(" SET mime_type = ")
            .text(file.mime.as_str())
            .push(", version = version + 1, created_at = ");
        bind_time(&mut statement, file.created.micros());
        statement.push(", modified_at = ");
        bind_time(&mut statement, file.modified.micros());
        statement.push(", content = ");
        self.bind_content(&mut statement, &file.body);
        statement
            .push(" WHERE namespace = ")
            .text(&self.namespace)
            .push(" AND path = ")
            .text(path.as_str())
            .push(" AND version = ")
            .number(version)
            .push(" RETURNING path, version");
        statement
    }

    fn one(&self, statement: &mut Statement, path: &VPath, version: u64) {
        statement
            .push(" WHERE namespace = ")
            .text(&self.namespace)
            .push(" AND path = ")
            .text(path.as_str())
            .push(" AND version = ")
            .number(version);
    }

    /// Moves a row with that version to a path where none is; returns a row on success.
    pub fn relocate(&self, from: &VPath, version: u64, to: &VPath, fresh: u64) -> Statement {
        let mut statement = self.start("UPDATE ");
        statement
            .push(self.table.as_str())
            .push(" SET path = ")
            .text(to.as_str())
            .push(", version = ")
            .number(fresh);
        self.one(&mut statement, from, version);
        statement
            .push(" AND NOT EXISTS (SELECT 1 FROM ")
            .push(self.table.as_str())
            .push(" AS f WHERE f.namespace = ")
            .text(&self.namespace)
            .push(" AND f.path = ")
            .text(to.as_str())
            .push(") RETURNING path, version");
        statement
    }

    /// Copies a row with that version; returns a row on success.
    pub fn copy(
        &self,
        from: &VPath,
        version: u64,
        to: &VPath,
        fresh: u64,
        overwrite: bool,
    ) -> Statement {
        let mut statement = self.start("INSERT INTO ");
        statement
            .push(self.table.as_str())
            .push(
                " AS f (namespace, path, mime_type, version, created_at, modified_at, content) \
                 SELECT namespace, ",
            )
            .text(to.as_str())
            .push(", mime_type, ")
            .number(fresh)
            .push(", created_at, modified_at, content FROM ")
            .push(self.table.as_str());
        self.one(&mut statement, from, version);
        statement
            .push(" ON CONFLICT (namespace, path) DO ")
            .push(match overwrite {
                true => {
                    "UPDATE SET mime_type = excluded.mime_type, version = f.version + 1, \
                 created_at = excluded.created_at, modified_at = excluded.modified_at, \
                 content = excluded.content RETURNING path, version"
                }
                false => "NOTHING RETURNING path, version",
            });
        statement
    }

    fn delete_from(&self) -> Statement {
        let mut statement = self.start("DELETE FROM ");
        statement
            .push(self.table.as_str())
            .push(" WHERE namespace = ")
            .text(&self.namespace);
        statement
    }

    /// Removes a file, or only that version of it; returns a row on success.
    pub fn delete(&self, path: &VPath, version: Option<u64>) -> Statement {
        let mut statement = self.delete_from();
        statement.push(" AND path = ").text(path.as_str());
        if let Some(version) = version {
            statement.push(" AND version = ").number(version);
        }
        statement.push(" RETURNING path, version");
        statement
    }

    /// Removes the file at `root` and everything beneath it; returns one row for each.
    pub fn delete_tree(&self, root: &VPath) -> Statement {
        let keys = Keys::of_prefix(&root.dir_prefix());
        let mut statement = self.delete_from();
        statement
            .push(" AND (path = ")
            .text(root.as_str())
            .push(" OR (path >= ")
            .text(&keys.from);
        if let Some(until) = &keys.until {
            statement.push(" AND path < ").text(until);
        }
        statement.push(")) RETURNING path, version");
        statement
    }

    /// Creates the table if it does not exist.
    pub fn create_table(&self) -> Statement {
        let (text, number, bytes) = (
            self.dialect.text_type(),
            self.dialect.number_type(),
            self.dialect.bytes_type(),
        );
        // The content is the last column, since SQLite reads a row from the front.
        self.start(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (namespace {text} NOT NULL, path {text} NOT NULL, \
             mime_type {text} NOT NULL DEFAULT '', version {number} NOT NULL DEFAULT 1, \
             created_at {number} NOT NULL DEFAULT 0, modified_at {number} NOT NULL DEFAULT 0, \
             content {bytes} NOT NULL, PRIMARY KEY (namespace, path))",
            table = self.table.as_str(),
        ))
    }

    /// The columns that an older table may lack, with their definitions.
    pub fn added_columns(&self) -> [(&'static str, String); 4] {
        let (text, number) = (self.dialect.text_type(), self.dialect.number_type());
        [
            ("mime_type", format!("{text} NOT NULL DEFAULT ''")),
            ("version", format!("{number} NOT NULL DEFAULT 1")),
            ("created_at", format!("{number} NOT NULL DEFAULT 0")),
            ("modified_at", format!("{number} NOT NULL DEFAULT 0")),
        ]
    }

    /// The columns of the table, in lower case; none if it does not exist. An error is never the
    /// answer to that question.
    pub fn columns(&self) -> Statement {
        let table = self.table.as_str();
        self.start(&match self.dialect {
            Dialect::Postgres => format!(
                "SELECT a.attname::text AS path FROM pg_catalog.pg_attribute AS a WHERE a.attrelid \
                 = to_regclass('{table}') AND a.attnum > 0 AND NOT a.attisdropped"
            ),
            Dialect::Sqlite => {
                let schema = self.table.schema().map(|schema| format!(", '{schema}'"));
                format!(
                    "SELECT lower(name) AS path FROM pragma_table_info('{}'{})",
                    self.table.last().replace('"', ""),
                    schema.unwrap_or_default()
                )
            }
        })
    }

    /// Adds a column.
    pub fn add_column(&self, column: &str, definition: &str) -> Statement {
        self.start(&format!(
            "ALTER TABLE {} ADD COLUMN {column} {definition}",
            self.table.as_str()
        ))
    }
}

fn bind_time(statement: &mut Statement, micros: i64) {
    statement.bind(Value::Number(micros));
}

#[cfg(test)]
mod tests;
