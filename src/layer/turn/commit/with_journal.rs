//! Commits with a journal: file by file, or in one step where the backend has one.

use std::rc::Rc;

use super::journal::{Applied, Journal, Refused, lost};
use super::live;
use super::plan::{Conflict, Plan};
use super::record::{Record, Stage};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::random;
use crate::layer::kit::{body, if_there};
use crate::protocol::{BackendExt, SharedBackend, Together};

/// How often a commit begins anew because another one had the journal.
const ATTEMPTS: u32 = 1_000;

/// Makes a plan. Empty if it was made, else the conflicts.
pub(super) async fn file_by_file(at: &SharedBackend, plan: &Plan) -> Result<Vec<Conflict>> {
    let journal = Journal::new(at)?;
    let mut preparing = Record {
        stage: Stage::Preparing,
        id: random::bits(),
        files: plan.files.clone(),
    };
    for _ in 0..ATTEMPTS {
        journal.wait(&plan.author).await?;
        if !journal.create(&preparing).await? {
            continue;
        }
        let conflicts = compared(&journal, plan).await;
        if !matches!(&conflicts, Ok(none) if none.is_empty()) || plan.files.is_empty() {
            journal.delete(&preparing).await?;
            return conflicts;
        }
        let applying = preparing.at(Stage::Applying);
        if !journal
            .swap(&journal.file_of(&preparing).await, &applying)
            .await?
        {
            // Another process took this one for gone. Nothing was changed.
            preparing.id = random::bits();
            continue;
        }
        return make(&journal, plan, &applying).await;
    }
    Err(busy())
}

/// The same where several files change in one step. The journal has no files then: it only keeps
/// other commits away while reads are compared, and goes in the step that makes the changes. If the
/// storage names its states, not even that is necessary.
pub(super) async fn in_one_step(
    at: &SharedBackend,
    together: &dyn Together,
    plan: &Plan,
) -> Result<Vec<Conflict>> {
    let journal = Journal::new(at)?;
    for _ in 0..ATTEMPTS {
        journal.wait(&plan.author).await?;
        let moment = match together.moment() {
            Some(moment) => Some(moment.await?),
            None => None,
        };
        let record = Record {
            stage: Stage::Preparing,
            id: random::bits(),
            files: Vec::new(),
        };
        let guarded = moment.is_some() || has(Bug::ReadsUnguarded);
        let locks = !guarded && !plan.reads.is_empty();
        if locks && !journal.create(&record).await? {
            continue;
        }
        let record = locks.then_some(&record);
        let answer = attempt(&journal, together, plan, moment, record).await;
        let is_made =
            matches!(&answer, Ok(Some(none)) if none.is_empty() && !plan.files.is_empty());
        if let Some(record) = record
            && is_made
        {
            live::end(record.id);
        } else if let Some(record) = record {
            // If this fails, the next commit does it.
            journal.delete(record).await.ok();
        }
        if let Some(conflicts) = answer? {
            return Ok(conflicts);
        }
    }
    Err(busy())
}

/// `None` if the commit has to begin anew.
async fn attempt(
    journal: &Journal,
    together: &dyn Together,
    plan: &Plan,
    moment: Option<Rc<str>>,
    record: Option<&Record>,
) -> Result<Option<Vec<Conflict>>> {
    let conflicts = plan.changed_reads().await?;
    if !conflicts.is_empty() || plan.files.is_empty() {
        return Ok(Some(conflicts));
    }
    let mut files = plan.files.clone();
    files.push(journal.deletion(record).await?);
    match together.replace_at(&files, moment).await {
        Ok(true) => Ok(Some(Vec::new())),
        Ok(false) => {
            let conflicts = compared(journal, plan).await?;
            Ok((!conflicts.is_empty()).then_some(conflicts))
        }
        // The answer may be lost, and not the change. If others have changed a file since, nobody knows,
        // so this is no conflict.
        Err(error) => match is_made(journal, plan).await? {
            true => Ok(Some(Vec::new())),
            false => Err(error),
        },
    }
}

/// Whether all files hold what the plan gives them.
async fn is_made(journal: &Journal, plan: &Plan) -> Result<bool> {
    for file in &plan.files {
        if body(journal.at(), &file.path).await? != file.after {
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

fn torn(why: &str, stay: &[VPath]) -> Error {
    let names: Vec<&str> = stay.iter().map(VPath::as_str).collect();
    Error::new(
        Kind::Unavailable,
        format!(
            "The commit failed ({why}), and rules refuse to take back what it did to {}: there its \
             changes stay. Nothing else of it does.",
            names.join(", ")
        ),
    )
}

fn taken(path: &VPath) -> Error {
    let why =
        "' is a directory, so no file can be stored there. Choose another path, or one below it";
    Error::at(Kind::IsDirectory, "'", path, why)
}

/// What differs from what the plan expects.
async fn compared(journal: &Journal, plan: &Plan) -> Result<Vec<Conflict>> {
    let mut conflicts = plan.changed_reads().await?;
    let paths: Vec<VPath> = plan.files.iter().map(|file| file.path.clone()).collect();
    let mut differ = Vec::new();
    for (file, answer) in plan.files.iter().zip(journal.at().download(&paths).await) {
        if let Err(error) = &answer
            && error.kind() == Kind::IsDirectory
            && file.after.is_some()
        {
            return Err(taken(&file.path));
        }
        if if_there(answer)? != file.before {
            differ.push(file.path.clone());
        }
    }
    conflicts.extend(plan.differing(journal.at(), &differ).await?);
    Ok(conflicts)
}

async fn make(journal: &Journal, plan: &Plan, record: &Record) -> Result<Vec<Conflict>> {
    if has(Bug::JournalEarly) {
        journal.delete(record).await?;
    }
    match journal.apply(record).await {
        Ok(Applied::All) => {
            if journal.delete(record).await? || has(Bug::JournalEarly) {
                return Ok(Vec::new());
            }
            match is_made(journal, plan).await? {
                true => Ok(Vec::new()),
                false => Err(lost()),
            }
        }
        Ok(Applied::Differ(paths)) => match journal.take_back(record, Refused::Stays).await? {
            Some(stay) if stay.is_empty() => plan.differing(journal.at(), &paths).await,
            Some(stay) => Err(torn("others have changed a file", &stay)),
            None => Err(lost()),
        },
        Err(error) => match journal.take_back(record, Refused::Stays).await {
            Ok(Some(stay)) if stay.is_empty() => Err(error),
            Ok(Some(stay)) => Err(torn(&error.to_string(), &stay)),
            Ok(None) => Err(lost()),
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
