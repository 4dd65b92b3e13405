//! Reading from the table: pages of a listing, with or without an index, and bodies.

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::storage::sql::index::terms::Narrow;
use crate::storage::sql::rows::{FILE, META, entry, text};
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::Keys;
use crate::storage::sql::{Database, PAGE, Sql};
use crate::storage::{Entry, File, Flow, Scope};

impl<D: Database> Sql<D> {
    pub(super) async fn metas(&self, statement: Statement) -> Result<Vec<Entry>> {
        let rows = self.ask(statement, &META).await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| entry(row).map(|(entry, _)| entry))
            .collect())
    }

    pub(super) async fn page(
        &self,
        keys: &Keys,
        literal: Option<&[u8]>,
        narrow: &mut Option<Narrow>,
    ) -> Result<(Vec<Entry>, Option<Keys>)> {
        let mut found = None;
        if let Some(index) = narrow {
            found = self.page_of_index(keys, literal, index).await;
            if found.is_none() {
                *narrow = None;
            }
        }
        let rows = match found {
            Some(rows) => rows,
            None => {
                let statement = self.place.page(keys, literal, PAGE);
                self.ask(statement, &META).await?
            }
        };
        let full = rows.len() >= PAGE;
        let last = rows.last().and_then(|row| text(row, 0));
        let next = last.filter(|_| full).map(|last| keys.behind(&last));
        let entries = rows
            .into_iter()
            .filter_map(|row| entry(row).map(|(entry, _)| entry));
        Ok((entries.collect(), next))
    }

    /// Passes every file in scope to `show`, page by page; with a literal, only files whose bytes
    /// contain it, and with an index, only files that it does not exclude.
    pub(super) async fn pages(
        &self,
        scope: &Scope,
        literal: Option<&[u8]>,
        mut narrow: Option<Narrow>,
        mut show: impl AsyncFnMut(Vec<Entry>) -> Result<Flow>,
    ) -> Result<()> {
        if scope.prefix.is_empty() && !scope.root.is_root() {
            let itself = self.metas(self.place.stat(&scope.root, literal)).await?;
            if show(itself).await?.is_break() {
                return Ok(());
            }
        }
        let mut keys = Some(Keys::of_scope(scope));
        while let Some(range) = keys {
            let (entries, next) = self.page(&range, literal, &mut narrow).await?;
            if show(entries).await?.is_break() {
                return Ok(());
            }
            keys = next;
        }
        Ok(())
    }

    pub(super) async fn bodies(&self, paths: &[&VPath]) -> Result<Sorted<VPath, File>> {
        let rows = self.ask(self.place.get_many(paths), &FILE).await?;
        let files = rows.into_iter().filter_map(|row| {
            let (entry, body) = entry(row)?;
            let file = File {
                meta: entry.meta,
                body,
            };
            Some((entry.path, file))
        });
        Ok(files.collect())
    }
}
