//! Closes rows that stayed open although nobody is changing their files: a tab died, two changes
//! overlapped, or the end of a change could not be recorded. Every recorded change holds a shared
//! lock of its tree. So a holder of the exclusive lock knows that no change is in progress, and
//! that the current state of a file is final.

use futures_util::StreamExt;
use futures_util::stream;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::clock;
use crate::env::locks::{self, Held, Wish};
use crate::storage::PARALLEL;
use crate::storage::browser::opfs::ledger::{Ended, Ledger};
use crate::storage::browser::opfs::row::Row;
use crate::storage::browser::opfs::{Opfs, many};

/// The prefix of a tree's lock name.
const CHANGING: &str = "kitbag:opfs-changing:";

/// Microseconds after which the last request of a dead tab has certainly been executed or dropped.
const LANDING: i64 = 5_000_000;

/// Held while recorded changes are in progress.
pub(super) async fn changing(tree: &str) -> Result<Option<Held>> {
    locks::take(&format!("{CHANGING}{tree}"), Wish::Together).await
}

impl Opfs {
    /// Closes those of the rows that were left open, unless a change is in progress; returns
    /// whether any row was closed.
    pub(super) async fn mend(
        &self,
        ledger: &Ledger,
        tree: &str,
        rows: &[(VPath, Row)],
    ) -> Result<bool> {
        let landed = Time::from_micros(clock::now().micros().saturating_sub(LANDING));
        let left = rows.iter().filter_map(|(path, row)| match row {
            Row::Open { since } => (*since < landed).then_some(path),
            Row::Settled { .. } => None,
        });
        let left: Vec<&VPath> = left.take(many::LOOKS).collect();
        if left.is_empty() {
            return Ok(false);
        }
        let lock = format!("{CHANGING}{tree}");
        let Some(_alone) = locks::take(&lock, Wish::IfFree).await? else {
            return Ok(false);
        };
        let looks = left.into_iter().map(|path| async move {
            Ended {
                path: path.clone(),
                outcome: self.outcome(path).await,
                body: None,
            }
        });
        let seen = stream::iter(looks).buffered(PARALLEL).collect().await;
        ledger.mend(tree, seen, landed).await
    }
}
