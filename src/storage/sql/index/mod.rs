//! The search index in the database: sets of trigrams that kitbag computes, in a table beside that of
//! the files. It leaves out rows that cannot match; what it lets through is searched as always.
//! Triggers note each change, in its transaction and whoever makes it, and a file that has changed is
//! searched until a writer takes it into the index. A search checks in the statement that reads the
//! index whether it can be used, and scans all rows if it is missing or incomplete.
//!
//! An index of the database's own engine (FTS5, `pg_trgm`) was here before: with each change it made
//! the entries of the changed files again, which took thirty times as long as the change itself.
//!
//! `tables` has the tables of the index and how a change is noted (`sqlite`, `postgres`: the triggers),
//! `asked` the statements, `block` what is stored, without I/O, and `take` takes files into it. This
//! module makes and removes indexes and searches with them.

mod asked;
mod block;
mod older;
mod postgres;
mod sqlite;
mod tables;
mod take;
pub(super) mod terms;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::sorted::Sorted;
use crate::protocol::GrepQuery;
use crate::search::grams::{Gram, Need, need};
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::rows::{Column, META, Rows, number, text};
use crate::storage::sql::statement::{Statement, Value};
use crate::storage::sql::statements::Keys;
use crate::storage::sql::{Database, PAGE, PATHS, Sql};

use asked::{HEAD, LOOKED_UP, UNUSABLE, WAITING};
use block::{files_of, matching};
use terms::{Found, Generation, Narrow, list, numbers, usefully_few};

/// How often a new index is begun if others remove it while it is being made.
const ATTEMPTS: usize = 3;

/// The key of a file that was added to the index.
const KEY: [Column; 2] = [Column::Text("namespace"), Column::Text("path")];

/// The note in `capability` if there is no index to use.
const MISSING: &str = "The database has no search index that can be used, so every search scans all \
    rows. Call migrate() to make it.";

impl<D: Database> Sql<D> {
    pub(super) fn notes(&self) -> Vec<Rc<str>> {
        match self.options.search_index && self.found.get() == Found::Missing {
            true => vec![MISSING.into()],
            false => Vec::new(),
        }
    }

    /// The files that the index does not exclude from a search, if it is there and excludes enough.
    pub(super) async fn narrow(
        &self,
        query: Option<&GrepQuery>,
        literal: Option<&[u8]>,
    ) -> Option<Narrow> {
        if !self.options.search_index {
            return None;
        }
        // An invalid expression has been refused before.
        let need = need(query?, 0).ok().filter(|need| !need.is_empty())?;
        let generation = self.ready().await?;
        let few = usefully_few(literal);
        let mut grams: Vec<i64> = need
            .iter()
            .flatten()
            .flatten()
            .map(|g| (*g).into())
            .collect();
        order::sort(&mut grams);
        grams.dedup();
        let grams = list(grams.into_iter());
        let statement = self.place.look_up(generation, &grams, few);
        let Ok(rows) = self.ask(statement, &LOOKED_UP).await else {
            // Removed, or a broken connection: the scan reports that, and the next search looks.
            self.found.set(Found::Unknown);
            return None;
        };
        if rows.iter().any(|row| number(row, 1) == Some(UNUSABLE)) {
            self.found.set(Found::Missing);
            return None;
        }
        let heads = rows.iter().filter(|row| number(row, 1) == Some(HEAD));
        let blocks = list(heads.filter_map(|row| number(row, 0))).into();
        let files = candidates(&need, rows);
        (files.len() <= few).then(|| Narrow {
            generation,
            files: (!files.is_empty()).then(|| list(files.into_iter()).into()),
            blocks,
        })
    }

    /// The index, if it is there.
    async fn ready(&self) -> Option<Generation> {
        if let Found::Ready(generation) = self.found.get() {
            return Some(generation);
        }
        // A database that fails here is asked again by the scan, and its error is reported then; it
        // did not say that there is no index.
        self.prepare().await.ok()?;
        let found = self.complete_ones().await.ok()?.first().copied();
        self.found.set(match found {
            Some(generation) => Found::Ready(generation),
            None => Found::Missing,
        });
        found
    }

    /// A page of the files that the index does not exclude, and of those that have changed since it was
    /// asked: they have other numbers now. `None` if that fails.
    pub(super) async fn page_of_index(
        &self,
        keys: &Keys,
        literal: Option<&[u8]>,
        narrow: &Narrow,
    ) -> Option<Rows> {
        let Some(files) = &narrow.files else {
            return Some(Rows::new());
        };
        let statement = self.place.page_of(narrow, files, keys, literal, PAGE);
        let rows = self.ask(statement, &META).await;
        if rows.is_err() {
            self.found.set(Found::Unknown);
        }
        rows.ok()
    }

    /// Makes the index, if it is not there, and takes all files into it. It is safe to repeat, and to
    /// run in parallel.
    pub async fn make_index(&self) -> Result<()> {
        if self.place.dialect == Dialect::Postgres {
            self.place.fits()?;
        }
        let mut made = Ok(());
        for _ in 0..ATTEMPTS {
            let others = self.generations().await?;
            if self.complete_ones().await?.is_empty() {
                let fresh = Generation::fresh();
                made = self.build(fresh).await;
                if made.is_err() {
                    // Others may have removed it, being ready with theirs.
                    self.remove(fresh).await.ok();
                    continue;
                }
            }
            // Of several that are complete, everybody keeps the same.
            let complete = self.complete_ones().await?;
            let Some(kept) = complete.first().copied() else {
                continue;
            };
            for other in others.into_iter().chain(complete) {
                if other != kept {
                    self.remove(other).await?;
                }
            }
            self.remove_older().await?;
            made = self.take_all(kept).await;
            if made.is_ok() {
                self.found.set(Found::Ready(kept));
                return made;
            }
        }
        self.found.set(Found::Unknown);
        made
    }

    /// Removes the index.
    pub async fn drop_index(&self) -> Result<()> {
        self.found.set(Found::Unknown);
        for generation in self.generations().await? {
            self.remove(generation).await?;
        }
        self.remove_older().await
    }

    async fn build(&self, generation: Generation) -> Result<()> {
        match self.place.dialect {
            Dialect::Postgres => {
                let schema = self.place.schema_in_postgres();
                let rows = self.database.query(schema, &PATHS).await?;
                let schema = rows.first().and_then(|row| text(row, 0));
                let schema = schema.unwrap_or_else(|| "public".to_owned());
                let create = self.place.create_in_postgres(generation, &schema);
                self.send(create).await?;
            }
            Dialect::Sqlite => {
                for statement in self.place.create_in_sqlite(generation) {
                    self.send(statement).await?;
                }
                self.fill(generation).await?;
            }
        }
        let done = self.place.complete(generation);
        match self.database.query(done, &PATHS).await?.is_empty() {
            false => Ok(()),
            true => Err(Error::new(
                Kind::Conflict,
                "The search index was changed elsewhere while it was being made. Call migrate() again.",
            )),
        }
    }

    async fn fill(&self, generation: Generation) -> Result<()> {
        let mut after = (String::new(), String::new());
        loop {
            let step = self.place.fill(generation, (&after.0, &after.1));
            let rows = self.database.query(step, &KEY).await?;
            let keys = rows
                .iter()
                .filter_map(|row| Some((text(row, 0)?, text(row, 1)?)));
            match keys.max() {
                Some(last) => after = last,
                None => return Ok(()),
            }
        }
    }

    async fn generations(&self) -> Result<Vec<Generation>> {
        let rows = self
            .database
            .query(self.place.generations(), &PATHS)
            .await?;
        let names = rows.iter().filter_map(|row| text(row, 0));
        Ok(names
            .filter_map(|name| self.place.generation(&name))
            .collect())
    }

    /// The indexes with all rows and with the triggers that keep them up to date, in one order.
    async fn complete_ones(&self) -> Result<Vec<Generation>> {
        let mut complete = Vec::new();
        for generation in self.generations().await? {
            let check = self.place.check(generation);
            let rows = self.database.query(check, &PATHS).await;
            if rows.is_ok_and(|rows| !rows.is_empty()) {
                complete.push(generation);
            }
        }
        order::sort(&mut complete);
        Ok(complete)
    }

    async fn remove(&self, generation: Generation) -> Result<()> {
        let statements = match self.place.dialect {
            Dialect::Postgres => self.place.drop_in_postgres(generation),
            Dialect::Sqlite => self.place.drop_in_sqlite(generation),
        };
        for statement in statements {
            self.send(statement).await?;
        }
        Ok(())
    }

    /// Removes indexes of older forms.
    async fn remove_older(&self) -> Result<()> {
        if self.place.dialect == Dialect::Postgres {
            return self.send(self.place.drop_older_in_postgres()?).await;
        }
        for row in self.database.query(self.place.older(), &PATHS).await? {
            for statement in self.place.drop_older(&text(&row, 0).unwrap_or_default()) {
                self.send(statement).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, statement: Statement) -> Result<()> {
        self.database.query(statement, &[]).await.map(drop)
    }
}

/// The numbers of the files that may match, from the rows of a look-up.
fn candidates(need: &Need, rows: Rows) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    let mut heads: Vec<(i64, Vec<i64>)> = Vec::new();
    let mut slices: Sorted<(i64, i64), Bytes> = Sorted::new();
    for row in rows {
        let (Some(block), Some(gram)) = (number(&row, 0), number(&row, 1)) else {
            continue;
        };
        match gram {
            HEAD => heads.push((block, files_of(&text(&row, 2).unwrap_or_default()))),
            WAITING => found.extend(numbers(&text(&row, 2).unwrap_or_default())),
            _ => {
                if let Some(Some(Value::Bytes(slice))) = row.into_iter().nth(3) {
                    slices.insert((block, gram), slice);
                }
            }
        }
    }
    for (block, files) in heads {
        let slice = |gram: Gram| slices.get(&(block, i64::from(gram))).map(|slice| &**slice);
        match matching(need, slice) {
            Some(places) => found.extend(places.into_iter().filter_map(|at| files.get(at))),
            None => found.extend(files),
        }
    }
    // Two writers that took the same files at once have made two blocks of them.
    order::sort(&mut found);
    found.dedup();
    found
}
