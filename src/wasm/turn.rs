//! `begin` and `undo`: turns over any backend.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::turn::{CompareGiven, TurnCall, TurnGiven, UndoGiven, receipt};
use crate::core::error::Result;
use crate::files::{Files, WriteMode};
use crate::layer::turn::{
    ChangeKind, Commits, Conflict, FileChange, Outcome, Overlays, Turn, TurnOptions, compared, undo,
};
use crate::wasm::call::{answered, put_body, put_paths};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::made;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(usize) -> Result<u32>,
    commits: fn(u32),
    ask: fn(u32, usize, f64) -> Begun,
    undo: fn(usize, f64) -> Begun,
    compare: fn(usize, f64) -> Begun,
}

chunk!(
    "turns",
    Functions = Functions {
        new,
        commits,
        ask,
        undo: take_back,
        compare,
    }
);

/// The files of turns, in memory.
fn overlays() -> Overlays {
    Rc::new(|| Rc::new(Files::aside()))
}

/// Begins a turn over a backend; replies with its handle.
#[wasm_bindgen]
pub fn turn_new(len: usize) {
    made((chunk().new)(len));
}

fn new(len: usize) -> Result<u32> {
    let given: TurnGiven = read(len)?;
    let options = TurnOptions {
        overwrite: given.write_mode == WriteMode::Overwrite,
    };
    let base = handles::backend(given.base.0)?;
    let turn = Turn::new(base, overlays(), given.by, options);
    Ok(handles::hold(Rc::new(turn)))
}

/// Replies with how a turn commits: 0 with a transaction, 1 with a journal, 2 file by file, 3 with a
/// transaction that does not include the reads.
#[wasm_bindgen]
pub fn turn_commits(handle: u32) {
    (chunk().commits)(handle);
}

fn commits(handle: u32) {
    let commits = handles::itself::<Turn>(handle).map(|turn| turn.commits());
    answered(commits, |reply, commits| {
        reply.u8(match commits {
            Commits::Transaction => 0,
            Commits::Journal => 1,
            Commits::OneByOne => 2,
            Commits::Together => 3,
        });
    })
    .send();
}

/// Starts a call of a turn. The limits of all calls here are in milliseconds; a negative one means none.
#[wasm_bindgen]
pub fn turn_ask(handle: u32, len: usize, limit: f64) -> Begun {
    (chunk().ask)(handle, len, limit)
}

fn ask(handle: u32, len: usize, limit: f64) -> Begun {
    let call = read(len).and_then(|call| Ok((handles::itself::<Turn>(handle)?, call)));
    task::start_within(limit, async move {
        match call {
            Ok((turn, call)) => asked(&turn, call).await,
            Err(error) => Reply::error(&error),
        }
    })
}

async fn asked(turn: &Turn, call: TurnCall) -> Reply {
    match call {
        TurnCall::Diff {} => answered(turn.diff().await, put_changes),
        TurnCall::Commit {} => answered(turn.commit().await, put_outcome),
        TurnCall::Accept { hunks } => answered(turn.accept(&hunks).await, |reply, kept| {
            put_paths(reply, &kept);
        }),
        TurnCall::Discard { patterns } => answered(turn.discard(&patterns).await, |reply, gone| {
            put_paths(reply, &gone);
        }),
        TurnCall::Rebase { keep } => answered(turn.rebase(&keep).await, |reply, rebased| {
            put_paths(reply, &rebased.merged);
            put_paths(reply, &rebased.read);
            reply.len(rebased.conflicts.len());
            for conflict in rebased.conflicts {
                reply.str(conflict.path.as_str());
                put_body(reply, conflict.before);
                put_body(reply, conflict.now);
                put_body(reply, conflict.ours);
            }
        }),
    }
}

fn put_change(reply: &mut Reply, change: FileChange) {
    reply.str(change.path.as_str());
    let (kind, from) = match &change.kind {
        ChangeKind::Created => (0, None),
        ChangeKind::Changed => (1, None),
        ChangeKind::Deleted => (2, None),
        ChangeKind::Moved(from) => (3, Some(from.as_str())),
    };
    reply.u8(kind);
    reply.optional_str(from);
    put_body(reply, change.before);
    put_body(reply, change.after);
    reply.str(&change.name);
    reply.len(change.hunks.len());
    for hunk in change.hunks {
        for range in [hunk.before, hunk.after] {
            reply.len(range.start);
            reply.len(range.len());
        }
    }
}

fn put_outcome(reply: &mut Reply, outcome: Outcome) {
    match outcome {
        Outcome::Done(receipt) => {
            reply.bool(true);
            reply.str(&receipt.id);
            reply.str(&receipt.by);
            reply.f64(receipt.at.millis());
            reply.len(receipt.files.len());
            for file in receipt.files {
                reply.str(file.path.as_str());
                put_body(reply, file.before);
                put_body(reply, file.after);
                reply.f64(file.mode.map_or(-1.0, |mode| mode.bits().into()));
            }
        }
        Outcome::Conflict(conflicts) => {
            reply.bool(false);
            reply.len(conflicts.len());
            for conflict in conflicts {
                put_conflict(reply, conflict);
            }
        }
    }
}

fn put_conflict(reply: &mut Reply, conflict: Conflict) {
    reply.str(conflict.path.as_str());
    reply.str(conflict.operation);
    put_body(reply, conflict.before);
    put_body(reply, conflict.now);
}

/// Starts the undo of a receipt.
#[wasm_bindgen]
pub fn turn_undo(len: usize, limit: f64) -> Begun {
    (chunk().undo)(len, limit)
}

fn take_back(len: usize, limit: f64) -> Begun {
    let given = read(len).and_then(|given: UndoGiven| {
        let base = handles::backend(given.base.0)?;
        Ok((base, given.by, receipt(given.files)?))
    });
    task::start_within(limit, async move {
        let answer = match given {
            Ok((base, by, receipt)) => undo(base, &receipt, by, overlays()).await,
            Err(error) => Err(error),
        };
        answered(answer, put_outcome)
    })
}

/// Starts a comparison of files; replies as a diff does.
#[wasm_bindgen]
pub fn turn_compare(len: usize, limit: f64) -> Begun {
    (chunk().compare)(len, limit)
}

fn compare(len: usize, limit: f64) -> Begun {
    let files = read(len).and_then(|given: CompareGiven| receipt(given.files));
    task::start_within(limit, async move {
        let changes = match files {
            Ok(receipt) => Ok(compared(receipt.files).await),
            Err(error) => Err(error),
        };
        answered(changes, put_changes)
    })
}

fn put_changes(reply: &mut Reply, changes: Vec<FileChange>) {
    reply.len(changes.len());
    for change in changes {
        put_change(reply, change);
    }
}
