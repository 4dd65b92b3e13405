//! Deletions when the quota is full. If an origin is full, Chromium refuses every transaction that
//! stores anything, and a normal deletion stores the rest of a sheet. Transactions that only delete
//! are accepted. So a deletion without room removes the body and the namespace's "no gaps" mark,
//! and leaves the sheet unchanged. While the mark is missing, a row without a body is a gap: the
//! file counts as deleted. The next change that can store data removes all gaps from their sheets
//! and sets the mark again.

use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::lock::Mutex;
use crate::core::path::VPath;
use crate::storage::browser::database::schema::{BODIES, Keys, SHEETS, sheet_of};
use crate::storage::browser::database::transaction::{Ask, Store, Transaction};
use crate::storage::browser::sheet::Sheet;

/// The gaps of one namespace, as seen by one transaction.
pub struct Gaps {
    sheets: Store,
    bodies: Store,
    keys: Keys,
    state: Mutex<State>,
}

enum State {
    /// The mark was requested.
    Asked(Ask),
    Whole,
    /// There is no mark; these gaps were found, in order.
    Open(Vec<VPath>),
}

impl Gaps {
    /// The gaps in a transaction over both object stores. The mark has been requested when this
    /// returns.
    pub fn of(transaction: &Transaction, keys: &Keys) -> Result<Gaps> {
        let sheets = transaction.store(SHEETS)?;
        let mark = sheets.get(&keys.mark())?;
        Ok(Gaps {
            sheets,
            bodies: transaction.store(BODIES)?,
            keys: keys.clone(),
            state: Mutex::new(State::Asked(mark)),
        })
    }

    /// Removes gaps from some sheets (in memory).
    pub fn leave_out<'a>(&'a self, sheets: &'a mut [Sheet]) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut state = self.state.lock().await;
            if let State::Asked(mark) = &mut *state {
                let has_mark = !mark.await?.is_undefined();
                *state = match has_mark {
                    true => State::Whole,
                    false => State::Open(self.find().await?.0),
                };
            }
            if let State::Open(gaps) = &*state {
                for sheet in sheets {
                    sheet.leave_out(gaps);
                }
            }
            Ok(())
        })
    }

    /// All rows without a body, in order, and their sheets without these rows.
    fn find(&self) -> Pending<'_, (Vec<VPath>, Vec<Sheet>)> {
        Box::pin(async move {
            let all = self.keys.from("/")?;
            let asked = (
                self.sheets.get_all(&all, u32::MAX)?,
                self.bodies.get_all_keys(&all, u32::MAX)?,
            );
            let (stored, keys) = (asked.0.await?, asked.1.await?);
            let stored: &js_sys::Array = stored.unchecked_ref();
            let keys: &js_sys::Array = keys.unchecked_ref();
            // Both results are sorted by key.
            let mut keys = keys.iter().filter_map(|key| key.as_string()).peekable();
            let (mut gaps, mut mended) = (Vec::new(), Vec::new());
            for value in stored.iter() {
                let mut sheet = sheet_of(&value)?;
                let before = gaps.len();
                for row in sheet.rows() {
                    let own = self.keys.text(row.path.as_str());
                    while keys.next_if(|key| *key < own).is_some() {}
                    if keys.peek() != Some(&own) {
                        gaps.push(row.path.clone());
                    }
                }
                if let Some(found @ [_, ..]) = gaps.get(before..) {
                    sheet.leave_out(found);
                    mended.push(sheet);
                }
            }
            Ok((gaps, mended))
        })
    }

    /// The sheets that a change has to store so that no gap remains, and then [`set_mark`]; `None`
    /// if there is no gap and the mark is set.
    ///
    /// [`set_mark`]: Gaps::set_mark
    pub fn close(&self) -> Pending<'_, Option<Vec<Sheet>>> {
        Box::pin(async move {
            let state = std::mem::replace(&mut *self.state.lock().await, State::Whole);
            Ok(match state {
                State::Whole => None,
                State::Open(gaps) if gaps.is_empty() => Some(Vec::new()),
                // Writes since the last look may have filled some of the gaps that were found then.
                State::Asked(_) | State::Open(_) => Some(self.find().await?.1),
            })
        })
    }

    /// Says that no row is without a body.
    pub fn set_mark(&self) -> Result<()> {
        self.sheets.put(&self.keys.mark(), &JsValue::TRUE)
    }

    /// Allows rows without a body from now on.
    pub fn remove_mark(&self) -> Result<()> {
        self.sheets.delete(&self.keys.mark())
    }
}
