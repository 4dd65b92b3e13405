//! Moving and copying by one statement, or by two if a file is replaced.

use crate::core::error::Error;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{COPIED, Transfer, gone, stands};
use crate::storage::sql::index::terms::Follows;
use crate::storage::sql::rows::CHANGED;
use crate::storage::sql::{Database, Sql, fresh_version};
use crate::storage::{Storage, Version, Within};

impl<D: Database> Within for Sql<D> {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let Some(meta) = self.stat(from).await? else {
                return Err(Error::not_found(from));
            };
            let Some(Version::Number(version)) = meta.version else {
                return Err(Error::conflict(from));
            };
            let renames = !asked.keeps && !asked.overwrite;
            let statement = match renames {
                true => self.place.relocate(from, version, to, fresh_version()),
                false => {
                    let (fresh, over) = (fresh_version(), asked.overwrite);
                    self.place.copy(from, version, to, fresh, over)
                }
            };
            let changed = self.ask(statement, &CHANGED).await;
            if !matches!(&changed, Ok(rows) if !rows.is_empty()) {
                // Refused also by the primary key, if another writer was faster.
                if !asked.overwrite && self.stat(to).await?.is_some() {
                    return Err(Error::already_exists(to));
                }
                return Err(changed.err().unwrap_or_else(|| Error::conflict(from)));
            }
            self.wrote(1, Follows::Nothing).await;
            if asked.keeps || renames {
                return Ok(());
            }
            match self.delete(from, Some(Version::Number(version))).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(gone(from)),
                Err(error) => Err(stands(from, COPIED, Some(error))),
            }
        })
    }
}
