//! How `ls` and `glob` answer from the cache.

use futures_util::future::join;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::storage::browser::cached::ledger::Outcome;
use crate::storage::browser::cached::row::Row;
use crate::storage::browser::cached::{Cached, Slow};
use crate::storage::browser::parallel::in_parallel;
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Depth, Entry, Listing, Meta, Scope};

impl<S: Slow> Cached<S> {
    /// The rows in scope; `None` if the cache cannot be used now. A cache that does not exist yet
    /// is created, and rows that were left open are closed.
    pub(super) async fn rows(&self, scope: &Scope) -> Option<Vec<(VPath, Row)>> {
        let place = self.storage.place().await.ok()?;
        let rows = self.ledger.rows(&place, scope).await.ok()?;
        let changed = match &rows {
            None => self.begin(&place).await.ok()?,
            // Open rows do not prevent a search.
            Some(rows) => self.mend(&place, rows).await.unwrap_or_default(),
        };
        if changed {
            return self.ledger.rows(&place, scope).await.ok()?;
        }
        rows
    }

    /// The metadata of the wanted files; `None` if the cache cannot be used now.
    pub(super) async fn known(
        &self,
        scope: &Scope,
        want: &dyn Fn(&VPath) -> bool,
    ) -> Option<Vec<Entry>> {
        let mut wanted = self.rows(scope).await?;
        wanted.retain(|(path, _)| want(path));
        let open = wanted.iter().filter_map(|(path, row)| match row {
            Row::Settled { .. } => None,
            Row::Open { .. } => Some(path.clone()),
        });
        let open: Vec<VPath> = open.collect();
        let mut outcomes = self.outcomes(&open).await.into_iter();
        let mut known = Vec::new();
        for (path, row) in wanted {
            let meta = match row {
                Row::Settled { meta, .. } => meta,
                Row::Open { .. } => match outcomes.next()? {
                    Outcome::File { size, modified } => Meta::of(size, modified),
                    Outcome::Gone => continue,
                    Outcome::Unknown => return None,
                },
            };
            known.push(Entry { path, meta });
        }
        Some(known)
    }

    /// One level of files: the names are those of the storage, the metadata that of the cache.
    pub(super) async fn list_names(&self, dir: &VPath) -> Result<Listing> {
        // Both wait for another process, so they run in parallel.
        let (names, sheets) = join(self.storage.names(dir), self.beginning_of(dir)).await;
        let Some(sheets) = sheets else {
            return self.storage.list(dir, Depth::One, None).await;
        };
        let names = names?;
        let metas = self.settled_among(&names.files, &sheets).await;
        let unknown = names.files.iter().zip(&metas);
        let unknown = unknown.filter(|(_, meta)| meta.is_none());
        let looks = unknown.map(|(path, _)| self.storage.stat(path));
        let mut looks = in_parallel(looks).await.into_iter();
        let mut listing = Listing::default();
        for (path, meta) in names.files.iter().zip(metas) {
            let meta = match meta {
                Some(meta) => Some(meta),
                None => looks.next().transpose()?.flatten(),
            };
            listing.files.extend(meta.map(|meta| Entry {
                path: path.clone(),
                meta,
            }));
        }
        listing.dirs = names.dirs;
        Ok(listing)
    }

    /// The first sheets of a directory; `None` if the cache cannot be used.
    async fn beginning_of(&self, dir: &VPath) -> Option<Vec<Sheet>> {
        let place = self.storage.place().await.ok()?;
        self.ledger.beginning_of(&place, dir).await.ok()?
    }

    /// The metadata of these files of a directory, in order, where it is settled. `sheets` are its
    /// first ones, which may already contain some of their rows.
    async fn settled_among(&self, files: &[VPath], sheets: &[Sheet]) -> Vec<Option<Meta>> {
        let row = |path| sheets.iter().find(|sheet| sheet.reaches(path))?.get(path);
        let last = sheets.last();
        let reached = |path: &VPath| last.is_some_and(|sheet| sheet.reaches(path));
        let (near, far) = files.split_at(files.partition_point(reached));
        let settled = |path| Row::read(row(path)?).settled();
        let mut metas: Vec<Option<Meta>> = near.iter().map(settled).collect();
        if !far.is_empty()
            && let Ok(place) = self.storage.place().await
        {
            let further = self.ledger.settled(&place, far.iter()).await;
            metas.extend(further.ok().flatten().unwrap_or_default());
        }
        metas.resize(files.len(), None);
        metas
    }
}
