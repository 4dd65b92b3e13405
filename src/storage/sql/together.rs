//! Changing several files by one statement.

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::index::terms::Follows;
use crate::storage::sql::rows::CHANGED;
use crate::storage::sql::{Database, Sql, fresh_version};
use crate::storage::{Alteration, Together};

impl<D: Database> Together for Sql<D> {
    fn change<'a>(&'a self, changes: Vec<Alteration>, _: Option<Rc<str>>) -> Pending<'a, bool> {
        Box::pin(async move {
            self.fitting(&changes)?;
            let wanted = changes.iter().filter(|one| one.alters()).count();
            let statement = self.place.change(&changes, fresh_version);
            match self.ask(statement, &CHANGED).await {
                Ok(rows) if rows.len() == wanted => {}
                Ok(_) => return Ok(false),
                Err(error) if self.database.lost_race(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
            self.wrote(wanted, Follows::Nothing).await;
            if self.place.dialect == Dialect::Sqlite {
                // What remains after an error is deleted with the next change.
                self.ask(self.place.sweep(), &[]).await.ok();
            }
            Ok(true)
        })
    }
}

impl<D> Sql<D> {
    /// Refuses bodies that do not fit into one value where that is limited.
    fn fitting(&self, changes: &[Alteration]) -> Result<()> {
        let bodies = changes.iter().filter_map(|one| one.file.as_ref());
        let bytes: u64 = bodies.map(|file| file.body.len() as u64).sum();
        match self.options.max_file_bytes {
            Some(limit) if bytes > limit => Err(Error::new(
                Kind::TooLarge,
                format!(
                    "These changes have {bytes} bytes, and this database takes {limit} in one \
                     step; nothing was changed. Commit fewer files at once."
                ),
            )),
            _ => Ok(()),
        }
    }
}
