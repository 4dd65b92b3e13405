//! `SqlBackend` and its presets.

use crate::boundary::Host;
use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::Table as Printed;
use crate::core::error::Result;
use crate::files::WriteMode;
use crate::storage::sql::SqlOptions;
use crate::storage::sql::dialect::{Dialect, Table, namespace_key};
use crate::storage::sql::statements::Place;

words! { Dialect { Postgres = "postgres", Sqlite = "sqlite" } }

options! {
    /// Options of files in a table.
    pub struct SqlGiven {
        query: Host [own],
        dialect: Dialect [own],
        table: String = "files",
        namespace: Option<Vec<String>> [single, least 1, wanted "a string or a non-empty array of strings"],
        migrate: bool,
        search_index: bool,
        write_mode: WriteMode = "create",
        max_file_bytes: Option<u64> [own],
    }
}

impl SqlGiven {
    /// Where the files are.
    pub fn place(&self) -> Result<Place> {
        let parts = self.namespace.as_deref().unwrap_or_default();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Ok(Place {
            dialect: self.dialect,
            table: Table::parse(&self.table)?,
            namespace: namespace_key(&parts)?,
        })
    }

    /// How they are kept.
    pub fn options(&self) -> SqlOptions {
        SqlOptions {
            migrate: self.migrate,
            search_index: self.search_index,
            max_file_bytes: self.max_file_bytes,
        }
    }
}

/// A table that somebody else made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// With columns for the path, the content and the times.
    Outline,
}

words! { From { Outline = "outline" } }

options! {
    /// Options of `migrate`.
    pub struct MigrateGiven {
        from: Option<From>,
        search_index: Option<bool>,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Printed> {
    vec![SqlGiven::printed(), MigrateGiven::printed()]
}
