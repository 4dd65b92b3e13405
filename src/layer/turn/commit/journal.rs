//! The journal of commits on backends that change one file at a time, under a condition. It is one file: it
//! holds what each changed file was and will be, and only one commit can have it. A commit that was
//! broken off is finished from it, or taken back, by the next one.
//!
//! ```text
//! preparing ──► applying ──► (deleted)      the change is made
//!     │             └──────► undoing ──► (deleted)
//!     └─► (deleted)                         nothing was changed
//! ```
//!
//! The journal goes from one state to the next by compare-and-swap, so two processes never take it
//! in different directions.
//!
//! A journal of this process is finished as it says: its commit has passed the rules, and was not made
//! yet. For any other one
//! nothing shows who wrote it. So what it would change is first judged by the rules of whoever
//! finishes it, as changes of their own; then it is theirs. What the rules refuse, or what is no
//! journal, is moved aside, and the work goes on.

use std::cell::Cell;
use std::time::Duration;

use bytes::Bytes;

use super::Author;
use super::live;
use super::plan::{in_order, reversed};
use super::record::{Record, Stage};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, random, timer};
use crate::layer::kit::{body, is_conflict, replace};
use crate::protocol::{Backend, Replacement, SharedBackend};
use crate::side::{Found, Room};

/// Where the journal is.
const TURNS: &str = "/.kitbag/turns";

/// What a journal is among the records of a room, and its name.
const KIND: &str = "journal";
const NAME: &str = "journal";

/// How often a journal of another process is looked at before its process counts as gone.
const LOOKS: u32 = 100;

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// After this time without a look at its own journal, a commit looks before its next step: another
/// process may have taken it for gone.
const STALE_MICROS: i64 = 5_000_000;

/// The journal of a backend.
pub(super) struct Journal {
    room: Room,
    /// When it was last looked at.
    looked: Cell<i64>,
}

/// What became of a journal of unknown origin.
enum Adopted {
    /// It is this one now.
    Ours(Record),
    /// Another process has changed it meanwhile.
    Gone,
    /// The rules refuse what it says.
    Refused,
}

/// What is done about a file that rules refuse to take back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The journal is kept, for somebody with other rules.
    Stops,
    /// It stays as it is. The commit's own author asks for that: nobody else is there to do better.
    Stays,
}

/// What came of files that were to be changed.
pub(super) enum Applied {
    All,
    /// These hold something else.
    Differ(Vec<VPath>),
}

impl Journal {
    pub(super) fn new(at: &SharedBackend) -> Result<Journal> {
        Ok(Journal {
            room: Room::of_process(at.clone(), VPath::own(TURNS)?),
            looked: Cell::new(clock::now().micros()),
        })
    }

    pub(super) fn at(&self) -> &dyn Backend {
        &**self.room.at()
    }

    /// A journal as it is stored.
    pub(super) async fn file_of(&self, record: &Record) -> Bytes {
        self.room.sealed(KIND, NAME, &record.bytes()).await
    }

    async fn read(&self) -> Result<Option<Bytes>> {
        let found = self.room.look(KIND, NAME).await?;
        // A directory in its place is gone now.
        Ok(found.and_then(|(found, file)| (found != Found::Removed).then_some(file)))
    }

    /// Whether there was no journal, and this is it now.
    pub(super) async fn create(&self, record: &Record) -> Result<bool> {
        self.looked.set(clock::now().micros());
        live::begin(record);
        let created = self.room.create(KIND, NAME, &record.bytes()).await;
        if matches!(created, Ok(false)) {
            live::end(record.id);
        }
        created
    }

    /// Whether the journal was this file, and is `to` now.
    pub(super) async fn swap(&self, from: &Bytes, to: &Record) -> Result<bool> {
        self.room.replace(KIND, NAME, from, &to.bytes()).await
    }

    /// Whether the journal was this, and is deleted now.
    pub(super) async fn delete(&self, record: &Record) -> Result<bool> {
        let deleted = self.room.delete(NAME, &self.file_of(record).await).await?;
        live::end(record.id);
        Ok(deleted)
    }

    /// The same as one of several changes; without a record there must be no journal.
    pub(super) async fn deletion(&self, record: Option<&Record>) -> Result<Replacement> {
        let before = match record {
            Some(record) => Some(self.file_of(record).await),
            None => None,
        };
        Ok(Replacement {
            path: self.room.path(NAME)?,
            before,
            after: None,
            mode: None,
        })
    }

    /// Returns when there is no journal. One that stays the same for long is finished here.
    pub(super) fn wait(&self, author: &Author) -> impl Future<Output = Result<()>> {
        timer::waiting(|| self.wait_here(author), || self.wait_in_turns(author))
    }

    async fn wait_here(&self, author: &Author) -> Result<()> {
        let Some(mut last) = self.read().await? else {
            return Ok(());
        };
        let mut looks = 0;
        loop {
            timer::sleep(PAUSE).await;
            let Some(now) = self.read().await? else {
                return Ok(());
            };
            looks = if now == last { looks + 1 } else { 0 };
            last = now;
            if looks >= LOOKS {
                self.finish(&last, author).await?;
                looks = 0;
            }
        }
    }

    /// The same where no time passes during a call: the caller comes again. Such calls do not overlap, so one of
    /// this process was broken off.
    async fn wait_in_turns(&self, author: &Author) -> Result<()> {
        let Some(found) = self.read().await? else {
            return Ok(());
        };
        let is_over = live::unchanged(&found, clock::now()) >= PAUSE * LOOKS;
        if is_over || self.is_mine(&found).await {
            self.finish(&found, author).await?;
            if self.read().await?.is_none() {
                return Ok(());
            }
        }
        let error = Error::new(
            Kind::Unavailable,
            "Another commit is being made here, or was broken off. Try again; one that stays as it is for ten seconds is finished first",
        );
        Err(error.retry_after(PAUSE))
    }

    /// Whether a journal is one that this process has begun and not finished.
    async fn is_mine(&self, found: &Bytes) -> bool {
        let Found::Proven(body) = self.room.opened(KIND, NAME, found).await else {
            return false;
        };
        Record::parse(&body).is_some_and(|record| live::stage(&record).is_some())
    }

    /// Finishes a commit that was broken off.
    async fn finish(&self, found: &Bytes, author: &Author) -> Result<()> {
        let (is_ours, body) = match self.room.opened(KIND, NAME, found).await {
            Found::Proven(body) => (true, Some(body)),
            Found::Unproven(body) | Found::OtherKey(body) => (false, Some(body)),
            Found::Foreign | Found::Removed => (false, None),
        };
        match body.as_ref().and_then(Record::parse) {
            Some(record) if is_ours && let Some(stage) = live::stage(&record) => {
                self.go_on(&record, stage).await
            }
            Some(record) if record.stage == Stage::Preparing => {
                self.room.delete(NAME, found).await?;
                Ok(())
            }
            Some(record) => match self.adopted(found, &record, author).await? {
                Adopted::Ours(ours) => self.go_on(&ours, ours.stage).await,
                Adopted::Gone => Ok(()),
                Adopted::Refused => self.room.set_aside(NAME, found, "refused").await,
            },
            None if has(Bug::JournalStuck) => Ok(()),
            None => self.room.set_aside(NAME, found, "foreign").await,
        }
    }

    /// Brings a journal of this process to `stage`, and to its end.
    async fn go_on(&self, record: &Record, stage: Stage) -> Result<()> {
        match stage {
            Stage::Preparing => {
                self.delete(record).await?;
            }
            // An older form of it is there, and nothing of that is carried out.
            Stage::Undoing if record.stage != Stage::Undoing => {
                self.take_back(record, Refused::Stops).await?;
            }
            Stage::Applying => match self.apply(record).await {
                Ok(Applied::All) => {
                    self.delete(record).await?;
                }
                Err(error) if !is_taken(&error) && !is_refused(&error) => return Err(error),
                // Nobody else will ever be able to make it.
                _ => {
                    self.take_back(record, Refused::Stops).await?;
                }
            },
            Stage::Undoing => {
                self.restore(record, Refused::Stops).await?;
            }
        }
        Ok(())
    }

    /// Makes a journal of unknown origin one of this process, if the rules allow what is left to do of it,
    /// and to take back what is done.
    async fn adopted(&self, found: &Bytes, record: &Record, author: &Author) -> Result<Adopted> {
        if record.files.iter().any(|file| file.path.is_own()) {
            return Ok(Adopted::Refused);
        }
        // What is made already may have to be taken back, if a file differs later.
        let (mut left, mut made) = (Vec::new(), Vec::new());
        let mut stage = record.stage;
        for file in &record.files {
            let now = body(self.at(), &file.path).await?;
            if now == file.after {
                made.push(file.path.clone());
                left.push(reversed(file));
            } else if now == file.before && stage == Stage::Applying {
                left.push(file.clone());
            } else {
                stage = Stage::Undoing;
            }
        }
        // Somebody may have named very many files.
        made.sort_unstable();
        let is_made = |path: &VPath| made.binary_search(path).is_ok();
        if stage == Stage::Undoing {
            left.retain(|file| is_made(&file.path));
        }
        let judged = match has(Bug::JournalTrusted) {
            true => Ok(left),
            false => author.judged(left).await,
        };
        let Ok(judged) = judged else {
            return Ok(Adopted::Refused);
        };
        let turned = judged.into_iter().map(|file| match is_made(&file.path) {
            true => reversed(&file),
            false => file,
        });
        let files = turned.collect();
        let ours = Record {
            stage,
            id: random::bits(),
            files,
        };
        self.looked.set(clock::now().micros());
        live::begin(&ours);
        Ok(match self.swap(found, &ours).await? {
            true => Adopted::Ours(ours),
            false => {
                live::end(ours.id);
                Adopted::Gone
            }
        })
    }

    /// Whether the journal is still this one; looks only after some time.
    async fn is_ours(&self, record: &Record) -> Result<bool> {
        let now = clock::now().micros();
        if now.saturating_sub(self.looked.get()) < STALE_MICROS {
            return Ok(true);
        }
        self.looked.set(now);
        Ok(self.read().await? == Some(self.file_of(record).await))
    }

    /// Gives every file its content after.
    pub(super) async fn apply(&self, record: &Record) -> Result<Applied> {
        let pace = Pace::new(clock::now, timer::pause);
        for file in in_order(&record.files) {
            pace.called().await;
            if !self.is_ours(record).await? {
                return Err(lost());
            }
            match replace(self.at(), file).await {
                Ok(_) => {}
                Err(error) if is_conflict(&error) => {
                    // Another process may have done this step.
                    if body(self.at(), &file.path).await? != file.after {
                        return Ok(Applied::Differ(vec![file.path.clone()]));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Applied::All)
    }

    /// Takes an applied journal back, and returns the files that stay changed because rules refuse to take
    /// them back; `None` if another process decided otherwise.
    pub(super) async fn take_back(
        &self,
        record: &Record,
        refused: Refused,
    ) -> Result<Option<Vec<VPath>>> {
        let undoing = record.at(Stage::Undoing);
        live::undo(record.id);
        if !self.swap(&self.file_of(record).await, &undoing).await? {
            return Ok(None);
        }
        self.restore(&undoing, refused).await.map(Some)
    }

    /// Whether a file holds what the commit gives it. One that may not be read was not changed either.
    async fn is_made(&self, file: &Replacement) -> Result<bool> {
        match body(self.at(), &file.path).await {
            Ok(now) => Ok(now == file.after),
            Err(error) if is_refused(&error) || is_taken(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives every file its content before, except those that others have changed since, and those that were
    /// never changed, because rules below refused that: they refuse to take it back as well.
    async fn restore(&self, record: &Record, refused: Refused) -> Result<Vec<VPath>> {
        let mut stay = Vec::new();
        let pace = Pace::new(clock::now, timer::pause);
        for file in &record.files {
            pace.called().await;
            if !self.is_ours(record).await? {
                return Err(lost());
            }
            match replace(self.at(), &reversed(file)).await {
                Err(error) if is_refused(&error) => {
                    let is_made = self.is_made(file).await?;
                    if is_made && refused == Refused::Stops {
                        return Err(error);
                    }
                    stay.extend(is_made.then(|| file.path.clone()));
                }
                Err(error) if !is_taken(&error) => return Err(error),
                _ => {}
            }
        }
        self.delete(record).await?;
        Ok(stay)
    }
}

/// Whether something else is at a path: another content, or a directory there or a file above it.
fn is_taken(error: &Error) -> bool {
    is_conflict(error) || matches!(error.kind(), Kind::IsDirectory | Kind::InvalidPath)
}

/// Whether a rule refuses a change for good.
fn is_refused(error: &Error) -> bool {
    let kinds = [Kind::PermissionDenied, Kind::QuotaExceeded, Kind::TooLarge];
    kinds.contains(&error.kind())
}

pub(super) fn lost() -> Error {
    Error::new(
        Kind::Unavailable,
        "This commit paused for so long that another process finished it or took it back. Read the \
         files to see which.",
    )
}

/// Finishes or takes back a commit that was broken off.
pub(super) async fn recover(at: &SharedBackend, author: &Author) -> Result<()> {
    Journal::new(at)?.wait(author).await
}
