//! Rows that stay open though nobody changes their files any more: a tab died, two changes
//! overlapped, or the end of one could not be noted. Every change that is noted holds a lock of
//! its tree together with all the others. So who gets that lock alone knows that no change is
//! under way, and that what a look at a file tells is what the file is.

use futures_util::StreamExt;
use futures_util::stream;

use crate::backend::opfs::Opfs;
use crate::backend::opfs::ledger::{Ended, Ledger};
use crate::backend::opfs::row::Row;
use crate::backend::opfs::search::LOOKS;
use crate::env::clock;
use crate::env::locks::{self, Held, Wish};
use crate::error::Result;
use crate::path::VPath;
use crate::storage::PARALLEL;
use crate::time::Time;

/// The lock of a tree, whose name follows.
const CHANGING: &str = "kitbag:opfs-changing:";

/// Microseconds after which a dead tab's last request has surely been carried out or dropped.
const LANDING: i64 = 5_000_000;

/// Held while changes that are noted are under way.
pub(super) async fn changing(tree: &str) -> Result<Option<Held>> {
    locks::take(&format!("{CHANGING}{tree}"), Wish::Together).await
}

impl Opfs {
    /// Closes those of these rows that were left open, unless some change is under way; whether
    /// any was closed.
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
        let left: Vec<&VPath> = left.take(LOOKS).collect();
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
