//! What is known of files, inside a transaction: the [sheets](crate::backend::sheet) of one
//! namespace, found, paged through and put back. Whoever changes a file reads its sheet and
//! stores it anew in the transaction that stores the body, so no two tabs ever work on one
//! sheet at once, and a file and what is known of it are never apart, but for
//! [gaps](super::gaps).

use std::future::Future;
use std::rc::Rc;

use wasm_bindgen::{JsCast, JsValue};

use crate::backend::indexed_db::gaps::Gaps;
use crate::backend::indexed_db::schema::{self, Keys, SHEETS};
use crate::backend::indexed_db::transaction::{Ask, Store, Transaction, body_of};
use crate::backend::sheet::Sheet;
use crate::error::Result;
use crate::path::VPath;
use crate::storage::{Flow, Meta, Scope};

/// Sheets of one page of a walk: a megabyte, or some forty thousand files. One large request is
/// quicker than several small ones.
pub const PAGE: u32 = 64;

/// The sheets of one namespace.
pub struct Sheets<'a> {
    store: Store,
    keys: &'a Keys,
    gaps: Option<Rc<Gaps>>,
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
        Ok(Sheets {
            store,
            keys,
            gaps: None,
        })
    }

    /// The same, of a transaction that reaches bodies too: a file without one was deleted.
    pub fn with_bodies(transaction: &Transaction, keys: &'a Keys) -> Result<Sheets<'a>> {
        Ok(Sheets {
            gaps: Some(Rc::new(Gaps::of(transaction, keys)?)),
            ..Sheets::of(transaction, keys)?
        })
    }

    pub(super) fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_deref()
    }

    /// The sheet that a path belongs to; an empty one where there is none yet. The request is
    /// on its way when this returns.
    pub fn covering(&self, path: &VPath) -> Result<impl Future<Output = Result<Sheet>> + use<>> {
        let ask = self.store.get(&self.keys.from(path.as_str())?.into())?;
        let gaps = self.gaps.clone();
        Ok(async move {
            let mut sheet = read(&ask.await?)?;
            if let Some(gaps) = gaps {
                gaps.leave_out(std::slice::from_mut(&mut sheet)).await?;
            }
            Ok(sheet)
        })
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

    /// Changes what is known of some files, which must come in order; each sheet is stored once.
    pub async fn change<T>(
        &self,
        files: &[T],
        path: impl Fn(&T) -> &VPath,
        mut change: impl FnMut(&mut Sheet, &T) -> Result<()>,
    ) -> Result<()> {
        let mut rest = files;
        while let Some(first) = rest.first() {
            let mut sheet = self.covering(path(first))?.await?;
            let count = rest.partition_point(|file| sheet.reaches(path(file)));
            let (here, others) = rest.split_at(count);
            rest = others;
            for file in here {
                change(&mut sheet, file)?;
            }
            self.keep(&sheet)?;
        }
        Ok(())
    }

    /// Shows what is known of every file in scope, in order.
    pub async fn walk(
        &self,
        scope: &Scope,
        visit: &mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Result<Flow> {
        let prefix = scope.key_prefix();
        let own = if scope.prefix.is_empty() && !scope.root.is_root() {
            Some(self.covering(&scope.root)?)
        } else {
            None
        };
        let mut page = Some(self.page(&prefix, &prefix, PAGE)?);
        if let Some(own) = own
            && let Some(meta) = own.await?.get(&scope.root)
            && visit(&scope.root, meta).is_break()
        {
            return Ok(Flow::Break(()));
        }
        let mut from = prefix.clone();
        while let Some(asked) = page.take() {
            let now = asked.await?;
            let start = from.clone();
            if let Some(upper) = now.sheets.last().and_then(Sheet::upper)
                && !now.is_last
            {
                from = format!("{upper}\0");
                page = Some(self.page(&from, &prefix, PAGE)?);
            }
            for sheet in &now.sheets {
                for row in sheet.rows_from(&start) {
                    if !row.path.as_str().starts_with(&prefix) {
                        break;
                    }
                    if visit(&row.path, &row.meta).is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Forgets everything.
    pub fn clear(&self) -> Result<()> {
        self.store.delete(&self.keys.from("/")?.into())
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
        let gaps = self.gaps.clone();
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
            if let Some(gaps) = gaps {
                gaps.leave_out(&mut sheets).await?;
            }
            Ok(Page { sheets, is_last })
        })
    }
}

/// The sheet of a record; an empty one where there is none.
pub(super) fn read(value: &JsValue) -> Result<Sheet> {
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
