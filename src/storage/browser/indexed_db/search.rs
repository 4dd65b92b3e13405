//! How searches read: in one transaction, with few requests. The metadata arrives in sheets, many
//! at once. Bodies are read in [runs](crate::storage::browser::database::runs), while the previous
//! ones are searched.

use std::collections::VecDeque;

use wasm_bindgen::JsCast;

use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::storage::browser::database::runs::{Run, runs};
use crate::storage::browser::database::transaction::{Ask, body_of};
use crate::storage::browser::indexed_db::IndexedDb;
use crate::storage::{File, Flow, Meta, Scan};

/// Maximum number of body requests in progress.
const AHEAD: usize = 3;

impl IndexedDb {
    /// Passes the wanted files with their bodies to the visitor.
    pub(super) async fn scan_bodies(
        &self,
        scan: Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let (_transaction, sheets, bodies) = self.reading().await?;
        let mut seen = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            seen.push((path.clone(), meta.clone(), (scan.want)(path, meta)));
            Flow::Continue(())
        };
        let _ = sheets.walk(scan.scope, &mut collect).await?;
        let mut waiting = runs(&scan.scope.root, seen);
        let mut asked: VecDeque<(Run, Ask)> = VecDeque::new();
        loop {
            while asked.len() < AHEAD
                && let Some(run) = waiting.pop_front()
            {
                if let (Some(first), Some(last)) = (run.files.first(), run.files.last()) {
                    let span = self.keys.span(&first.0, &last.0)?;
                    let ask = bodies.get_all(&span, u32::MAX)?;
                    asked.push_back((run, ask));
                }
            }
            let Some((run, ask)) = asked.pop_front() else {
                return Ok(());
            };
            if show(run, &ask.await?, visit)?.is_break() {
                return Ok(());
            }
        }
    }
}

/// Passes the wanted files of a run, whose bodies arrived as one array, to the visitor.
fn show(
    run: Run,
    bodies: &wasm_bindgen::JsValue,
    visit: &mut dyn FnMut(&VPath, &File) -> Flow,
) -> Result<Flow> {
    let bodies: &js_sys::Array = bodies.unchecked_ref();
    if bodies.length() as usize != run.files.len() {
        return Err(Error::internal(
            "The database holds files without bodies, or bodies without files",
        ));
    }
    for (at, (path, meta, wanted)) in run.files.into_iter().enumerate() {
        if !wanted {
            continue;
        }
        let body = body_of(&bodies.get(crate::protocol::index(at)))?;
        if visit(&path, &File { meta, body }).is_break() {
            return Ok(Flow::Break(()));
        }
    }
    Ok(Flow::Continue(()))
}
