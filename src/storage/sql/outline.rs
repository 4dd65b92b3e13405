//! Tables that were not made here. A common outline of such a table has the columns path, content,
//! created_at and modified_at, with text and timestamps. `migrate` refuses it before it changes
//! anything, and carries its rows over if it is asked to.
//!
//! The old table is renamed and kept. PostgreSQL does everything in one statement. SQLite is given
//! four statements, since a host's `query` need not offer transactions: the table is renamed first,
//! so nobody writes to it any more, its rows are copied to a third table, and that one gets the name.
//! Whatever statement is the last, no row is lost, and the next `migrate` continues.

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::rows::text;
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::Place;
use crate::storage::sql::{Columns, Database, PATHS, Sql};

/// Appended to the name of the old table.
const OLD: &str = "_outline";
/// Appended to the name of the table that is being filled.
const NEW: &str = "_kitbag";
/// Number of paths in one page.
const PAGE: usize = 5_000;

impl<D: Database> Sql<D> {
    /// The columns of the table. Refuses a table that has no namespaces, and one whose rows are
    /// being carried over.
    pub(super) async fn own_columns(&self) -> Result<Columns> {
        let columns = self.columns_of(&self.place).await?;
        let required = ["namespace", "path", "content"];
        let missing = required.into_iter().find(|column| !columns.has(column));
        let Some(missing) = missing else {
            return Ok(columns);
        };
        let table = self.place.table.name();
        if columns.exists() {
            let outline = missing == "namespace"
                && ["path", "content", "created_at", "modified_at"]
                    .iter()
                    .all(|column| columns.has(column));
            return Err(refused(if outline {
                format!(
                    "The table {table} was not made by kitbag: it has the columns path, content, \
                     created_at and modified_at, and no namespace. Nothing was changed. Call \
                     migrate({{ from: \"outline\" }}) to carry its rows over (the old table is kept \
                     as {table}{OLD}), or pass another `table`."
                )
            } else {
                format!(
                    "The table {table} was not made by kitbag: it has no column {missing}. Nothing \
                     was changed. Pass another `table`."
                )
            }));
        }
        let old = self.place.beside(OLD)?;
        if self.exists(&old).await? && !self.exists(&self.place).await? {
            return Err(refused(format!(
                "The rows of the table {table} are being carried over, or that was interrupted: \
                 they are in {}. Call migrate({{ from: \"outline\" }}) to finish it.",
                old.table.name()
            )));
        }
        Ok(columns)
    }

    /// Carries the rows of a table of the outline over to a new table, in the own namespace. It is
    /// safe to repeat, also after an interruption.
    pub async fn migrate_outline(&self) -> Result<()> {
        let old = self.place.beside(OLD)?;
        let new = self.place.beside(NEW)?;
        let mut begun = self.begun(&old).await?;
        while !self.is_own().await? {
            if !begun && !self.exists(&self.place).await? {
                // Another call may have renamed it in this moment.
                begun = self.begun(&old).await?;
                if begun {
                    continue;
                }
                // There is nothing to carry over.
                return self.migrate().await;
            }
            let done = self.carry_over(begun, &old, &new).await;
            let Err(error) = done else { break };
            // Another call may be doing the same: then this one goes on from there.
            let before = std::mem::replace(&mut begun, self.begun(&old).await?);
            if before == begun && !self.is_own().await? {
                return Err(error);
            }
        }
        if self.exists(&new).await? {
            // The table was created by somebody else in between, or this is all that is left to do.
            self.tell(self.place.copy_from(&new)).await?;
            self.tell(new.drop_table()).await?;
        }
        self.migrate().await
    }

    /// Whether the table was renamed and its successor does not have its name yet.
    async fn begun(&self, old: &Place) -> Result<bool> {
        Ok(!self.exists(&self.place).await? && self.exists(old).await?)
    }

    async fn carry_over(&self, begun: bool, old: &Place, new: &Place) -> Result<()> {
        if !begun && self.exists(old).await? {
            return Err(refused(format!(
                "The table {} exists, which is the name for the old table. Nothing was changed. \
                 Rename or drop it first.",
                old.table.name()
            )));
        }
        let source = self.source(if begun { old } else { &self.place }).await?;
        match self.place.dialect {
            Dialect::Postgres => self.tell(self.place.carry_at_once(old, &source)).await,
            Dialect::Sqlite => self.in_steps(begun, old, new, &source).await,
        }
    }

    async fn in_steps(&self, begun: bool, old: &Place, new: &Place, source: &str) -> Result<()> {
        if !begun {
            self.tell(self.place.rename(old)).await?;
        }
        self.tell(new.create_table()).await?;
        self.tell(new.carry(old, source)).await?;
        self.tell(new.rename(&self.place)).await
    }

    /// The columns to select from an old table, after a check of what it contains.
    async fn source(&self, from: &Place) -> Result<String> {
        let columns = self.columns_of(from).await?;
        let mut kinds = [const { String::new() }; 3];
        for (kind, column) in kinds
            .iter_mut()
            .zip(["content", "created_at", "modified_at"])
        {
            if !columns.has(column) {
                return Err(refused(format!(
                    "The table {} has no column {column}, so its rows cannot be carried over. \
                     Nothing was changed.",
                    from.table.name()
                )));
            }
            if from.dialect == Dialect::Postgres {
                let rows = self.database.query(from.kind_of(column), &PATHS).await?;
                *kind = rows
                    .first()
                    .and_then(|row| text(row, 0))
                    .unwrap_or_default();
            }
        }
        self.check_paths(from).await?;
        self.check_times(from).await?;
        from.source(&kinds, columns.has("mime_type"))
            .map_err(|(column, kind)| {
                refused(format!(
                    "The column {column} of {} has the type {kind}, which cannot be carried over. \
                 Nothing was changed.",
                    from.table.name()
                ))
            })
    }

    /// Every path must be one that can be read afterwards.
    async fn check_paths(&self, from: &Place) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = from.paths(after.as_deref(), PAGE);
            let rows = self.database.query(page, &PATHS).await?;
            for row in &rows {
                let path = text(row, 0).unwrap_or_default();
                let sound = VPath::from_stored(&path).is_some_and(|path| !path.is_root());
                if !sound {
                    return Err(refused(format!(
                        "The table {} has a row with the path {path:?}, which is no path of a file \
                         (they begin with / and have no empty segments). Nothing was changed. \
                         Correct or remove such rows first.",
                        from.table.name()
                    )));
                }
            }
            if rows.len() < PAGE {
                return Ok(());
            }
            after = rows.last().and_then(|row| text(row, 0));
        }
    }

    /// SQLite stores any text in a column of times.
    async fn check_times(&self, from: &Place) -> Result<()> {
        if from.dialect != Dialect::Sqlite {
            return Ok(());
        }
        for column in ["created_at", "modified_at"] {
            let rows = self.database.query(from.odd_time(column), &PATHS).await?;
            let Some(path) = rows.first().and_then(|row| text(row, 0)) else {
                continue;
            };
            return Err(refused(format!(
                "The table {} has a row (path {path:?}) whose {column} is no time. Nothing was \
                 changed. Correct such rows first.",
                from.table.name()
            )));
        }
        Ok(())
    }

    async fn exists(&self, place: &Place) -> Result<bool> {
        Ok(self.columns_of(place).await?.exists())
    }

    /// Whether the table has namespaces.
    async fn is_own(&self) -> Result<bool> {
        Ok(self.columns_of(&self.place).await?.has("namespace"))
    }

    async fn tell(&self, statement: Statement) -> Result<()> {
        self.database.query(statement, &[]).await.map(drop)
    }
}

fn refused(message: String) -> Error {
    Error::new(Kind::Unavailable, message)
}

impl Place {
    /// A table with a name of its own beside this one.
    fn beside(&self, suffix: &str) -> Result<Place> {
        Ok(Place {
            table: self.table.with_suffix(suffix)?,
            ..self.clone()
        })
    }

    fn rename(&self, to: &Place) -> Statement {
        let mut statement = self.start("ALTER TABLE ");
        statement
            .push(self.table.as_str())
            .push(" RENAME TO ")
            .push(to.table.last());
        statement
    }

    fn drop_table(&self) -> Statement {
        self.start(&format!("DROP TABLE IF EXISTS {}", self.table.as_str()))
    }

    /// The type of a column, in PostgreSQL.
    fn kind_of(&self, column: &str) -> Statement {
        self.start(&format!(
            "SELECT pg_typeof((SELECT f.{column} FROM {} AS f LIMIT 1))::text AS path",
            self.table.as_str()
        ))
    }

    /// A path whose time is a text that is no time.
    fn odd_time(&self, column: &str) -> Statement {
        self.start(&format!(
            "SELECT path FROM {} WHERE typeof({column}) = 'blob' \
             OR (typeof({column}) = 'text' AND julianday({column}) IS NULL) LIMIT 1",
            self.table.as_str()
        ))
    }

    fn paths(&self, after: Option<&str>, most: usize) -> Statement {
        let mut statement = self.start("SELECT path FROM ");
        statement.push(self.table.as_str());
        if let Some(after) = after {
            statement.push(" WHERE path > ").text(after);
        }
        statement.push(&format!(" ORDER BY path LIMIT {most}"));
        statement
    }

    /// The expressions for path, type, times and content; a column with its type if it has no
    /// conversion.
    fn source(
        &self,
        [content, created, modified]: &[String; 3],
        mime: bool,
    ) -> std::result::Result<String, (&'static str, String)> {
        let mime = if mime {
            "coalesce(mime_type, '')"
        } else {
            "''"
        };
        let content = match (self.dialect, content.as_str()) {
            (Dialect::Sqlite, _) => "CAST(coalesce(content, '') AS BLOB)",
            (_, "text" | "character varying" | "character") => {
                "convert_to(coalesce(content, ''), 'UTF8')"
            }
            (_, "bytea") => "coalesce(content, ''::bytea)",
            (_, other) => return Err(("content", other.to_owned())),
        };
        let created = self.time("created_at", created)?;
        let modified = self.time("modified_at", modified)?;
        Ok(format!("path, {mime}, 1, {created}, {modified}, {content}"))
    }

    /// Microseconds since 1970, from a timestamp or, in SQLite, from any of its usual forms.
    fn time(
        &self,
        column: &'static str,
        kind: &str,
    ) -> std::result::Result<String, (&'static str, String)> {
        match (self.dialect, kind) {
            (Dialect::Sqlite, _) => Ok(format!(
                "coalesce(CASE WHEN typeof({column}) = 'text' \
                 THEN CAST(round((julianday({column}) - 2440587.5) * 86400000) AS INTEGER) * 1000 \
                 WHEN {column} < 100000000000 THEN CAST({column} * 1000000 AS INTEGER) \
                 WHEN {column} < 100000000000000 THEN CAST({column} * 1000 AS INTEGER) \
                 ELSE CAST({column} AS INTEGER) END, 0)"
            )),
            (_, "timestamp with time zone" | "timestamp without time zone") => Ok(format!(
                "coalesce((extract(epoch FROM {column}) * 1000000)::bigint, 0)"
            )),
            (_, other) => Err((column, other.to_owned())),
        }
    }

    /// Copies the rows of an old table to this one. The namespace is part of the text, as a block
    /// takes no values; it has only letters, digits and signs that mean nothing in a text.
    fn carry(&self, old: &Place, source: &str) -> Statement {
        self.start(&format!(
            "INSERT INTO {} (namespace, path, mime_type, version, created_at, modified_at, content) \
             SELECT '{}', {source} FROM {} WHERE true ON CONFLICT (namespace, path) DO NOTHING",
            self.table.as_str(),
            self.namespace,
            old.table.as_str(),
        ))
    }

    /// Adds the rows of a table of the same kind.
    fn copy_from(&self, other: &Place) -> Statement {
        let columns = "namespace, path, mime_type, version, created_at, modified_at, content";
        self.start(&format!(
            "INSERT INTO {} ({columns}) SELECT {columns} FROM {} WHERE true \
             ON CONFLICT (namespace, path) DO NOTHING",
            self.table.as_str(),
            other.table.as_str(),
        ))
    }

    /// Renames, creates and copies in one statement, and so in one transaction.
    fn carry_at_once(&self, old: &Place, source: &str) -> Statement {
        self.start(&format!(
            "DO $kitbag$ BEGIN LOCK TABLE {} IN ACCESS EXCLUSIVE MODE; {}; {}; {}; END $kitbag$",
            self.table.as_str(),
            self.rename(old).sql,
            self.create_table().sql,
            self.carry(old, source).sql,
        ))
    }
}
