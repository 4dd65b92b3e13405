//! Changing several files in one transaction.

use std::rc::Rc;

use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::host;
use crate::storage::browser::database::sheets::Lookup;
use crate::storage::browser::indexed_db::{IndexedDb, described};
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Alteration, Meta, NewFile, Together};

/// A file to store with its metadata, or to delete.
pub(super) type Row<'a> = (&'a VPath, Option<(&'a NewFile, &'a Meta)>);

impl Together for IndexedDb {
    fn change<'a>(&'a self, mut changes: Vec<Alteration>, _: Option<Rc<str>>) -> Pending<'a, bool> {
        Box::pin(async move {
            order::sort_by(&mut changes, |a, b| a.path.cmp(&b.path));
            let file = |change: &Alteration| change.file.as_ref().map(described);
            let metas: Vec<Option<Meta>> = changes.iter().map(file).collect();
            let altered = changes.iter().zip(&metas).filter(|(one, _)| one.alters());
            let rows = altered.map(|(one, meta)| (&one.path, one.file.as_ref().zip(meta.as_ref())));
            self.alter(rows.collect(), &changes).await
        })
    }
}

impl IndexedDb {
    /// Stores and deletes files in one transaction, if files have the versions that are expected of
    /// them, in order of their paths. Each sheet is stored only once.
    pub(super) async fn alter(
        &self,
        mut rows: Vec<Row<'_>>,
        expected: &[Alteration],
    ) -> Result<bool> {
        order::sort_by(&mut rows, |a, b| a.0.cmp(b.0));
        let (transaction, sheets, bodies) = self.writing().await?;
        let mut lookup = Lookup::new(&sheets);
        for one in expected {
            let meta = lookup.meta(&one.path).await?;
            if meta.and_then(|meta| meta.version) != one.was {
                return Ok(false);
            }
        }
        let store = |sheet: &mut Sheet, (path, file): &Row<'_>| {
            let key = self.keys.of(path);
            match file {
                Some((file, meta)) => {
                    sheet.set(path, (*meta).clone());
                    bodies.put(&key, &host::array_of(&file.body))
                }
                None => {
                    sheet.remove(path);
                    bodies.delete(&key)
                }
            }
        };
        sheets.change(&rows, |row| row.0, store).await?;
        self.commit(transaction, &sheets).await?;
        self.herald.changed(rows.iter().map(|row| row.0));
        Ok(true)
    }
}
