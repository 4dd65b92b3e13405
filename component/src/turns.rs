//! The resource `turn`, and `undo`.

use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::error::Result;
use kitbag::core::file::Mode;
use kitbag::core::path::VPath;
use kitbag::files::Files;
use kitbag::layer::turn::{
    ChangeKind, Commits, Conflict, FileChange, Outcome, Overlays, Receipt, Turn, TurnOptions,
    Unmerged, undo,
};
use kitbag::protocol::Replacement;

use crate::answers;
use crate::backends::Held;
use crate::bindings::exports::kitbag::files::backends::WriteMode as GivenMode;
use crate::bindings::exports::kitbag::files::backends::{Backend, BackendBorrow};
use crate::bindings::exports::kitbag::files::turns as wit;
use crate::bindings::kitbag::files::types;
use crate::run::run;

/// A turn that the host holds.
pub struct HeldTurn(Rc<Turn>);

type Answer<T> = Result<T, types::Error>;

/// The files of turns, in memory.
fn overlays() -> Overlays {
    Rc::new(|| Rc::new(Files::aside()))
}

fn texts(given: Vec<String>) -> Vec<Rc<str>> {
    given.into_iter().map(Rc::from).collect()
}

/// Paths as texts.
pub fn paths(found: Vec<VPath>) -> Vec<String> {
    found.iter().map(|path| path.as_str().to_owned()).collect()
}

fn body(bytes: Option<Bytes>) -> Option<Vec<u8>> {
    bytes.map(Vec::from)
}

fn outcome(outcome: Outcome) -> wit::Outcome {
    match outcome {
        Outcome::Done(receipt) => wit::Outcome::Done(wit::Receipt {
            id: receipt.id.to_string(),
            by: receipt.by.to_string(),
            at: receipt.at.micros(),
            files: receipt.files.into_iter().map(replaced).collect(),
        }),
        Outcome::Conflict(all) => wit::Outcome::Conflicts(all.into_iter().map(conflict).collect()),
    }
}

fn replaced(file: Replacement) -> wit::Replacement {
    wit::Replacement {
        path: file.path.as_str().to_owned(),
        before: body(file.before),
        after: body(file.after),
        mode: file.mode.map(Mode::bits),
    }
}

fn conflict(found: Conflict) -> wit::Conflict {
    wit::Conflict {
        path: found.path.as_str().to_owned(),
        operation: found.operation.to_owned(),
        before: body(found.before),
        now: body(found.now),
    }
}

/// A change with its lines.
pub fn change(change: FileChange) -> wit::Change {
    let lines = |range: std::ops::Range<usize>| wit::LineRange {
        first: answers::count(range.start),
        count: answers::count(range.len()),
    };
    let hunks = change.hunks.into_iter().enumerate();
    let hunks = hunks.map(|(at, hunk)| wit::Hunk {
        id: format!("{}.{at}", change.name),
        before: lines(hunk.before),
        after: lines(hunk.after),
    });
    wit::Change {
        path: change.path.as_str().to_owned(),
        hunks: hunks.collect(),
        kind: match change.kind {
            ChangeKind::Created => wit::ChangeKind::Created,
            ChangeKind::Changed => wit::ChangeKind::Changed,
            ChangeKind::Deleted => wit::ChangeKind::Deleted,
            ChangeKind::Moved(from) => wit::ChangeKind::Moved(from.as_str().to_owned()),
        },
        before: body(change.before),
        after: body(change.after),
    }
}

fn unmerged(found: Unmerged) -> wit::Unmerged {
    wit::Unmerged {
        path: found.path.as_str().to_owned(),
        before: body(found.before),
        now: body(found.now),
        ours: body(found.ours),
    }
}

fn receipt(given: wit::Receipt) -> Result<Receipt> {
    let file = |file: wit::Replacement| {
        Ok(Replacement {
            path: VPath::parse_file(&file.path)?,
            before: file.before.map(Bytes::from),
            after: file.after.map(Bytes::from),
            mode: file.mode.map(Mode::of),
        })
    };
    let files: Result<Vec<Replacement>> = given.files.into_iter().map(file).collect();
    Receipt::of(files?)
}

impl wit::GuestTurn for HeldTurn {
    fn begin(base: BackendBorrow<'_>, by: String, mode: GivenMode) -> Answer<wit::Turn> {
        let base = base.get::<Held>().0.clone();
        let options = TurnOptions {
            overwrite: matches!(mode, GivenMode::Overwrite),
        };
        let made = run("begin", async {
            Ok(Turn::new(base, overlays(), Rc::from(by), options))
        });
        made.map(|turn| wit::Turn::new(HeldTurn(Rc::new(turn))))
            .map_err(answers::error)
    }

    fn files(&self) -> Backend {
        Backend::new(Held(self.0.clone()))
    }

    fn commits(&self) -> wit::CommitKind {
        match self.0.commits() {
            Commits::Transaction => wit::CommitKind::Transaction,
            Commits::Together => wit::CommitKind::Together,
            Commits::Journal => wit::CommitKind::Journal,
            Commits::OneByOne => wit::CommitKind::OneByOne,
        }
    }

    fn diff(&self) -> Answer<Vec<wit::Change>> {
        run("diff", self.0.diff())
            .map(|found| found.into_iter().map(change).collect())
            .map_err(answers::error)
    }

    fn commit(&self) -> Answer<wit::Outcome> {
        run("commit", self.0.commit())
            .map(outcome)
            .map_err(answers::error)
    }

    fn accept(&self, hunks: Vec<String>) -> Answer<Vec<String>> {
        run("accept", self.0.accept(&texts(hunks)))
            .map(paths)
            .map_err(answers::error)
    }

    fn discard(&self, patterns: Vec<String>) -> Answer<Vec<String>> {
        run("discard", self.0.discard(&texts(patterns)))
            .map(paths)
            .map_err(answers::error)
    }

    fn rebase(&self, keep: Vec<String>) -> Answer<wit::Rebased> {
        run("rebase", self.0.rebase(&texts(keep)))
            .map(|done| wit::Rebased {
                merged: paths(done.merged),
                read: paths(done.read),
                conflicts: done.conflicts.into_iter().map(unmerged).collect(),
            })
            .map_err(answers::error)
    }
}

/// Takes back a commit.
pub fn take_back(base: BackendBorrow<'_>, given: wit::Receipt, by: String) -> Answer<wit::Outcome> {
    let base = base.get::<Held>().0.clone();
    let answer = run("undo", async {
        let receipt = receipt(given)?;
        undo(base, &receipt, Rc::from(by), overlays()).await
    });
    answer.map(outcome).map_err(answers::error)
}
