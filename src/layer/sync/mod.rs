//! Brings two trees together. What both agreed on last is kept in a room, so that of a file that differs it
//! is known who changed it: an edit goes to the other side, edits of both sides are merged or both are
//! kept, and a deletion never beats an edit. `docs/sync.md` says what that guarantees.
//!
//! - `plan`: what is done about a path, a pure function;
//! - `agreed`: what is kept, `entry`: of one file, `parts`: how they are cut; `running`: one run at a time;
//! - `scope`: which files are synced; `look`: lists both sides, and reads what decides something;
//! - `labels`: what contents came with, and where they may go so; `level`: labels of equal files;
//! - `change`: one conditional change; `settle`: two edits of one file; `kept`: copies
//!   that are there; `large`: files that are read in ranges, `sending`: their changes, `uploads`: those that were
//!   broken off;
//! - `early`: edits that are sent while a side is listed; `run`: makes the changes; `notes`: what is agreed on then.
//!
//! Each change is conditional, and is noted after it is made. So a run can be broken off anywhere: what it
//! made is found equal on both sides, and what it did not make is planned again.

mod agreed;
mod change;
mod done;
mod early;
mod entry;
mod kept;
mod labels;
mod large;
mod level;
mod look;
mod names;
mod notes;
mod parts;
mod plan;
mod run;
mod running;
mod scope;
mod sending;
mod settle;
#[cfg(test)]
mod tests;
mod uploads;

use std::rc::{Rc, Weak};

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{Atomic, Reach, SharedBackend};
use crate::side::Room;

use agreed::Book;
use running::Running;

pub use plan::{Pair, Side};
#[cfg(feature = "simulation")]
pub use running::renew_process;

/// What is done about a file that both sides changed, if it cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Both stay: that of the second side under its name, the other one beside it.
    Both,
    /// That of this side.
    Take(Side),
    /// It stays as it is on both sides.
    Leave,
}

/// Decides about a file.
pub type Choose = Rc<dyn Fn(VPath) -> Pending<'static, Choice>>;

/// Hears how many changes of how many are made.
pub type Progress = Rc<dyn Fn(usize, usize)>;

/// Options of a run.
#[derive(Clone, Default)]
pub struct SyncOptions {
    /// Patterns of the paths that are synced; all if there are none.
    pub paths: Vec<Rc<str>>,
    /// Names of ignore files; what they name is not synced.
    pub ignore: Vec<Rc<str>>,
    /// The names of the sides, in those of conflict copies.
    pub names: Pair<Rc<str>>,
    /// Decides about conflicts; without, both files stay.
    pub choose: Option<Choose>,
    /// Whether files are compared by their contents, whatever their sizes and times.
    pub by_content: bool,
    /// Whether a side without any file is one whose files were deleted.
    pub allow_empty: bool,
    /// Only plans.
    pub dry_run: bool,
    /// Files above so many bytes are read in ranges of that size; `None` for the usual one.
    pub range: Option<u64>,
    /// Hears how it goes on.
    pub progress: Option<Progress>,
}

/// What happened to a file of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It was created.
    Created,
    /// It was replaced.
    Replaced,
    /// Edits of both sides were merged.
    Merged,
    /// It was deleted.
    Deleted,
    /// It was moved here from another path.
    Moved(VPath),
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: VPath,
    /// Where.
    pub side: Side,
    /// What.
    pub what: Changed,
}

/// A file that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: VPath,
    /// What was done.
    pub choice: Choice,
    /// Where the content of the first side is now, if both stay.
    pub copy: Option<VPath>,
}

/// What a side did not allow, or could not do. The file stays as it is.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The file.
    pub path: VPath,
    /// Who refused.
    pub side: Side,
    /// Why.
    pub error: Error,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// What was changed; of a dry run, what would be.
    pub changed: Vec<Change>,
    /// What both sides had changed.
    pub conflicts: Vec<Conflict>,
    /// What was refused.
    pub refused: Vec<Refusal>,
    /// What may be lost, since a side cannot compare and swap, and what was lost; one sentence each.
    pub risks: Vec<String>,
    /// How many files each side has.
    pub files: Pair<usize>,
    /// How many files were read to compare them.
    pub read: usize,
    /// Bytes that were read to compare files.
    pub read_bytes: u64,
    /// Bytes that were written.
    pub sent_bytes: u64,
}

/// Two trees, and where is kept what they agreed on.
pub struct Sync {
    sides: Pair<SharedBackend>,
    book: Book,
    options: SyncOptions,
    /// The run that is going on.
    running: RefCell<Weak<Running>>,
    /// The notes of uploads that the next run may go on with.
    unfinished: RefCell<Vec<String>>,
}

/// What is below the rules around a backend, if it has any.
fn below(at: SharedBackend) -> SharedBackend {
    if let Atomic::Guarded(guard) = at.atomic() {
        return guard.inner();
    }
    at
}

impl Sync {
    /// Of two backends. Nothing is read.
    pub fn new(
        a: SharedBackend,
        b: SharedBackend,
        room: Room,
        options: SyncOptions,
    ) -> Result<Sync> {
        let sides = match has(Bug::SyncBelowRules) {
            true => Pair {
                a: below(a),
                b: below(b),
            },
            false => Pair { a, b },
        };
        for side in Side::BOTH {
            let name = options.names.of(side);
            let is_good = !name.is_empty()
                && name.chars().count() <= 40
                && !name.contains(|one: char| one.is_control() || r#"/\:*?"<>|"#.contains(one));
            if !is_good {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    "option \"names\" must be two names of 1 to 40 characters, as file names have them: \
                     without / \\ : * ? \" < > |",
                ));
            }
        }
        if options.names.a == options.names.b {
            return Err(Error::new(
                Kind::InvalidArgument,
                "option \"names\" must be two different names",
            ));
        }
        let book = Book { room };
        let sync = Sync {
            sides,
            book,
            options,
            running: RefCell::default(),
            unfinished: RefCell::default(),
        };
        Side::BOTH
            .into_iter()
            .try_for_each(|side| sync.check_labels(side))?;
        Ok(sync)
    }

    fn at(&self, side: Side) -> &SharedBackend {
        self.sides.of(side)
    }

    fn name(&self, side: Side) -> &str {
        self.options.names.of(side)
    }

    /// What may be lost.
    fn risks(&self) -> Vec<String> {
        let mut risks = Vec::new();
        for side in Side::BOTH {
            let name = self.name(side);
            let capability = self.at(side).capability();
            let weaker = match (capability.create, capability.update) {
                (Reach::Storage, Reach::Storage) => continue,
                (Reach::Never, _) | (_, Reach::Never) => {
                    "cannot compare and swap: what others write there while a file is synced may be lost"
                }
                (Reach::Instance | Reach::Storage, Reach::Instance)
                | (Reach::Instance, Reach::Storage) => {
                    "compares and swaps within this process only: what other processes write there while \
                     a file is synced may be lost"
                }
            };
            risks.push(format!("side \"{name}\" {weaker}"));
        }
        risks
    }
}
