//! A turn: changes of several files that are made together or not at all. `docs/turns.md` describes what
//! that guarantees. It has three parts, and each knows only those before it:
//!
//! - `overlay`: the files of a backend with changes that are only in memory, and what was read;
//! - `commit`: checks what was read and makes the changes as one, with a journal where it must;
//! - `log`: keeps a turn beyond its process.
//!
//! [`Turn`] puts them together, and is a backend itself.

mod calls;
mod commit;
mod log;
mod overlay;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::lock::MutexGuard;
use crate::core::path::VPath;
use crate::protocol::{Replacement, SharedBackend};
use crate::side::Room;

use commit::Author;
use log::{LogRecorder, Recorder, Watch, recorded};
use overlay::{Overlay, Prepare};

pub use commit::{Commits, Conflict, Outcome, Receipt, undo};
pub use log::kept;
pub use overlay::{
    ChangeKind, FileChange, Next, Overlays, Rebased, TurnOptions, Unmerged, compared, three_way,
};

/// An overlay over a backend, and who commits it.
pub struct Turn {
    overlay: Overlay,
    author: Author,
    /// Where the turn is kept beyond this process.
    recorder: OnceCell<Rc<dyn Recorder>>,
}

impl Turn {
    /// A turn over `base`. Nothing is read. Before the first use of `base`, a commit that was broken
    /// off there is finished.
    pub fn new(base: SharedBackend, overlays: Overlays, by: Rc<str>, options: TurnOptions) -> Turn {
        let author = Author {
            by,
            top: base.clone(),
            overlays,
        };
        let finisher = author.clone();
        let prepare: Prepare = Rc::new(move || {
            let finisher = finisher.clone();
            Box::pin(async move { commit::recover(finisher.top.clone(), &finisher).await })
        });
        Turn {
            overlay: Overlay::new(base, Some(prepare), &author.overlays, options),
            author,
            recorder: OnceCell::new(),
        }
    }

    /// Keeps the turn in a room under a name, and goes on with what is kept there. Once, before the
    /// first call.
    pub fn keep_in(&self, room: Room, name: &str) {
        let recorder = Rc::new(LogRecorder::new(room, name));
        self.overlay.follow(recorder.clone());
        let _ = self.recorder.set(recorder);
    }

    /// Who makes the changes.
    pub fn by(&self) -> &Rc<str> {
        &self.author.by
    }

    /// How this turn commits.
    pub fn commits(&self) -> Commits {
        commit::commits(self.author.top.clone())
    }

    /// Makes all changes below, if nothing that the turn read or replaces was changed by others.
    /// The turn is empty then, and can go on.
    pub async fn commit(&self) -> Result<Outcome> {
        let _changing = self.begin().await?;
        if let Some(recorder) = self.recorder.get() {
            recorder.committing(&self.overlay).await?;
        }
        let (files, mut reads) = self.overlay.replacements().await?;
        reads.extend(self.overlay.reads.borrow().all());
        let digests = self.overlay.digests();
        let outcome = commit::commit(self.author.clone(), digests, reads, files).await?;
        if matches!(outcome, Outcome::Done(_)) {
            self.clear().await?;
        }
        Ok(outcome)
    }

    /// All that the turn changes, in order of the paths. It grows with the changes, not with the
    /// files below.
    pub async fn diff(&self) -> Result<Vec<FileChange>> {
        let _changing = self.begin().await?;
        self.overlay.diff().await
    }

    /// Keeps of each file that one of the hunks is in only these hunks. Hunks are those of the last
    /// diff: a file that was changed since has others. Returns these files.
    pub async fn accept(&self, ids: &[Rc<str>]) -> Result<Vec<VPath>> {
        let _changing = self.begin().await?;
        let kept = self.overlay.accept(ids).await;
        recorded(kept, self.finish(true).await)
    }

    /// Drops the changes of files that match one of the patterns, and returns these files. If nothing
    /// is left of a turn that is kept, it is over, and forgets what it has read, too.
    pub async fn discard(&self, patterns: &[Rc<str>]) -> Result<Vec<VPath>> {
        let _changing = self.begin().await?;
        let gone = self.overlay.discard(patterns).await;
        let gone = recorded(gone, self.finish(true).await)?;
        if self.recorder.get().is_some() && self.overlay.changes.borrow().is_empty() {
            self.clear().await?;
        }
        Ok(gone)
    }

    /// Merges what others have changed below. For files that match one of the patterns `keep` the
    /// turn's content wins where that is not possible. What was read counts as read now.
    pub async fn rebase(&self, keep: &[Rc<str>]) -> Result<Rebased> {
        let _changing = self.begin().await?;
        let rebased = self.overlay.rebase(keep).await;
        recorded(rebased, self.finish(true).await)
    }

    /// Counts contents that were merged elsewhere as what was there before, so that only later changes are
    /// changes of the turn. Returns the files for which that is so.
    pub async fn settle(&self, files: Vec<Replacement>) -> Result<Vec<VPath>> {
        let _changing = self.begin().await?;
        let settled = self.overlay.settle(files);
        recorded(Ok(settled), self.finish(true).await)
    }

    /// What was noted with a turn that is kept.
    pub async fn noted(&self) -> Result<Option<Rc<str>>> {
        self.load().await?;
        match self.recorder.get() {
            Some(recorder) => recorder.noted().await,
            None => Ok(None),
        }
    }

    /// Shows another base from now on, once the note of it is kept.
    pub async fn show(&self, base: SharedBackend, note: Option<Rc<str>>) -> Result<()> {
        let _changing = self.begin().await?;
        if let (Some(recorder), Some(note)) = (self.recorder.get(), note) {
            recorder.note(note).await?;
        }
        self.overlay.show(base);
        Ok(())
    }

    /// Waits until the turn changes; returns the files. One caller at a time.
    pub async fn changed(&self) -> Result<Vec<VPath>> {
        let found = self.watch()?.next().await;
        Ok(found.into_keys().collect())
    }

    /// Those of some files below that show through.
    pub async fn showing(&self, files: Vec<VPath>) -> Result<Vec<VPath>> {
        self.watch()?;
        self.load().await?;
        let shows = |file: &VPath| self.overlay.own(file).is_none();
        Ok(files.into_iter().filter(shows).collect())
    }

    fn watch(&self) -> Result<&Watch> {
        let watch = self.recorder.get().map(|recorder| recorder.watch());
        watch
            .ok_or_else(|| Error::new(Kind::Unsupported, "Only a turn that is kept can be watched"))
    }

    /// Reads what is kept of the turn, once.
    fn load(&self) -> Pending<'_, ()> {
        match self.recorder.get() {
            Some(recorder) => recorder.load(&self.overlay),
            None => done(Ok(())),
        }
    }

    /// Begins a call that changes the turn.
    fn begin(&self) -> Pending<'_, MutexGuard<'_, ()>> {
        Box::pin(async {
            self.load().await?;
            Ok(self.overlay.changing.lock().await)
        })
    }

    /// Ends a call: what it has read is kept before it returns, and with `changes` what it changed.
    fn finish(&self, changes: bool) -> Pending<'_, ()> {
        match self.recorder.get() {
            Some(recorder) => recorder.record(&self.overlay, changes),
            None => done(Ok(())),
        }
    }

    /// Empties the turn.
    async fn clear(&self) -> Result<()> {
        self.overlay.clear().await?;
        if let Some(recorder) = self.recorder.get() {
            recorder.cleared().await;
        }
        Ok(())
    }
}
