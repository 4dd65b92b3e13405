//! What is known of files, inside a transaction: the [sheets](crate::backend::sheet) of one
//! namespace, found, paged through and put back. Whoever changes a file reads its sheet and
//! stores it anew in the transaction that stores the body, so no two tabs ever work on one
//! sheet at once, and a file and what is known of it are never apart.

use std::future::Future;

use wasm_bindgen::{JsCast, JsValue};

use crate::backend::indexed_db::schema::{self, Keys, SHEETS};
use crate::backend::indexed_db::transaction::{Ask, Store, Transaction, body_of};
use crate::backend::sheet::Sheet;
use crate::error::Result;
use crate::path::VPath;
use crate::storage::Meta;

/// The sheets of one namespace.
pub struct Sheets<'a> {
    store: Store,
    keys: &'a Keys,
}

/// Sheets that follow each other.
pub struct Page {
    /// The sheets.
    pub sheets: Vec<Sheet>,
    /// Whether no later sheet holds anything of what was asked for.
    pub is_last: bool,
}

impl<'a> Sheets<'a> {
    /// Those that a transaction reaches.
    pub fn of(transaction: &Transaction, keys: &'a Keys) -> Result<Sheets<'a>> {
        let store = transaction.store(SHEETS)?;
        Ok(Sheets { store, keys })
    }

    /// The sheet that a path belongs to; an empty one where there is none yet. The request is
    /// on its way when this returns.
    pub fn covering(&self, path: &VPath) -> Result<impl Future<Output = Result<Sheet>> + use<>> {
        let ask = self.store.get(&self.keys.from(path.as_str())?.into())?;
        Ok(async move { read(&ask.await?) })
    }

    /// Puts a sheet back after a change.
    pub fn keep(&self, sheet: &Sheet) -> Result<()> {
        let records = sheet.records();
        if records.is_empty() {
            return self.store.delete(&self.keys.sheet(sheet.upper()));
        }
        for record in records {
            let bytes = js_sys::Uint8Array::from(record.bytes.as_slice());
            self.store
                .put(&self.keys.sheet(record.upper.as_ref()), &bytes)?;
        }
        Ok(())
    }

    /// The sheets that hold paths at or behind `from` which begin with `prefix`, at most `limit`
    /// and one more. They may hold others besides.
    pub fn page(
        &self,
        from: &str,
        prefix: &str,
        limit: u32,
    ) -> Result<impl Future<Output = Result<Page>> + use<>> {
        let (within, behind) = self.keys.beginning(from, prefix)?;
        // The last of those files may be in the first sheet that is named by a path behind them.
        let pages: (Ask, Ask) = (
            self.store.get_all(&within, limit)?,
            self.store.get(&behind.into())?,
        );
        Ok(async move {
            let values = pages.0.await?;
            let values: &js_sys::Array = values.unchecked_ref();
            let is_last = values.length() < limit;
            let mut sheets = Vec::with_capacity(values.length() as usize + 1);
            for value in values.iter() {
                sheets.push(read(&value)?);
            }
            if is_last {
                sheets.push(read(&pages.1.await?)?);
            }
            Ok(Page { sheets, is_last })
        })
    }
}

fn read(value: &JsValue) -> Result<Sheet> {
    if value.is_undefined() {
        return Ok(Sheet::default());
    }
    Sheet::read(&body_of(value)?).ok_or_else(schema::damaged)
}

/// Looks up many paths, which must come in order, and loads no sheet twice.
pub struct Lookup<'a> {
    sheets: &'a Sheets<'a>,
    sheet: Option<Sheet>,
}

impl<'a> Lookup<'a> {
    /// Of a transaction that only reads.
    pub fn new(sheets: &'a Sheets<'a>) -> Lookup<'a> {
        Lookup {
            sheets,
            sheet: None,
        }
    }

    /// What is known of the file at a path behind all that were asked for before.
    pub async fn meta(&mut self, path: &VPath) -> Result<Option<Meta>> {
        if !self.sheet.as_ref().is_some_and(|sheet| sheet.reaches(path)) {
            self.sheet = Some(self.sheets.covering(path)?.await?);
        }
        Ok(self
            .sheet
            .as_ref()
            .and_then(|sheet| sheet.get(path).cloned()))
    }
}
