//! Deletes files: their rows in the sheets, and their bodies. If the quota does not allow storing
//! the changed sheet, only the bodies are deleted, and [gaps](crate::storage::browser::database::gaps) remain.

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::storage::Version;
use crate::storage::browser::database::sheets::Sheets;
use crate::storage::browser::database::transaction::Transaction;
use crate::storage::browser::indexed_db::IndexedDb;
use crate::storage::browser::sheet::Sheet;

/// Whether a deletion may store anything.
#[derive(Clone, Copy, Debug)]
enum Room {
    Some,
    None,
}

impl Room {
    fn keep(self, sheets: &Sheets<'_>, sheet: &Sheet) -> Result<()> {
        match self {
            Room::Some => sheets.keep(sheet),
            Room::None => Ok(()),
        }
    }

    async fn commit(self, transaction: Transaction, sheets: &Sheets<'_>) -> Result<()> {
        match self {
            Room::Some => sheets.mend().await?,
            Room::None => sheets.allow_gaps()?,
        }
        transaction.commit().await
    }
}

/// Deletes normally; if the quota is exceeded, deletes again without storing anything.
async fn with_or_without_room<T>(delete: impl AsyncFn(Room) -> Result<T>) -> Result<T> {
    match delete(Room::Some).await {
        Err(error) if error.kind() == Kind::QuotaExceeded => delete(Room::None).await,
        done => done,
    }
}

impl IndexedDb {
    /// Removes a file; `false` if it does not exist.
    pub(super) async fn delete_file(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let version = version.as_ref();
        with_or_without_room(async |room| self.take_file(path, version, room).await).await
    }

    /// Removes everything at and beneath a path in one transaction, atomically.
    pub(super) async fn delete_beneath(&self, root: &VPath) -> Result<Vec<VPath>> {
        with_or_without_room(async |room| self.take_tree(root, room).await).await
    }

    async fn take_file(&self, path: &VPath, version: Option<&Version>, room: Room) -> Result<bool> {
        let (transaction, sheets, bodies) = self.writing().await?;
        let mut sheet = sheets.covering(path)?.await?;
        let Some(meta) = sheet.get(path) else {
            return Ok(false);
        };
        if version.is_some() && meta.version.as_ref() != version {
            return Err(Error::conflict(path));
        }
        sheet.remove(path);
        room.keep(&sheets, &sheet)?;
        bodies.delete(&self.keys.of(path))?;
        room.commit(transaction, &sheets).await?;
        self.herald.changed([path]);
        Ok(true)
    }

    async fn take_tree(&self, root: &VPath, room: Room) -> Result<Vec<VPath>> {
        let (transaction, sheets, bodies) = self.writing().await?;
        let mut gone = Vec::new();
        if !root.is_root() {
            let mut own = sheets.covering(root)?.await?;
            if own.get(root).is_some() {
                own.remove(root);
                room.keep(&sheets, &own)?;
                bodies.delete(&self.keys.of(root))?;
                gone.push(root.clone());
            }
        }
        let prefix = root.dir_prefix();
        let beneath = sheets.page(&prefix, &prefix, u32::MAX)?.await?;
        for mut sheet in beneath.sheets {
            let removed = sheet.remove_beginning(&prefix);
            if !removed.is_empty() {
                room.keep(&sheets, &sheet)?;
                gone.extend(removed);
            }
        }
        bodies.delete(&self.keys.within(&prefix)?.into())?;
        room.commit(transaction, &sheets).await?;
        self.herald.changed(&gone);
        Ok(gone)
    }
}
