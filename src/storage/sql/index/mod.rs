//! The search index of the database's own engine: FTS5's trigrams in SQLite, `pg_trgm` in PostgreSQL.
//! It leaves out rows that cannot match; what it lets through is searched as always. The database
//! itself keeps it up to date, in the transaction of each change and whoever makes it. A search
//! checks that, in the same statement, and scans all rows if the index is missing or incomplete.
//!
//! `sqlite` and `postgres` have the statements, `terms` what both use; this module decides which of them are sent.

mod postgres;
mod sqlite;
pub(super) mod terms;
#[cfg(test)]
mod tests;

use crate::core::error::{Error, Kind, Result};
use crate::protocol::GrepQuery;
use crate::search::required::required;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::rows::{Column, META, Rows, number, text};
use crate::storage::sql::statement::{Statement, Value};
use crate::storage::sql::statements::Keys;
use crate::storage::sql::{Database, PAGE, Sql};

use sqlite::Step;
use terms::{Found, Generation, Narrow};

/// How often a new index is begun if others remove it while it is being made.
const ATTEMPTS: usize = 3;

const NAMES: [Column; 1] = [Column::Text("path")];

/// The note in `capability` if there is no index to use.
const MISSING: &str = "The database has no search index that can be used, so every search scans all \
    rows. Call migrate() to make it.";

impl<D: Database> Sql<D> {
    pub(super) fn notes(&self) -> Vec<std::rc::Rc<str>> {
        match self.options.search_index && self.found.get() == Found::Missing {
            true => vec![MISSING.into()],
            false => Vec::new(),
        }
    }

    /// What to ask the index for a search, if it is there and can exclude anything.
    pub(super) async fn narrow(&self, query: Option<&GrepQuery>) -> Option<Narrow> {
        if !self.options.search_index {
            return None;
        }
        // An invalid expression has been refused before.
        let clauses = required(query?).ok()?;
        match self.place.dialect {
            Dialect::Sqlite => {
                let expression = sqlite::expression(&clauses)?;
                Some(Narrow::Matching(self.ready().await?, expression))
            }
            Dialect::Postgres => {
                let patterns = postgres::patterns(&clauses);
                let useful = !patterns.is_empty() && self.ready().await.is_some();
                useful.then_some(Narrow::Like(patterns))
            }
        }
    }

    /// The index, if it is there.
    async fn ready(&self) -> Option<Generation> {
        if let Found::Ready(generation) = self.found.get() {
            return Some(generation);
        }
        // A database that fails here is asked again by the scan, and its error is reported then; it
        // did not say that there is no index.
        let found = self.look().await.ok()?;
        self.found.set(match found {
            Some(generation) => Found::Ready(generation),
            None => Found::Missing,
        });
        found
    }

    async fn look(&self) -> Result<Option<Generation>> {
        self.prepare().await?;
        match self.place.dialect {
            Dialect::Postgres => {
                let rows = self
                    .database
                    .query(self.place.postgres_index()?, &NAMES)
                    .await?;
                Ok((!rows.is_empty()).then_some(Generation(0)))
            }
            Dialect::Sqlite => {
                for generation in self.generations().await? {
                    if self.is_complete(generation).await {
                        return Ok(Some(generation));
                    }
                }
                Ok(None)
            }
        }
    }

    /// A page of the files that the index does not exclude. `None` if it is of no use for this search.
    pub(super) async fn page_of_index(
        &self,
        keys: &Keys,
        literal: Option<&[u8]>,
        narrow: &Narrow,
    ) -> Option<Rows> {
        let statement = match narrow {
            Narrow::Matching(generation, expression) => {
                self.place
                    .matching(*generation, expression, keys, literal, PAGE)
            }
            Narrow::Like(clauses) => self.place.like(clauses, keys, literal, PAGE),
        };
        let Ok(rows) = self.ask(statement, &META).await else {
            // Removed, or a broken connection: the scan reports that, and the next search looks.
            self.found.set(Found::Unknown);
            return None;
        };
        let warning = rows.iter().find_map(|row| warning(row));
        if warning == Some(Warning::Unusable) {
            self.found.set(Found::Missing);
        }
        Some(rows).filter(|_| warning.is_none())
    }

    /// Makes the index, if it is not there. It is safe to repeat, and to run in parallel.
    pub async fn make_index(&self) -> Result<()> {
        let made = match self.place.dialect {
            Dialect::Postgres => self.make_in_postgres().await,
            Dialect::Sqlite => self.make_in_sqlite().await,
        };
        self.found.set(Found::Unknown);
        made
    }

    /// Removes the index.
    pub async fn drop_index(&self) -> Result<()> {
        self.found.set(Found::Unknown);
        match self.place.dialect {
            Dialect::Postgres => self.send(self.place.drop_postgres_index()?).await,
            Dialect::Sqlite => {
                for generation in self.generations().await? {
                    self.remove(generation).await?;
                }
                Ok(())
            }
        }
    }

    async fn make_in_postgres(&self) -> Result<()> {
        let existing = self.place.postgres_index()?;
        if !self
            .database
            .query(existing.clone(), &NAMES)
            .await?
            .is_empty()
        {
            return Ok(());
        }
        // It is enough that it is there: not everybody may create it.
        let created = self.send(self.place.create_extension()).await;
        let schema = self
            .database
            .query(self.place.extension_schema(), &NAMES)
            .await?;
        let Some(schema) = schema.first().and_then(|row| text(row, 0)) else {
            let refusal = Error::new(
                Kind::Unsupported,
                "The search index needs the extension pg_trgm, which this database does not have. \
                 Let an administrator run CREATE EXTENSION pg_trgm, or leave out searchIndex.",
            );
            return Err(match created.err() {
                Some(cause) => refusal.caused_by(std::rc::Rc::new(cause)),
                None => refusal,
            });
        };
        // One that an interrupted CREATE INDEX CONCURRENTLY left behind is of no use.
        self.send(self.place.drop_postgres_index()?).await?;
        let made = self.send(self.place.create_postgres_index(&schema)?).await;
        match made {
            Err(error) => match self.database.query(existing, &NAMES).await?.is_empty() {
                // Another call made it at the same time.
                false => Ok(()),
                true => Err(error),
            },
            Ok(()) => Ok(()),
        }
    }

    async fn make_in_sqlite(&self) -> Result<()> {
        let mut made = Ok(());
        for _ in 0..ATTEMPTS {
            let existing = self.generations().await?;
            let mut complete = None;
            for generation in existing.iter().copied() {
                if complete.is_none() && self.is_complete(generation).await {
                    complete = Some(generation);
                }
            }
            if complete.is_none() {
                let fresh = Generation::fresh();
                made = self.build(fresh).await;
                if made.is_err() {
                    // Others may have removed it, being ready with theirs.
                    self.remove(fresh).await.ok();
                    continue;
                }
                complete = Some(fresh);
            }
            for generation in existing {
                if Some(generation) != complete {
                    self.remove(generation).await?;
                }
            }
            return Ok(());
        }
        made
    }

    async fn build(&self, generation: Generation) -> Result<()> {
        let rows = self.database.query(self.place.encoding(), &NAMES).await?;
        if rows.first().and_then(|row| text(row, 0)).as_deref() != Some("ab") {
            return Err(Error::new(
                Kind::Unsupported,
                "The search index needs a database with the encoding UTF-8; this one has UTF-16. \
                 Leave out searchIndex.",
            ));
        }
        for statement in self.place.create_sqlite_index(generation) {
            self.send(statement).await.map_err(|error| {
                let message = format!("{error} (the search index needs SQLite 3.43 with FTS5)");
                Error::new(Kind::Unsupported, message).caused_by(std::rc::Rc::new(error))
            })?;
        }
        let mut after = (String::new(), String::new());
        loop {
            let step = self.place.fill(generation, (&after.0, &after.1));
            let rows = self.database.query(step, &Step::COLUMNS).await?;
            let keys = rows
                .iter()
                .filter_map(|row| Some((text(row, 0)?, text(row, 1)?)));
            match keys.max() {
                Some(last) => after = last,
                None => break,
            }
        }
        let done = self.place.complete(generation);
        match self.database.query(done, &NAMES).await?.is_empty() {
            false => Ok(()),
            true => Err(Error::new(
                Kind::Conflict,
                "The search index was changed elsewhere while it was being made. Call migrate() again.",
            )),
        }
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        let rows = self
            .database
            .query(self.place.generations(), &NAMES)
            .await?;
        let names = rows.iter().filter_map(|row| text(row, 0));
        Ok(names
            .filter_map(|name| self.place.generation(&name))
            .collect())
    }

    /// Whether it has all rows, and the triggers that keep it up to date.
    async fn is_complete(&self, generation: Generation) -> bool {
        let rows = self
            .database
            .query(self.place.check(generation), &NAMES)
            .await;
        rows.is_ok_and(|rows| !rows.is_empty())
    }

    async fn remove(&self, generation: Generation) -> Result<()> {
        for statement in self.place.drop_sqlite_index(generation) {
            self.send(statement).await?;
        }
        Ok(())
    }

    async fn send(&self, statement: Statement) -> Result<()> {
        self.database.query(statement, &[]).await.map(drop)
    }
}

/// Why a page of the index is not the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warning {
    /// It excludes too little.
    TooMany,
    /// It is not complete, or not there.
    Unusable,
}

/// The meaning of a row with an empty path, which no file has.
fn warning(row: &[Option<Value>]) -> Option<Warning> {
    let is_one = text(row, 0).is_some_and(|path| path.is_empty());
    is_one.then_some(match number(row, 1) {
        Some(0) => Warning::TooMany,
        _ => Warning::Unusable,
    })
}
