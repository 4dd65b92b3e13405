//! File metadata inside a transaction: finding, paging through and storing the
//! [sheets](crate::storage::browser::sheet) of one namespace. A change reads the sheet of a file and stores
//! it again in the transaction that stores the body. So two tabs never change one sheet at the same
//! time, and a file and its metadata always match, except for [gaps](super::gaps).

use std::future::Future;
use std::rc::Rc;

use wasm_bindgen::JsCast;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::storage::browser::database::gaps::Gaps;
use crate::storage::browser::database::schema::{Keys, SHEETS, sheet_of};
use crate::storage::browser::database::transaction::{Ask, Store, Transaction};
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Flow, Meta, Scope};

/// Number of sheets in one page of a walk: a megabyte, or about forty thousand files. One large
/// request is faster than several small ones.
pub const PAGE: u32 = 64;

/// The sheets of one namespace.
pub struct Sheets<'a> {
    store: Store,
    keys: &'a Keys,
    gaps: Option<Rc<Gaps>>,
}

/// Consecutive sheets.
pub struct Page {
    /// The sheets.
    pub sheets: Vec<Sheet>,
    /// Whether no later sheet holds any of the requested paths.
    pub is_last: bool,
}

impl<'a> Sheets<'a> {
    /// The sheets in a transaction over [`SHEETS`].
    pub fn of(transaction: &Transaction, keys: &'a Keys) -> Result<Sheets<'a>> {
        let store = transaction.store(SHEETS)?;
        Ok(Sheets {
            store,
            keys,
            gaps: None,
        })
    }

    /// The same for a transaction that includes bodies: a row without a body counts as deleted.
    pub fn with_bodies(transaction: &Transaction, keys: &'a Keys) -> Result<Sheets<'a>> {
        Ok(Sheets {
            gaps: Some(Rc::new(Gaps::of(transaction, keys)?)),
            ..Sheets::of(transaction, keys)?
        })
    }

    /// Every change ends with this call, so that no gap remains.
    pub async fn mend(&self) -> Result<()> {
        let Some(gaps) = &self.gaps else {
            return Ok(());
        };
        let Some(mended) = gaps.close().await? else {
            return Ok(());
        };
        for sheet in mended {
            self.keep(&sheet)?;
        }
        gaps.set_mark()
    }

    /// Allows rows without a body from now on.
    pub fn allow_gaps(&self) -> Result<()> {
        self.gaps.as_ref().map_or(Ok(()), |gaps| gaps.remove_mark())
    }

    /// The sheet that covers a path; an empty one if there is none yet. The request has been sent
    /// when this returns.
    pub fn covering(&self, path: &VPath) -> Result<impl Future<Output = Result<Sheet>> + use<>> {
        let ask = self.store.get(&self.keys.from(path.as_str())?.into())?;
        let gaps = self.gaps.clone();
        Ok(async move {
            let mut sheet = sheet_of(&ask.await?)?;
            if let Some(gaps) = gaps {
                gaps.leave_out(std::slice::from_mut(&mut sheet)).await?;
            }
            Ok(sheet)
        })
    }

    /// Stores a changed sheet.
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

    /// Changes the metadata of some files, which must be sorted by path. Each sheet is stored once.
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

    /// Passes the metadata of every file in scope to the visitor, in order.
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

    /// The sheets that hold paths from `from` on that begin with `prefix`, at most `limit` and one
    /// more. They may hold other paths as well.
    pub fn page(
        &self,
        from: &str,
        prefix: &str,
        limit: u32,
    ) -> Result<impl Future<Output = Result<Page>> + use<>> {
        let (within, behind) = self.keys.beginning(from, prefix)?;
        // The last matching files may be in the next sheet, whose upper bound lies after them.
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
                sheets.push(sheet_of(&value)?);
            }
            if is_last {
                sheets.push(sheet_of(&pages.1.await?)?);
            }
            if let Some(gaps) = gaps {
                gaps.leave_out(&mut sheets).await?;
            }
            Ok(Page { sheets, is_last })
        })
    }
}

/// Looks up many paths, which must be sorted, and loads each sheet only once.
pub struct Lookup<'a> {
    sheets: &'a Sheets<'a>,
    sheet: Option<Sheet>,
}

impl<'a> Lookup<'a> {
    /// A lookup in a read-only transaction.
    pub fn new(sheets: &'a Sheets<'a>) -> Lookup<'a> {
        Lookup {
            sheets,
            sheet: None,
        }
    }

    /// The metadata of a file. The path must come after all paths of previous calls.
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
