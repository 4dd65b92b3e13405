//! What keeps a turn beyond its process, as the turn sees it. Its code (`keep.rs`) is reached only
//! through this trait, so that it is in the chunk that makes one, and not in that of turns.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::Turn;
use super::notes::Question;
use super::watch::Watch;
use crate::core::error::Result;
use crate::core::future::{Pending, done};
use crate::core::lock::MutexGuard;
use crate::core::path::VPath;

/// Keeps a turn.
pub(super) trait Keeper {
    /// Reads what is kept of the turn, once.
    fn opened<'a>(&'a self, turn: &'a Turn) -> Pending<'a, ()>;

    /// Keeps what was read, and with `changes` what was changed. If that fails, the changes are gone.
    fn keep<'a>(&'a self, turn: &'a Turn, changes: bool) -> Pending<'a, ()>;

    /// Keeps that a commit begins.
    fn committing<'a>(&'a self, turn: &'a Turn) -> Pending<'a, ()>;

    /// Deletes what is kept of a turn that is empty. If that fails, it is done later.
    fn emptied(&self) -> LocalBoxFuture<'_, ()>;

    /// Called before what the turn has at `path` changes.
    fn mark(&self, path: &VPath);

    /// Tells of the turn's changes.
    fn watch(&self) -> &Rc<Watch>;

    /// Called after something was read; `renews` if earlier answers are void.
    fn noted(&self, question: Question, digest: u128, renews: bool);
}

impl Turn {
    pub(super) fn opened(&self) -> Pending<'_, ()> {
        match self.kept.get() {
            Some(kept) => kept.opened(self),
            None => done(Ok(())),
        }
    }

    pub(super) fn mark(&self, path: &VPath) {
        if let Some(kept) = self.kept.get() {
            kept.mark(path);
        }
    }

    /// Begins a call that changes the turn.
    pub(super) fn enter(&self) -> Pending<'_, MutexGuard<'_, ()>> {
        Box::pin(async {
            self.opened().await?;
            Ok(self.changing.lock().await)
        })
    }

    /// Ends a call: what it has read is kept before it returns, and with `changes` what it changed.
    pub(super) fn leave(&self, changes: bool) -> Pending<'_, ()> {
        match self.kept.get() {
            Some(kept) => kept.keep(self, changes),
            None => done(Ok(())),
        }
    }
}

/// The answer of a call that was kept, or was not.
pub(super) fn judged<T>(answer: Result<T>, kept: Result<()>) -> Result<T> {
    match kept {
        Err(error) if answer.is_ok() => Err(error),
        _ => answer,
    }
}
