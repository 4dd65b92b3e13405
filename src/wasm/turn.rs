//! `begin` and `undo`: turns over any backend.

use std::rc::Rc;

use bytes::Bytes;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::files::{Files, FilesOptions, WriteMode};
use crate::layer::turn::{
    ChangeKind, Commits, Conflict, FileChange, Outcome, Overlays, Receipt, Turn, TurnOptions,
    compared, undo,
};
use crate::protocol::Replacement;
use crate::storage::memory::Memory;
use crate::wasm::args::Args;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};
use crate::wasm::{buffers, handles};

struct Functions {
    new: fn(u32, &str, bool),
    commits: fn(u32),
    diff: fn(u32, f64) -> Begun,
    commit: fn(u32, f64) -> Begun,
    choose: fn(u32, u8, &str, f64) -> Begun,
    undo: fn(u32, &str, usize, f64) -> Begun,
    compare: fn(usize),
}

chunk!(
    "turns",
    Functions = Functions {
        new,
        commits,
        diff,
        commit,
        choose,
        undo: take_back,
        compare,
    }
);

/// The files of turns, in memory.
fn overlays() -> Overlays {
    Rc::new(|| {
        let options = FilesOptions {
            write_mode: WriteMode::Overwrite,
            ..FilesOptions::default()
        };
        Rc::new(Files::new(Memory::default(), options))
    })
}

/// Begins a turn over a backend; replies with its handle.
#[wasm_bindgen]
pub fn turn_new(base: u32, by: &str, overwrite: bool) {
    (chunk().new)(base, by, overwrite);
}

fn new(base: u32, by: &str, overwrite: bool) {
    let turn = handles::backend(base).map(|base| {
        let options = TurnOptions { overwrite };
        handles::hold(Rc::new(Turn::new(base, overlays(), by.into(), options)))
    });
    answered(turn, |reply, handle| reply.u32(handle)).send();
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

/// Starts a diff. The limits of all calls here are in milliseconds; a negative one means none.
#[wasm_bindgen]
pub fn turn_diff(handle: u32, limit: f64) -> Begun {
    (chunk().diff)(handle, limit)
}

fn diff(handle: u32, limit: f64) -> Begun {
    let turn = handles::itself::<Turn>(handle);
    task::start_within(limit, async move {
        let answer = match turn {
            Ok(turn) => turn.diff().await,
            Err(error) => Err(error),
        };
        answered(answer, put_changes)
    })
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
    reply.len(change.hunks.len());
    for hunk in change.hunks {
        reply.str(&hunk.id);
        for range in [hunk.piece.before, hunk.piece.after] {
            reply.len(range.start);
            reply.len(range.len());
        }
    }
}

fn put_body(reply: &mut Reply, body: Option<Bytes>) {
    reply.bool(body.is_some());
    if let Some(body) = body {
        reply.body(body);
    }
}

/// Starts a commit.
#[wasm_bindgen]
pub fn turn_commit(handle: u32, limit: f64) -> Begun {
    (chunk().commit)(handle, limit)
}

fn commit(handle: u32, limit: f64) -> Begun {
    let turn = handles::itself::<Turn>(handle);
    task::start_within(limit, async move {
        let answer = match turn {
            Ok(turn) => turn.commit().await,
            Err(error) => Err(error),
        };
        answered(answer, put_outcome)
    })
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

/// Starts `accept` (0), `discard` (1) or `rebase` (2), with hunks or patterns, one a line.
#[wasm_bindgen]
pub fn turn_choose(handle: u32, what: u8, lines: &str, limit: f64) -> Begun {
    (chunk().choose)(handle, what, lines, limit)
}

fn choose(handle: u32, what: u8, lines: &str, limit: f64) -> Begun {
    let turn = handles::itself::<Turn>(handle);
    let lines: Vec<Rc<str>> = lines.lines().map(Rc::from).collect();
    task::start_within(limit, async move {
        match turn {
            Ok(turn) => chosen(&turn, what, &lines).await,
            Err(error) => Reply::error(&error),
        }
    })
}

async fn chosen(turn: &Turn, what: u8, lines: &[Rc<str>]) -> Reply {
    match what {
        0 => answered(turn.accept(lines).await, |reply, kept| {
            put_paths(reply, &kept);
        }),
        1 => answered(turn.discard(lines).await, |reply, gone| {
            put_paths(reply, &gone);
        }),
        _ => answered(turn.rebase(lines).await, |reply, rebased| {
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

fn put_paths(reply: &mut Reply, paths: &[VPath]) {
    reply.len(paths.len());
    for path in paths {
        reply.str(path.as_str());
    }
}

/// Starts the undo of a receipt, which is in the message.
#[wasm_bindgen]
pub fn turn_undo(base: u32, by: &str, len: usize, limit: f64) -> Begun {
    (chunk().undo)(base, by, len, limit)
}

/// Compares files, which are in the message as in a receipt; replies as a diff does.
#[wasm_bindgen]
pub fn turn_compare(len: usize) {
    (chunk().compare)(len);
}

fn compare(len: usize) {
    let files = buffers::with_scratch(len, |message| read_receipt(&mut Args::new(message)));
    let changes = files.map(|receipt| compared(receipt.files));
    answered(changes, put_changes).send();
}

fn put_changes(reply: &mut Reply, changes: Vec<FileChange>) {
    reply.len(changes.len());
    for change in changes {
        put_change(reply, change);
    }
}

fn take_back(base: u32, by: &str, len: usize, limit: f64) -> Begun {
    let receipt = buffers::with_scratch(len, |message| read_receipt(&mut Args::new(message)));
    let base = handles::backend(base);
    let by: Rc<str> = by.into();
    task::start_within(limit, async move {
        let answer = match (base, receipt) {
            (Ok(base), Ok(receipt)) => undo(base, &receipt, by, overlays()).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        answered(answer, put_outcome)
    })
}

fn read_receipt(args: &mut Args<'_>) -> Result<Receipt> {
    let count = args.u32()?;
    let mut files: Vec<Replacement> = Vec::new();
    for _ in 0..count {
        let path = args.file_path()?;
        let before = read_body(args)?;
        let after = read_body(args)?;
        if files.iter().any(|file| file.path == path) {
            return Err(Error::new(
                Kind::InvalidArgument,
                "undo: the receipt names a file twice",
            ));
        }
        files.push(Replacement {
            path,
            before,
            after,
        });
    }
    Ok(Receipt {
        id: "".into(),
        by: "".into(),
        at: Time::from_millis(0.0),
        files,
    })
}

fn read_body(args: &mut Args<'_>) -> Result<Option<Bytes>> {
    match args.bool()? {
        true => Ok(Some(args.blob()?)),
        false => Ok(None),
    }
}
