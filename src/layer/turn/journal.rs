//! Commits on backends that change one file at a time, under a condition. The journal is one file: it
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
//! yet. For any other one nothing shows who wrote it, or who put it back. So what it would change is first judged by the rules of whoever
//! finishes it, as changes of their own; then it is theirs. What the rules refuse, or what is no
//! journal, is moved aside, and the work goes on.

mod format;
mod live;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use self::format::{Journal, Stage};
use super::finisher::Finisher;
use super::plan::{Conflict, Plan, in_order, reversed};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::{clock, random, timer};
use crate::layer::kit::{body, if_there, is_conflict, replace};
use crate::protocol::{Backend, BackendExt, Replacement, SharedBackend, Together};
use crate::side::{Found, Room};

/// Where the journal is.
const TURNS: &str = "/.kitbag/turns";

/// What the journal is among records, and its name.
const KIND: &str = "journal";
const NAME: &str = "journal";

/// How often a journal of another process is looked at before its process counts as gone.
const LOOKS: u32 = 100;

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// After this time without a look at its own journal, a commit looks before its next step: another
/// process may have taken it for gone.
const STALE_MICROS: i64 = 5_000_000;

/// How often a commit begins anew because another one had the journal.
const ATTEMPTS: u32 = 1_000;

/// The journal of a backend.
struct Desk {
    room: Room,
    seen: std::cell::Cell<i64>,
}

/// What became of a journal of unknown origin.
enum Adopted {
    /// It is this one now.
    Ours(Journal),
    /// Another process has changed it meanwhile.
    Gone,
    /// The rules refuse what it says.
    Refused,
}

/// What came of files that were to be changed.
enum Made {
    All,
    /// These hold something else.
    Differ(Vec<VPath>),
}

impl Desk {
    fn new(at: &SharedBackend) -> Result<Desk> {
        Ok(Desk {
            room: Room::of_process(at.clone(), VPath::own(TURNS)?),
            seen: std::cell::Cell::new(clock::now().micros()),
        })
    }

    fn at(&self) -> &dyn Backend {
        &**self.room.at()
    }

    /// A journal as it is stored.
    fn file_of(&self, journal: &Journal) -> Bytes {
        self.room.sealed(KIND, NAME, &journal.bytes())
    }

    async fn read(&self) -> Result<Option<Bytes>> {
        let found = self.room.look(KIND, NAME).await?;
        // A directory in its place is gone now.
        Ok(found.and_then(|(found, file)| (found != Found::Removed).then_some(file)))
    }

    /// Whether there was no journal, and this is it now.
    async fn create(&self, journal: &Journal) -> Result<bool> {
        live::begin(journal.id);
        self.room.create(KIND, NAME, &journal.bytes()).await
    }

    /// Whether the journal was this file, and is `to` now.
    async fn swap(&self, from: &Bytes, to: &Journal) -> Result<bool> {
        self.room.replace(KIND, NAME, from, &to.bytes()).await
    }

    /// Whether the journal was this, and is deleted now.
    async fn delete(&self, journal: &Journal) -> Result<bool> {
        let deleted = self.room.delete(NAME, &self.file_of(journal)).await?;
        live::end(journal.id);
        Ok(deleted)
    }

    /// Waits until there is no journal. One that stays the same for long is finished here.
    async fn clear(&self, finisher: &Finisher) -> Result<()> {
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
                self.finish(&last, finisher).await?;
                looks = 0;
            }
        }
    }

    /// Finishes a commit that was broken off.
    async fn finish(&self, found: &Bytes, finisher: &Finisher) -> Result<()> {
        let (is_ours, body) = match self.room.opened(KIND, NAME, found) {
            Found::Proven(body) => (true, Some(body)),
            Found::Unproven(body) | Found::OtherKey(body) => (false, Some(body)),
            Found::Foreign | Found::Removed => (false, None),
        };
        match body.as_ref().and_then(Journal::parse) {
            Some(journal) if journal.stage == Stage::Preparing => {
                self.room.delete(NAME, found).await?;
                Ok(())
            }
            Some(journal) if is_ours && live::has(journal.id) => self.go_on(&journal).await,
            Some(journal) => match self.adopted(found, &journal, finisher).await? {
                Adopted::Ours(ours) => self.go_on(&ours).await,
                Adopted::Gone => Ok(()),
                Adopted::Refused => self.room.set_aside(NAME, found, "refused").await,
            },
            None if has(Bug::JournalStuck) => Ok(()),
            None => self.room.set_aside(NAME, found, "foreign").await,
        }
    }

    async fn go_on(&self, journal: &Journal) -> Result<()> {
        match journal.stage {
            Stage::Preparing => {}
            Stage::Applying => match self.apply(journal).await? {
                Made::All => {
                    self.delete(journal).await?;
                }
                Made::Differ(_) => {
                    self.take_back(journal).await?;
                }
            },
            Stage::Undoing => self.restore(journal).await?,
        }
        Ok(())
    }

    /// Makes a journal of unknown origin one of this process, if the rules allow what is left to do of it,
    /// and to take back what is done.
    async fn adopted(
        &self,
        found: &Bytes,
        journal: &Journal,
        finisher: &Finisher,
    ) -> Result<Adopted> {
        if journal.files.iter().any(|file| file.path.is_own()) {
            return Ok(Adopted::Refused);
        }
        // What is made already may have to be taken back, if a file differs later.
        let (mut left, mut made) = (Vec::new(), Vec::new());
        let mut stage = journal.stage;
        for file in &journal.files {
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
            false => finisher.judged(left).await,
        };
        let Ok(judged) = judged else {
            return Ok(Adopted::Refused);
        };
        let turned = judged.into_iter().map(|file| match is_made(&file.path) {
            true => reversed(&file),
            false => file,
        });
        let files = turned.collect();
        let ours = Journal {
            stage,
            id: random::bits(),
            files,
        };
        self.seen.set(clock::now().micros());
        live::begin(ours.id);
        Ok(match self.swap(found, &ours).await? {
            true => Adopted::Ours(ours),
            false => Adopted::Gone,
        })
    }

    /// Whether the journal is still this one; looks only after some time.
    async fn is_ours(&self, journal: &Journal) -> Result<bool> {
        let now = clock::now().micros();
        if now.saturating_sub(self.seen.get()) < STALE_MICROS {
            return Ok(true);
        }
        self.seen.set(now);
        Ok(self.read().await? == Some(self.file_of(journal)))
    }

    /// Gives every file its content after.
    async fn apply(&self, journal: &Journal) -> Result<Made> {
        for file in in_order(&journal.files) {
            if !self.is_ours(journal).await? {
                return Err(lost());
            }
            match replace(self.at(), file).await {
                Ok(_) => {}
                Err(error) if is_conflict(&error) => {
                    // Another process may have done this step.
                    if body(self.at(), &file.path).await? != file.after {
                        return Ok(Made::Differ(vec![file.path.clone()]));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Made::All)
    }

    /// Takes an applied journal back; `false` if another process decided otherwise.
    async fn take_back(&self, journal: &Journal) -> Result<bool> {
        let undoing = journal.at(Stage::Undoing);
        if !self.swap(&self.file_of(journal), &undoing).await? {
            return Ok(false);
        }
        self.restore(&undoing).await?;
        Ok(true)
    }

    /// Gives every file its content before, except those that others have changed since.
    async fn restore(&self, journal: &Journal) -> Result<()> {
        for file in &journal.files {
            if !self.is_ours(journal).await? {
                return Err(lost());
            }
            let back = reversed(file);
            match replace(self.at(), &back).await {
                Err(error) if !is_conflict(&error) => return Err(error),
                _ => {}
            }
        }
        self.delete(journal).await?;
        Ok(())
    }
}

fn lost() -> Error {
    Error::new(
        Kind::Unavailable,
        "This commit paused for so long that another process finished it or took it back. Read the \
         files to see which.",
    )
}

/// Finishes or takes back a commit that was broken off.
pub(super) async fn recover(at: &SharedBackend, finisher: &Finisher) -> Result<()> {
    Desk::new(at)?.clear(finisher).await
}

/// Makes a plan. Empty if it was made, else the conflicts.
pub(super) async fn settle(at: &SharedBackend, plan: &Plan) -> Result<Vec<Conflict>> {
    let desk = Desk::new(at)?;
    let mut preparing = Journal {
        stage: Stage::Preparing,
        id: random::bits(),
        files: plan.files.clone(),
    };
    for _ in 0..ATTEMPTS {
        desk.clear(&plan.finisher).await?;
        if !desk.create(&preparing).await? {
            continue;
        }
        desk.seen.set(clock::now().micros());
        let conflicts = compared(&desk, plan).await;
        if !matches!(&conflicts, Ok(none) if none.is_empty()) || plan.files.is_empty() {
            desk.delete(&preparing).await?;
            return conflicts;
        }
        let applying = preparing.at(Stage::Applying);
        if !desk.swap(&desk.file_of(&preparing), &applying).await? {
            // Another process took this one for gone. Nothing was changed.
            preparing.id = random::bits();
            continue;
        }
        return make(&desk, plan, &applying).await;
    }
    Err(busy())
}

/// The same where several files change in one step. The journal has no files then: it only keeps
/// other commits away while reads are compared, and goes in the step that makes the changes. If the
/// storage names its states, not even that is necessary.
pub(super) async fn settle_together(
    at: &SharedBackend,
    together: &dyn Together,
    plan: &Plan,
) -> Result<Vec<Conflict>> {
    let desk = Desk::new(at)?;
    for _ in 0..ATTEMPTS {
        desk.clear(&plan.finisher).await?;
        let moment = match together.moment() {
            Some(moment) => Some(moment.await?),
            None => None,
        };
        let journal = Journal {
            stage: Stage::Preparing,
            id: random::bits(),
            files: Vec::new(),
        };
        let guarded = moment.is_some() || has(Bug::ReadsUnguarded);
        let locks = !guarded && !plan.reads.is_empty();
        if locks && !desk.create(&journal).await? {
            continue;
        }
        let journal = locks.then_some(&journal);
        let answer = attempt(&desk, together, plan, moment, journal).await;
        let is_made =
            matches!(&answer, Ok(Some(none)) if none.is_empty() && !plan.files.is_empty());
        if let Some(journal) = journal
            && is_made
        {
            live::end(journal.id);
        } else if let Some(journal) = journal {
            // If this fails, the next commit does it.
            desk.delete(journal).await.ok();
        }
        if let Some(conflicts) = answer? {
            return Ok(conflicts);
        }
    }
    Err(busy())
}

/// `None` if the commit has to begin anew.
async fn attempt(
    desk: &Desk,
    together: &dyn Together,
    plan: &Plan,
    moment: Option<Rc<str>>,
    journal: Option<&Journal>,
) -> Result<Option<Vec<Conflict>>> {
    let conflicts = plan.changed_reads().await?;
    if !conflicts.is_empty() || plan.files.is_empty() {
        return Ok(Some(conflicts));
    }
    let mut files = plan.files.clone();
    files.push(Replacement {
        path: desk.room.path(NAME)?,
        before: journal.map(|journal| desk.file_of(journal)),
        after: None,
    });
    match together.replace_at(&files, moment).await {
        Ok(true) => Ok(Some(Vec::new())),
        Ok(false) => {
            let conflicts = compared(desk, plan).await?;
            Ok((!conflicts.is_empty()).then_some(conflicts))
        }
        // The answer may be lost, and not the change. If others have changed a file since, nobody knows,
        // so this is no conflict.
        Err(error) => match is_made(desk, plan).await? {
            true => Ok(Some(Vec::new())),
            false => Err(error),
        },
    }
}

/// Whether all files hold what the plan gives them.
async fn is_made(desk: &Desk, plan: &Plan) -> Result<bool> {
    for file in &plan.files {
        if body(desk.at(), &file.path).await? != file.after {
            return Ok(false);
        }
    }
    Ok(true)
}

fn busy() -> Error {
    Error::new(
        Kind::Unavailable,
        "Other commits were faster all the time; nothing was changed. Try again.",
    )
}

/// What differs from what the plan expects.
async fn compared(desk: &Desk, plan: &Plan) -> Result<Vec<Conflict>> {
    let mut conflicts = plan.changed_reads().await?;
    let paths: Vec<VPath> = plan.files.iter().map(|file| file.path.clone()).collect();
    let mut differ = Vec::new();
    for (file, answer) in plan.files.iter().zip(desk.at().download(&paths).await) {
        if if_there(answer)? != file.before {
            differ.push(file.path.clone());
        }
    }
    conflicts.extend(plan.differing(desk.at(), &differ).await?);
    Ok(conflicts)
}

async fn make(desk: &Desk, plan: &Plan, journal: &Journal) -> Result<Vec<Conflict>> {
    if has(Bug::JournalEarly) {
        desk.delete(journal).await?;
    }
    match desk.apply(journal).await {
        Ok(Made::All) => {
            if desk.delete(journal).await? || has(Bug::JournalEarly) {
                return Ok(Vec::new());
            }
            match is_made(desk, plan).await? {
                true => Ok(Vec::new()),
                false => Err(lost()),
            }
        }
        Ok(Made::Differ(paths)) => match desk.take_back(journal).await? {
            true => plan.differing(desk.at(), &paths).await,
            false => Err(lost()),
        },
        Err(error) => match desk.take_back(journal).await {
            Ok(true) => Err(error),
            Ok(false) => Err(lost()),
            Err(later) => Err(Error::new(
                Kind::Unavailable,
                format!(
                    "The commit failed ({error}) and could not be taken back ({later}). Its \
                     journal is kept: the next commit finishes it or takes it back."
                ),
            )),
        },
    }
}
