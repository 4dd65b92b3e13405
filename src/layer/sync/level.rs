//! Files that need no change, as both sides hold the same: each gets the labels that the other one has.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::labels::refusal;
use super::look::{Found, Row};
use super::plan::{Pair, Side, Step};
use super::{Refusal, Sync};
use crate::core::future::{PARALLEL, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::protocol::Cargo;

impl Sync {
    /// Gives files that were read and are equal on both sides the labels of either side. One that cannot be
    /// given them is looked at again by the next run.
    pub(super) async fn level(&self, found: &mut Found) {
        let is_equal = |row: &&Row| matches!(row.planned.step, Step::Nothing | Step::Agree(_));
        let rows = found.rows.iter().filter(|row| row.is_labelled);
        let calls = rows
            .filter(is_equal)
            .map(|row| -> LocalBoxFuture<'_, Option<Refusal>> {
                Box::pin(self.level_one(&row.planned.path))
            });
        let refused: Vec<Refusal> = bounded(PARALLEL, calls)
            .await
            .into_iter()
            .flatten()
            .collect();
        let mut lost: Vec<VPath> = refused.iter().map(|one| one.path.clone()).collect();
        order::sort(&mut lost);
        let is_lost = |path: &VPath| lost.binary_search(path).is_ok();
        found.rows.retain(|row| !is_lost(&row.planned.path));
        found.refused.extend(refused);
    }

    /// Gives one of them the labels of either side; what was refused.
    pub(super) async fn level_one(&self, path: &VPath) -> Option<Refusal> {
        let mut cargo: Pair<Rc<Cargo>> = Pair::default();
        let refused = |side, error| Some(refusal(path, side, error));
        for side in Side::BOTH {
            match self.labels_of(side, path).await {
                Ok(labels) => *cargo.of_mut(side) = labels,
                Err(error) => return refused(side, error),
            }
        }
        for side in Side::BOTH {
            let (own, other) = (cargo.of(side), cargo.of(side.other()));
            if own.has_passed()
                && !own.covers(other)
                && let Err(error) = self.tell(side, path, other).await
            {
                return refused(side, error);
            }
        }
        None
    }
}
