//! Deletions where there is no room. Chromium refuses a full origin every transaction that stores
//! anything, and a deletion stores what is left of a sheet; one that only deletes it takes. So a
//! deletion that finds no room takes the body away, and with it the mark that a namespace is whole,
//! and leaves the sheet as it is. Where the mark is missing, a file that has no body is a gap: it
//! was deleted, and nobody sees it. The next change that finds room takes all gaps out of their
//! sheets and sets the mark.

use wasm_bindgen::{JsCast, JsValue};

use crate::backend::indexed_db::schema::{BODIES, Keys, SHEETS};
use crate::backend::indexed_db::sheets::{self, Sheets};
use crate::backend::indexed_db::transaction::{Ask, Store, Transaction};
use crate::backend::sheet::Sheet;
use crate::error::Result;
use crate::lock::Mutex;
use crate::path::VPath;
use crate::storage::Pending;

/// The gaps of one namespace, as one transaction sees them.
pub struct Gaps {
    sheets: Store,
    bodies: Store,
    keys: Keys,
    state: Mutex<State>,
}

enum State {
    /// The mark was asked for.
    Asked(Ask),
    Whole,
    /// There is no mark, and these were found, in order.
    Open(Vec<VPath>),
}

impl Gaps {
    /// Those of a transaction over both object stores. The mark is asked for when this returns.
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

    /// Leaves them out of some sheets.
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

    /// Files of sheets that have no body, in order, and what these sheets are without them.
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
            // Both come in the same order.
            let mut keys = keys.iter().filter_map(|key| key.as_string()).peekable();
            let (mut gaps, mut mended) = (Vec::new(), Vec::new());
            for value in stored.iter() {
                let mut sheet = sheets::read(&value)?;
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
}

impl Sheets<'_> {
    /// What a change ends with, so that no gap outlives it.
    pub fn mend(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let Some(gaps) = self.gaps() else {
                return Ok(());
            };
            let mended = match std::mem::replace(&mut *gaps.state.lock().await, State::Whole) {
                State::Whole => return Ok(()),
                State::Open(gaps) if gaps.is_empty() => Vec::new(),
                // What was stored meanwhile may have filled some of those seen before.
                State::Asked(_) | State::Open(_) => gaps.find().await?.1,
            };
            for sheet in mended {
                self.keep(&sheet)?;
            }
            gaps.sheets.put(&gaps.keys.mark(), &JsValue::TRUE)
        })
    }

    /// Allows files without bodies from here on.
    pub fn allow_gaps(&self) -> Result<()> {
        match self.gaps() {
            Some(gaps) => gaps.sheets.delete(&gaps.keys.mark()),
            None => Ok(()),
        }
    }
}
