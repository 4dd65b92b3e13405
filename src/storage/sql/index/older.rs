//! Indexes of the forms before this one, which `migrate` replaces: a table of FTS5 with triggers in
//! SQLite, a GIN index of `pg_trgm` in PostgreSQL. A kitbag that makes those finds none of the present
//! form and scans.

use crate::core::error::Result;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::Place;

/// The triggers, in the order in which they can be removed: each change depends on the first ones.
const TRIGGERS: [&str; 5] = ["delete", "update", "insert", "remove", "add"];

impl Place {
    /// The names of the tables that such an index has in SQLite.
    pub(super) fn older(&self) -> Statement {
        let mut statement = self.start("SELECT name AS path FROM ");
        statement
            .push(self.schema())
            .push("sqlite_master WHERE type = 'table' AND name >= ")
            .text(&format!("{}_search_", self.bare()))
            .push(" AND name < ")
            .text(&format!("{}_search`", self.bare()));
        statement
    }

    /// Removes the one with this table in SQLite; nothing if it has another name.
    pub(super) fn drop_older(&self, name: &str) -> Vec<Statement> {
        let Some(number) = self.older_number(name) else {
            return Vec::new();
        };
        let (schema, bare) = (self.schema(), self.bare());
        let mut all: Vec<String> = TRIGGERS
            .iter()
            .map(|suffix| format!("DROP TRIGGER IF EXISTS {schema}\"{name}_{suffix}\""))
            .collect();
        all.push(format!(
            "DROP TABLE IF EXISTS {schema}\"{bare}_trigrams_{number}\""
        ));
        all.push(format!("DROP TABLE IF EXISTS {schema}\"{name}\""));
        all.iter().map(|sql| self.start(sql)).collect()
    }

    fn older_number<'a>(&self, name: &'a str) -> Option<&'a str> {
        let number = name.strip_prefix(self.bare())?.strip_prefix("_search_")?;
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (number.len() == 16 && number.bytes().all(digit)).then_some(number)
    }

    /// Removes the one of PostgreSQL.
    pub(super) fn drop_older_in_postgres(&self) -> Result<Statement> {
        debug_assert_eq!(self.dialect, Dialect::Postgres);
        let name = self.table.with_suffix("_trigrams")?;
        Ok(self.start(&format!("DROP INDEX IF EXISTS {}", name.as_str())))
    }
}
