//! A run: makes the planned changes, some at a time, and notes what is agreed on then.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::agreed::{Doing, SWEEPS};
use super::done::Done;
use super::early::{Early, Listings};
use super::look::{BYTES_AT_ONCE, Found, Row};
use super::names;
use super::notes::{Agreed, Notes};
use super::parts::Base;
use super::plan::{Now, Pair, Planned, Side, Step};
use super::running::{self, Running};
use super::{Change, Changed, Choice, Conflict, Sync, Synced};
use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Result};
use crate::core::future::{PARALLEL, Pending, bounded, together};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::clock;
use crate::protocol::may_create;

/// After how many changes what is agreed on is written: this many, or a part of all.
const WRITE_EVERY: usize = 2_000;
const WRITES: usize = 16;

/// The changes of a batch, of which some are made at a time.
const BATCH: usize = 256;

/// How a run begins.
struct Begun {
    agreed: Agreed,
    found: Found,
    early: Early,
    /// Whether an earlier run was broken off.
    is_resumed: bool,
}

/// What the changes of a run are made from.
struct Plan<'a> {
    found: &'a Found,
    early: &'a Early,
    running: &'a Running,
}

impl Sync {
    /// Brings both trees together.
    pub async fn run(&self) -> Result<Synced> {
        self.unread(self.run_unread()).await
    }

    async fn run_unread(&self) -> Result<Synced> {
        if self.options.dry_run {
            let begun = self.begin(None).await?;
            return Ok(self.planned(begun.found));
        }
        let running = Rc::new(running::begin(&self.book.room).await?);
        *self.running.borrow_mut() = Rc::downgrade(&running);
        let synced = self.run_alone(&running).await;
        running.end().await;
        synced
    }

    /// What a run would do.
    fn planned(&self, found: Found) -> Synced {
        let mut synced = self.begun(&found);
        for row in found.rows {
            let path = row.planned.path;
            let (side, what) = match row.planned.step {
                Step::Nothing | Step::Agree(_) | Step::Forget | Step::Moved(_) => continue,
                Step::Send(from) => match row.planned.now.of(from.other()) {
                    Now::Nothing => (from.other(), Changed::Created),
                    Now::Agreed | Now::Holds(_) | Now::Unread => (from.other(), Changed::Replaced),
                },
                Step::Delete(side) => (side, Changed::Deleted),
                Step::Move(side, from) => (side, Changed::Moved(from)),
                Step::Settle { .. } => {
                    synced.conflicts.push(Conflict {
                        path,
                        choice: Choice::Leave,
                        copy: None,
                    });
                    continue;
                }
            };
            synced.changed.push(Change { path, side, what });
        }
        synced.refused = found.refused;
        synced
    }

    fn begun(&self, found: &Found) -> Synced {
        Synced {
            files: found.files,
            read: found.read.0,
            read_bytes: found.read.1,
            risks: self.risks(),
            ..Synced::default()
        }
    }

    /// Reads what was agreed on while both sides are listed, and plans. A run sends edits meanwhile.
    async fn begin(&self, running: Option<&Running>) -> Result<Begun> {
        let began = clock::now().micros();
        let listings = Listings::default();
        let mut agreed = None;
        let calls: Vec<Pending<'_, ()>> = vec![
            Box::pin(async {
                let _ = listings.a.set(self.list(Side::A).await);
                Ok(())
            }),
            Box::pin(async {
                let _ = listings.b.set(self.list(Side::B).await);
                Ok(())
            }),
            Box::pin(async {
                let (mut base, file, doing) = self.last_agreed().await?;
                let early = match running {
                    Some(running) => {
                        let sent = self.send_early(&listings, &mut base, &doing, began, running);
                        sent.await?
                    }
                    None => Early::default(),
                };
                agreed = Some((base, file, doing, early));
                Ok(())
            }),
        ];
        together(calls)
            .await
            .into_iter()
            .collect::<Result<Vec<()>>>()?;
        let (mut base, file, mut doing, early) = agreed.ok_or_else(running::overtaken)?;
        let mut files = Pair::default();
        for (side, list) in [(Side::A, listings.a), (Side::B, listings.b)] {
            *files.of_mut(side) = list.into_inner().ok_or_else(running::overtaken)??;
        }
        let range = self.range_of(&mut files).await?;
        let is_resumed = !doing.is_empty();
        doing.extend(early.unknown.iter().cloned());
        order::sort_by(&mut doing, |a, b| a.0.cmp(&b.0));
        let found = self
            .look(&mut base, &doing, &early, began, (range, files))
            .await?;
        let doing = match early.doing.is_empty() {
            true => doing,
            false => early.doing.clone(),
        };
        Ok(Begun {
            agreed: Agreed { base, file, doing },
            found,
            early,
            is_resumed,
        })
    }

    /// What was agreed on, the file with it, and what a run has begun.
    async fn last_agreed(&self) -> Result<(Base, Option<Bytes>, Doing)> {
        let (mut base, mut doing) = (None, None);
        let calls: Vec<Pending<'_, ()>> = vec![
            Box::pin(async {
                base = Some(self.book.base().await?);
                Ok(())
            }),
            Box::pin(async {
                doing = Some(self.book.doing().await?);
                Ok(())
            }),
        ];
        together(calls)
            .await
            .into_iter()
            .collect::<Result<Vec<()>>>()?;
        let (base, file) = base
            .filter(|_| !has(Bug::SyncBaseForgotten))
            .unwrap_or_default();
        let (after, mut doing) = doing.unwrap_or_default();
        if after != base.run {
            doing.clear();
        }
        Ok((base, file, doing))
    }

    async fn run_alone(&self, running: &Running) -> Result<Synced> {
        let begun = self.begin(Some(running)).await?;
        let (agreed, mut found, mut early) = (begun.agreed, begun.found, begun.early);
        self.level(&mut found).await;
        let mut synced = self.begun(&found);
        if agreed.base.is_damaged {
            synced.risks.push(
                "a part of what was agreed on is lost or damaged, so its files were compared again"
                    .into(),
            );
        }
        let mut notes = Notes::new(&self.book, agreed, found.size);
        for sent in std::mem::take(&mut early.sent) {
            synced.changed.push(notes.sent(sent));
        }
        synced.sent_bytes += early.bytes;
        for row in &found.rows {
            notes.keep(row);
        }
        let steps = in_order(&found.rows);
        let sent = synced.changed.len();
        let told = |made: usize| {
            if let Some(progress) = &self.options.progress {
                progress(sent + made, sent + steps.len());
            }
        };
        let mut stopped = None;
        if steps.is_empty() {
            notes.publish().await?;
        }
        if sent > 0 {
            told(0);
        }
        let some = WRITE_EVERY.max(steps.len() / WRITES);
        for (number, part) in steps.chunks(some).enumerate() {
            if stopped.is_some() {
                break;
            }
            notes.begin(&with_moved(part, &found.rows)).await?;
            let before = number * some;
            let told = |made: usize| told(before + made);
            let plan = Plan {
                found: &found,
                early: &early,
                running,
            };
            let change = self.change(part, &plan, &mut notes, &mut synced, &told);
            stopped = change.await?;
            notes.publish().await?;
        }
        if stopped.is_none() && (begun.is_resumed || notes.base.run % SWEEPS == 1) {
            self.give_up_uploads().await;
        }
        order::sort_by(&mut synced.changed, |a, b| {
            (&a.path, a.side).cmp(&(&b.path, b.side))
        });
        order::sort_by(&mut synced.conflicts, |a, b| a.path.cmp(&b.path));
        synced.refused.extend(found.refused);
        match stopped {
            Some(error) => Err(error),
            None => Ok(synced),
        }
    }

    /// Makes some changes. Returns why it stopped before the end, if it did.
    async fn change(
        &self,
        steps: &[&Row],
        plan: &Plan<'_>,
        notes: &mut Notes<'_>,
        synced: &mut Synced,
        told: &dyn Fn(usize),
    ) -> Result<Option<Error>> {
        let made = Cell::new(0);
        let last = Last::default();
        while let Some(rest) = steps.get(made.get()..).filter(|rest| !rest.is_empty()) {
            let batch = rest.get(..fitting(rest)).unwrap_or(rest);
            let base = &notes.base;
            let calls = batch.iter().map(|row| -> LocalBoxFuture<'_, Option<Done>> {
                Box::pin(async {
                    if last.is_stopped() || !last.hears(plan.running.goes_on().await) {
                        return None;
                    }
                    let done = self.change_one(row, plan, base).await;
                    last.came_to(&done);
                    made.set(made.get() + 1);
                    told(made.get());
                    Some(done)
                })
            });
            let all = bounded(PARALLEL, calls).await;
            for (row, done) in batch.iter().zip(all) {
                let Some(done) = done else {
                    continue;
                };
                notes.made(&row.planned.path, row.stamps, done.ends);
                synced.changed.extend(done.changed);
                synced.conflicts.extend(done.conflicts);
                synced.refused.extend(done.refused);
                synced.sent_bytes += done.sent;
            }
            notes.write_texts().await;
            if let Some(error) = last.overtaken.take() {
                return Err(error);
            }
            if last.is_stopped() {
                return Ok(last.unanswered.take());
            }
        }
        Ok(None)
    }

    /// Refuses to create a file whose name looks like another one.
    fn deceives(&self, planned: &Planned) -> Option<Done> {
        let side = match planned.step {
            Step::Send(from) if *planned.now.of(from.other()) == Now::Nothing => from.other(),
            Step::Move(side, _) => side,
            Step::Nothing
            | Step::Agree(_)
            | Step::Forget
            | Step::Send(_)
            | Step::Delete(_)
            | Step::Moved(_)
            | Step::Settle { .. } => return None,
        };
        let error = may_create(&**self.at(side), &planned.path).err()?;
        Some(Done::default().refused(&planned.path, side, error))
    }

    async fn change_one(&self, row: &Row, plan: &Plan<'_>, base: &Base) -> Done {
        let (planned, found) = (&row.planned, plan.found);
        if let Some(refused) = plan.early.refused(planned) {
            return refused;
        }
        if let Some(refused) = self.deceives(planned) {
            return refused;
        }
        match &planned.step {
            Step::Send(from) => match self.send_large(row, *from).await {
                Some(done) => done,
                None => {
                    // What the other side still holds need not be read there.
                    let kept = match planned.now.of(from.other()) {
                        Now::Agreed => self.kept_text(base, &planned.path).await,
                        Now::Nothing | Now::Holds(_) | Now::Unread => None,
                    };
                    self.send(planned, *from, kept).await
                }
            },
            Step::Delete(side) => self.delete(planned, *side).await,
            Step::Move(side, from) => match find(&found.rows, from) {
                Some(old) => {
                    let size = row.listed.of(side.other()).map_or(0, |stamp| stamp.size);
                    self.shift(planned, &old.planned, size, *side).await
                }
                None => Done::default(),
            },
            Step::Settle { merges } => {
                let text = match merges {
                    true => self.kept_text(base, &planned.path).await,
                    false => None,
                };
                let written = row
                    .listed
                    .of(Side::A)
                    .map(|stamp| Time::from_micros(stamp.modified));
                match self.settle_large(row, found, written).await {
                    Ok(done) => done,
                    Err(done) => done.and(self.settle(planned, found, written, text).await),
                }
            }
            Step::Nothing | Step::Agree(_) | Step::Forget | Step::Moved(_) => Done::default(),
        }
    }

    /// The text that was agreed on, if it is kept.
    pub(super) async fn kept_text(&self, base: &Base, path: &VPath) -> Option<Bytes> {
        let entry = base.entry(path).filter(|entry| entry.text.is_some())?;
        self.book.text(&entry.digest).await.unwrap_or_default()
    }
}

/// What the last changes of a run came to: whether more of them are worth beginning.
#[derive(Default)]
struct Last {
    /// Another run took over.
    overtaken: RefCell<Option<Error>>,
    /// Why the last ones were not answered, and how many of them.
    unanswered: RefCell<Option<Error>>,
    silent: Cell<usize>,
    /// Whether there were too many; an answer that arrives after all does not begin those that were left out.
    is_over: Cell<bool>,
}

impl Last {
    /// After so many without an answer nobody answers: the others would have to wait as long.
    fn is_stopped(&self) -> bool {
        self.is_over.get() || self.overtaken.borrow().is_some()
    }

    /// Whether the run goes on.
    fn hears(&self, goes_on: Result<()>) -> bool {
        match goes_on {
            Ok(()) => true,
            Err(error) => {
                self.overtaken.replace(Some(error));
                false
            }
        }
    }

    fn came_to(&self, done: &Done) {
        let Some(refusal) = done.refused.iter().find(|one| one.error.is_no_answer()) else {
            return self.silent.set(0);
        };
        self.silent.set(self.silent.get() + 1);
        if self.silent.get() >= PARALLEL && !self.is_over.replace(true) {
            self.unanswered.replace(Some(refusal.error.clone()));
        }
    }
}

/// How many of the next changes are in one batch: what they wrote is in memory until its end. A copy is settled after what it is a copy of, which may
/// still need what is in it.
fn fitting(rest: &[&Row]) -> usize {
    let first = rest.first().and_then(|row| turn(row));
    let mut bytes: u64 = 0;
    let fits = |row: &&&Row| {
        if turn(row).max(Some(SENT)) != first.max(Some(SENT)) {
            return false;
        }
        let is_first = bytes == 0;
        let size = |side: Side| row.listed.of(side).map_or(0, |stamp| stamp.size);
        bytes = bytes.saturating_add(size(Side::A).max(size(Side::B)).max(1));
        is_first || bytes <= BYTES_AT_ONCE
    };
    rest.iter().take(BATCH).take_while(fits).count().max(1)
}

/// The row of a path.
fn find<'a>(rows: &'a [Row], path: &VPath) -> Option<&'a Row> {
    let place = rows
        .binary_search_by(|row| row.planned.path.cmp(path))
        .ok()?;
    rows.get(place)
}

/// When files are sent.
const SENT: usize = 2;

/// When a change has its turn: deletions and moves make room, so they come first. Edits are settled when files
/// were sent: a copy that the second side has may be one that a settled edit needs on the first side.
fn turn(row: &Row) -> Option<usize> {
    match row.planned.step {
        Step::Delete(_) => Some(0),
        Step::Move(..) => Some(1),
        Step::Send(_) => Some(SENT),
        Step::Settle { .. } => Some(SENT + 1 + names::depth(&row.planned.path)),
        Step::Nothing | Step::Agree(_) | Step::Forget | Step::Moved(_) => None,
    }
}

/// The rows with changes, in their order.
fn in_order(rows: &[Row]) -> Vec<&Row> {
    let mut steps: Vec<&Row> = rows.iter().filter(|row| turn(row).is_some()).collect();
    order::sort_by_key(&mut steps, |row| turn(row));
    steps
}

/// The rows that some steps change: of a move, the old path too.
fn with_moved<'a>(steps: &[&'a Row], rows: &'a [Row]) -> Vec<&'a Row> {
    let mut all = steps.to_vec();
    for row in steps {
        if let Step::Move(_, from) = &row.planned.step {
            all.extend(find(rows, from));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::error::Kind;

    #[test]
    fn a_run_ends_after_sixteen_without_an_answer_in_a_row() {
        let silent = || {
            let error = Error::new(Kind::Unavailable, "gone");
            Done::default().refused(&VPath::root(), Side::A, error)
        };
        let last = Last::default();
        for _ in 0..2 * PARALLEL {
            last.came_to(&silent());
            last.came_to(&Done::default());
        }
        assert!(!last.is_stopped());
        for _ in 0..PARALLEL {
            assert!(!last.is_stopped());
            last.came_to(&silent());
        }
        assert!(last.is_stopped());
        // One that had begun is answered after all: those that were left out stay left out.
        last.came_to(&Done::default());
        assert!(last.is_stopped());
        assert!(last.unanswered.take().is_some());
    }
}
