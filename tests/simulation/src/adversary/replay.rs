//! Somebody who keeps the journal of a commit while its files are changed, gives the commit a reason to be
//! taken back, and puts the older journal in the place of the one that says so.

use std::cell::Cell;
use std::task::{Context, Waker};

use bytes::Bytes;
use kitbag::layer::turn::Turn;
use kitbag::protocol::{BackendExt, Content};

use crate::world::{World, bytes, path};

/// Polls of a commit, at most.
const POLLS: usize = 2_000;

/// What is at a path.
fn now(world: &World, at: &str) -> Result<Option<Bytes>, String> {
    world.to_end(async { world.raw.fetch(&path(at)).await.ok() })
}

/// A commit that is given up while it is taken back. `turn` is one of an agent, which may not change
/// `/asked/a` unasked. Whoever begins a turn next finds the older journal.
pub fn act(world: &World, turn: &Turn) -> Result<(), String> {
    world.note("a commit whose journal is put back");
    let before = now(world, "/asked/a")?;
    let made = world.to_end(async {
        let changed = turn
            .write(&path("/asked/a"), Content::Raw(bytes("replayed\n"), None))
            .await;
        let created = turn
            .write(&path("/work/zz"), Content::Raw(bytes("new\n"), None))
            .await;
        changed.is_ok() && created.is_ok()
    })?;
    if !made || before.is_none() || now(world, "/work/zz")?.is_some() {
        return Ok(());
    }
    let (at, dir) = world.place.room_at("turns");
    let journal = dir.join("journal").map_err(|error| error.to_string())?;
    let kept: Cell<Option<Bytes>> = Cell::new(None);
    let mut spoiled = false;
    let mut commit = Box::pin(turn.commit());
    for _ in 0..POLLS {
        let context = &mut Context::from_waker(Waker::noop());
        if commit.as_mut().poll(context).is_ready() {
            return Ok(());
        }
        let found = world.to_end(async { at.fetch(&journal).await.ok() })?;
        let says = |word: &str| {
            let text = found.as_ref().map(|file| String::from_utf8_lossy(file));
            text.is_some_and(|text| text.contains(word))
        };
        if !spoiled && says("applying") {
            kept.set(found);
            let spoil = world.raw.store(&path("/work/zz"), bytes("in the way\n"));
            world.to_end(spoil)?.map_err(|error| error.to_string())?;
            spoiled = true;
        } else if spoiled && says("undoing") && now(world, "/asked/a")? == before {
            break;
        }
    }
    drop(commit);
    if let Some(old) = kept.take() {
        world.note("and was given up");
        let put_back = async {
            let _ = world.raw.delete(&path("/work/zz"), None).await;
            let _ = at.store(&journal, old).await;
        };
        world.to_end(put_back)?;
    }
    // What was changed so far counts as it is: what comes now is asked about anew.
    world.to_end(world.check())?
}
