//! Conflict copies that are there already. A run that was broken off after it made one, and whose copy was
//! edited before the next run, finds the copy under its name with another content: the one that it wants to
//! keep is still on the other side, or goes there in this run. Then no second copy is made.

use super::Sync;
use super::entry::Stamp;
use super::look::Found;
use super::names;
use super::plan::{Now, Planned, Side, Step};
use crate::core::path::VPath;
use crate::pins::Digest;

impl Sync {
    /// The copy of a file that holds a content and still does when this run is over, if there is one; and where.
    pub(super) async fn kept_copy(
        &self,
        found: &Found,
        path: &VPath,
        digest: Digest,
        size: u64,
    ) -> Option<(Side, VPath)> {
        let first = names::first_copy(path, self.name(Side::A));
        let (rows, copies) = (&found.rows, &found.copies);
        let changed = copies_in(rows, |row| &row.planned.path, path, &first).filter_map(|row| {
            let side = self.keeps(&row.planned, digest)?;
            Some((&row.planned.path, side, *row.listed.of(side)))
        });
        let same = copies_in(copies, |info| &info.path, path, &first);
        let same = same.map(|info| (&info.path, Side::A, Stamp::of(&info.entry)));
        for (copy, side, stamp) in changed.chain(same) {
            if stamp.is_some_and(|stamp| stamp.size != size) {
                continue;
            }
            // Read now: somebody may have moved it away since it was listed, even to the path of the file.
            let there = self.digest_of(side, copy, size).await;
            if matches!(there, Ok(Some(there)) if there == digest) {
                return Some((side, copy.clone()));
            }
        }
        None
    }

    /// Whether a file of a side has another content by now, or is gone.
    pub(super) async fn lacks(&self, side: Side, path: &VPath, size: u64, digest: Digest) -> bool {
        let there = self.digest_of(side, path, size).await;
        matches!(there, Ok(there) if there != Some(digest))
    }

    /// The side on which this content stays there whatever becomes of the step. Where something else was
    /// agreed on, or the second side alone has it, the next run may take it for what a side deleted.
    fn keeps(&self, planned: &Planned, digest: Digest) -> Option<Side> {
        let holds = |side: &Side| match *planned.now.of(*side) {
            Now::Agreed => planned.agreed == Some(digest),
            Now::Holds(one) => one == digest,
            Now::Nothing | Now::Unread => false,
        };
        match planned.step {
            Step::Nothing | Step::Agree(_) => Some(Side::A).filter(holds),
            _ if planned.agreed.is_some() => None,
            Step::Send(Side::A) => Some(Side::A),
            // Both stay, unless somebody decides otherwise.
            Step::Settle { .. } if self.options.choose.is_none() => {
                Side::BOTH.into_iter().find(holds)
            }
            Step::Send(Side::B)
            | Step::Settle { .. }
            | Step::Forget
            | Step::Delete(_)
            | Step::Move(..)
            | Step::Moved(_) => None,
        }
    }
}

/// Those of a list in order of paths whose paths are copies of a file and begin so.
fn copies_in<'a, T>(
    list: &'a [T],
    path_of: impl Fn(&T) -> &VPath + Copy + 'a,
    file: &'a VPath,
    first: &'a str,
) -> impl Iterator<Item = &'a T> {
    let from = list.partition_point(|one| path_of(one).as_str() < first);
    let named = list.get(from..).unwrap_or_default().iter();
    named
        .take_while(move |one| path_of(one).as_str().starts_with(first))
        .filter(move |one| names::is_beside(file, path_of(one)))
}
