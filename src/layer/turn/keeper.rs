//! What keeps a turn beyond its process, as the turn sees it. Its code (`keep.rs`) is reached only
//! through this trait, so that it is in the chunk that makes one, and not in that of turns.

use futures_util::future::LocalBoxFuture;

use super::Turn;
use super::notes::Question;
use crate::core::error::Result;
use crate::core::future::Pending;
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

    /// Called before the turn's own file at `path` changes.
    fn touch<'a>(&'a self, turn: &'a Turn, path: &'a VPath) -> Pending<'a, ()>;

    /// Called before it changes whether and how `path` is covered. If the turn has a file there, it
    /// was touched before.
    fn touch_cover(&self, turn: &Turn, path: &VPath);

    /// Called after something was read; `renews` if earlier answers are void.
    fn noted(&self, question: Question, digest: u128, renews: bool);
}

impl Turn {
    pub(super) async fn opened(&self) -> Result<()> {
        match self.kept.get() {
            Some(kept) => kept.opened(self).await,
            None => Ok(()),
        }
    }

    pub(super) async fn touch(&self, path: &VPath) -> Result<()> {
        match self.kept.get() {
            Some(kept) => kept.touch(self, path).await,
            None => Ok(()),
        }
    }

    pub(super) fn touch_cover(&self, path: &VPath) {
        if let Some(kept) = self.kept.get() {
            kept.touch_cover(self, path);
        }
    }

    /// A call that changes the turn: it is kept before it returns, or nothing has changed.
    pub(super) async fn change<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.opened().await?;
        let _changing = self.changing.lock().await;
        let answer = work.await;
        self.keep(answer, true).await
    }

    /// A call that reads: what it has read is kept before it returns.
    pub(super) async fn reading<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.opened().await?;
        let answer = work.await;
        self.keep(answer, false).await
    }

    async fn keep<T>(&self, answer: Result<T>, changes: bool) -> Result<T> {
        let kept = match self.kept.get() {
            Some(kept) => kept.keep(self, changes).await,
            None => Ok(()),
        };
        match kept {
            Err(error) if answer.is_ok() => Err(error),
            _ => answer,
        }
    }
}
