//! A commit: all changes of a turn, if what it read and what it replaces is still there. How that is
//! made one step depends on what is below: a transaction, a journal, or, under rules, a judgement of
//! each change first.

mod author;
mod journal;
mod live;
mod plan;
mod record;
mod rules;
mod with_journal;

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::overlay::{Digests, Overlays, Read};
use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::links;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, random};
use crate::layer::kit::{body, put, replace};
use crate::protocol::{Atomic, Backend, Guard, Replacement, SharedBackend, Transaction};

pub(super) use author::Author;
pub use plan::Conflict;
use plan::{Plan, in_order, reversed};
use rules::Judgement;

/// A change that was made, and can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// A name of its own.
    pub id: Rc<str>,
    /// Who made it.
    pub by: Rc<str>,
    /// When.
    pub at: Time,
    /// What it replaced.
    pub files: Vec<Replacement>,
}

impl Receipt {
    /// That of some files, which a caller has kept.
    pub fn of(files: Vec<Replacement>) -> Result<Receipt> {
        let mut paths: Vec<VPath> = files.iter().map(|file| file.path.clone()).collect();
        order::sort(&mut paths);
        let next = paths.iter().skip(1);
        if paths.iter().zip(next).any(|(one, next)| one == next) {
            return Err(Error::new(
                Kind::InvalidArgument,
                "undo: the receipt names a file twice",
            ));
        }
        Ok(Receipt {
            id: "".into(),
            by: "".into(),
            at: Time::from_millis(0.0),
            files,
        })
    }
}

/// The outcome of a commit or of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All was changed.
    Done(Receipt),
    /// Nothing was changed.
    Conflict(Vec<Conflict>),
}

/// How a commit is made one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// Everybody sees all of it or nothing, at any time.
    Transaction,
    /// The same, but what the commit has read is only checked against other commits.
    Together,
    /// A commit that is broken off is finished or taken back later. Meanwhile, calls past turns can
    /// see a part of it.
    Journal,
    /// Files are compared and written one after the other.
    OneByOne,
}

pub(super) fn commits(at: SharedBackend) -> Commits {
    match at.atomic() {
        Atomic::Transaction(transaction) if transaction.is_journaled() => Commits::Journal,
        Atomic::Transaction(_) | Atomic::Immediate => Commits::Transaction,
        Atomic::Together(together) if together.moment().is_some() => Commits::Transaction,
        Atomic::Together(_) => Commits::Together,
        Atomic::Conditional => Commits::Journal,
        Atomic::Guarded(guard) => commits(guard.inner()),
        Atomic::Inner(inner) => commits(inner),
        Atomic::Never => Commits::OneByOne,
    }
}

/// Finishes or takes back a commit that was broken off.
pub(super) fn recover<'a>(at: SharedBackend, author: &'a Author) -> LocalBoxFuture<'a, Result<()>> {
    Box::pin(async move {
        match at.atomic() {
            Atomic::Conditional | Atomic::Together(_) => journal::recover(&at, author).await,
            Atomic::Guarded(guard) => recover(guard.inner(), author).await,
            Atomic::Inner(inner) => recover(inner, author).await,
            Atomic::Transaction(_) | Atomic::Immediate | Atomic::Never => Ok(()),
        }
    })
}

/// Makes a plan on a backend. Empty if it was made, else the conflicts.
fn run<'a>(at: SharedBackend, plan: &'a Plan) -> LocalBoxFuture<'a, Result<Vec<Conflict>>> {
    Box::pin(async move {
        match at.atomic() {
            Atomic::Transaction(transaction) => in_transaction(&*at, transaction, plan).await,
            Atomic::Immediate => one_by_one(&*at, plan, true).await,
            Atomic::Together(together) => with_journal::in_one_step(&at, together, plan).await,
            Atomic::Conditional => with_journal::file_by_file(&at, plan).await,
            Atomic::Guarded(guard) => under_rules(&*at, guard, plan).await,
            Atomic::Inner(inner) => run(inner, plan).await,
            Atomic::Never => one_by_one(&*at, plan, false).await,
        }
    })
}

async fn in_transaction(
    at: &dyn Backend,
    transaction: &dyn Transaction,
    plan: &Plan,
) -> Result<Vec<Conflict>> {
    let conflicts = plan.changed_reads().await?;
    if !conflicts.is_empty() || plan.files.is_empty() {
        return Ok(conflicts);
    }
    let differ = transaction.replace(&plan.files).await?;
    plan.differing(at, &differ).await
}

/// Makes the changes under the rules on an overlay first; what the rules let through is committed
/// below them.
async fn under_rules(at: &dyn Backend, guard: &dyn Guard, plan: &Plan) -> Result<Vec<Conflict>> {
    let judgement = match has(Bug::CommitUnjudged) {
        true => Ok(Judgement::Passed(plan.files.clone())),
        false => plan.author.under(at, guard, &plan.files).await,
    };
    let files = match judgement.map_err(refused)? {
        Judgement::Passed(files) => files,
        Judgement::Differ(paths) => return plan.differing(&*plan.author.top, &paths).await,
    };
    let below = Plan {
        digests: plan.digests,
        reads: plan.reads.clone(),
        files,
        author: plan.author.clone(),
        stored: RefCell::default(),
    };
    // A rule judges the place where the bytes are.
    let conflicts = links::refusing(run(guard.inner(), &below)).await;
    guard.changed();
    // A rule may have stored something else than was asked for.
    plan.stored.replace(Some(below.into_stored()));
    conflicts
}

fn refused(error: Error) -> Error {
    let mut refusal = Error::new(
        error.kind(),
        format!("The commit was refused, and nothing was changed: {error}"),
    );
    if let Some(wait) = error.wait() {
        refusal = refusal.retry_after(wait);
    }
    if let Some(cause) = error.cause() {
        refusal = refusal.caused_by(cause.clone());
    }
    refusal
}

/// Looks, then writes. What was written is taken back if a later change fails. On a backend whose
/// calls are immediate this is one step; one without conditional changes writes whatever is there.
async fn one_by_one(at: &dyn Backend, plan: &Plan, immediate: bool) -> Result<Vec<Conflict>> {
    let conflicts = plan.changed_reads().await?;
    if !conflicts.is_empty() {
        return Ok(conflicts);
    }
    let mut differ = Vec::new();
    for file in &plan.files {
        if body(at, &file.path).await? != file.before {
            differ.push(file.path.clone());
        }
    }
    if !differ.is_empty() {
        return plan.differing(at, &differ).await;
    }
    let mut made: Vec<Replacement> = Vec::new();
    for file in in_order(&plan.files) {
        if let Err(error) = step(at, file, immediate).await {
            for file in made.iter().rev() {
                step(at, &reversed(file), immediate).await?;
            }
            return Err(refused(error));
        }
        made.push(file.clone());
    }
    Ok(Vec::new())
}

async fn step(at: &dyn Backend, file: &Replacement, conditional: bool) -> Result<()> {
    let made = match conditional {
        true => replace(at, file).await,
        false => put(at, file).await,
    };
    made.map(|_| ())
}

/// Changes files, if these reads of the author's backend give the same again.
pub(super) async fn commit(
    author: Author,
    digests: Digests,
    reads: Vec<(Read, u128)>,
    files: Vec<Replacement>,
) -> Result<Outcome> {
    let plan = Plan {
        digests,
        reads,
        files,
        author,
        stored: RefCell::default(),
    };
    let conflicts = run(plan.author.top.clone(), &plan).await?;
    Ok(match conflicts.is_empty() {
        true => Outcome::Done(Receipt {
            id: random::id().into(),
            by: plan.author.by.clone(),
            at: clock::now(),
            files: plan.into_stored(),
        }),
        false => Outcome::Conflict(conflicts),
    })
}

/// Takes back what a receipt says, if the files still hold what that change left.
pub async fn undo(
    base: SharedBackend,
    receipt_of: &Receipt,
    by: Rc<str>,
    overlays: Overlays,
) -> Result<Outcome> {
    let mut files = Vec::new();
    for file in &receipt_of.files {
        let now = match has(Bug::UndoBlind) {
            true => body(&*base, &file.path).await?,
            false => file.after.clone(),
        };
        files.push(Replacement {
            path: file.path.clone(),
            before: now,
            after: file.before.clone(),
            mode: file.mode,
        });
    }
    let author = Author {
        by,
        top: base,
        overlays,
    };
    let digests = Digests::new([random::bits(), random::bits()]);
    commit(author, digests, Vec::new(), files).await
}
