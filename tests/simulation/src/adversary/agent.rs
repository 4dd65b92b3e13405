//! What the agents do: calls of the files, turns, undoes, kept turns, and questions to the history.

use std::rc::Rc;

use futures_util::FutureExt;
use kitbag::core::error::Result as Answered;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::files::{Files, FilesOptions};
use kitbag::layer::history::Moment;
use kitbag::layer::turn::{Outcome, Receipt, Turn, TurnOptions, undo};
use kitbag::protocol::{
    Backend, BackendExt, Content, Edit, GlobQuery, GrepQuery, Page, SharedBackend, Transfer,
};
use kitbag::side::Room;
use kitbag::storage::pinned::Pinned;

use crate::world::{Agent, World, bytes, memory, path};

/// Calls of a seed.
const CALLS: usize = 50;

const PATHS: &[&str] = &[
    "/",
    "/work",
    "/work/a",
    "/work/d",
    "/work/d/b",
    "/work/d/key",
    "/moved/key",
    "/work/new",
    "/web",
    "/web/page",
    "/web/d/more",
    "/memories",
    "/memories/m",
    "/memories/new",
    "/secret",
    "/secret/key",
    "/secret/new",
    "/secret/d/more",
    "/fixed",
    "/fixed/a",
    "/fixed/new",
    "/fixed/d",
    "/moved",
    "/moved/a",
];

const PATTERNS: &[&str] = &["PLANTED", "SECRET", "milk", "e", "Title"];

/// What was made and can be used by both.
#[derive(Default)]
struct Made {
    receipts: Vec<Receipt>,
    pins: Vec<Rc<str>>,
}

/// Runs one seed; says what must not have happened.
pub fn run(seed: u64) -> Result<(), String> {
    all(seed).now_or_never().expect("memory answers at once")
}

async fn all(seed: u64) -> Result<(), String> {
    let world = World::new(seed).await;
    let mut made = Made::default();
    for call in 0..CALLS {
        let agent = world.roll(2);
        world.done.take();
        let step = match world.roll(5) {
            0 => janitor(&world, &world.fresh(), &mut made).await,
            _ => step(&world, &world.agents[agent], &mut made).await,
        };
        let step = match step {
            Ok(()) => world.check().await,
            wrong => wrong,
        };
        step.map_err(|why| {
            let done = world.done.borrow().join(", ");
            format!("call {call} of agent {agent} ({done}): {why}")
        })?;
    }
    Ok(())
}

fn a_path(world: &World) -> VPath {
    path(world.pick(PATHS))
}

fn a_text(world: &World, agent: &Agent) -> String {
    let known = agent.known.borrow().clone();
    world.pick(&known)
}

/// What an answer shows, errors too.
fn shown<T>(answer: &Answered<T>, of: impl FnOnce(&T) -> String) -> String {
    match answer {
        Ok(answer) => of(answer),
        Err(error) => format!("{error}"),
    }
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// One call of files.
async fn one(world: &World, agent: &Agent, files: &dyn Backend) -> Result<(), String> {
    let at = a_path(world);
    let what = world.roll(14);
    // The boundary refuses the root where a file is expected.
    let is_file = matches!(what, 0..=2 | 6..=8 | 10);
    let at = match is_file && at.is_root() {
        true => path("/work/a"),
        false => at,
    };
    world.note(format!("call {what} of {at}"));
    let told = match what {
        0 => shown(&files.read(&at, Page::default()).await, |read| {
            text(&read.content)
        }),
        1 => shown(&files.read_raw(&at).await, |file| text(&file.body)),
        2 => {
            let paths = [at, path(world.pick(&PATHS[1..]))];
            let mut all = String::new();
            for answer in files.download(&paths).await {
                all.push_str(&shown(&answer, |body| text(body)));
            }
            all
        }
        3 => {
            let mut query = GrepQuery::literal(world.pick(PATTERNS));
            query.path = at;
            shown(&files.grep(&query).await, |found| {
                found.matches.iter().map(|row| text(row.text)).collect()
            })
        }
        4 => {
            let query = GlobQuery {
                pattern: "**".into(),
                path: at,
            };
            shown(&files.glob(&query).await, |found| {
                format!("{:?}", found.files)
            })
        }
        5 => shown(&files.ls(&at).await, |found| format!("{found:?}")),
        6 => {
            let content = Content::Raw(bytes(&a_text(world, agent)));
            shown(&files.write(&at, content).await, |_| String::new())
        }
        7 | 8 => {
            // It can only name what it knows.
            let mut olds: Vec<String> = ["milk", "e", "kept\n", "", "fixed"]
                .map(String::from)
                .to_vec();
            olds.push(a_text(world, agent));
            let old = world.pick(&olds);
            let edit = Edit {
                old: bytes(&old),
                new: bytes(&a_text(world, agent)),
                replace_all: true,
                whole: false,
                appends: world.roll(3) == 0,
            };
            shown(&files.edit(&at, &edit).await, |_| String::new())
        }
        9 => shown(&files.delete(&at, None).await, |_| String::new()),
        10 => {
            let some = vec![(at, bytes(&a_text(world, agent)))];
            let answers = files.upload(some).await;
            answers
                .iter()
                .map(|one| shown(one, |()| String::new()))
                .collect()
        }
        _ => {
            let asked = Transfer {
                from: at,
                to: a_path(world),
                keeps: world.roll(2) == 0,
                overwrite: true,
            };
            world.note(format!("to {}, keeps {}", asked.to, asked.keeps));
            shown(&files.transfer(&asked).await, |_| String::new())
        }
    };
    world.told(agent, &told)
}

fn begin(agent: &Agent) -> Turn {
    let top = agent.top.clone();
    let options = TurnOptions { overwrite: true };
    Turn::new(top, Rc::new(memory), "agent".into(), options)
}

/// Some calls of a turn, and perhaps its commit.
async fn in_turn(world: &World, agent: &Agent, turn: &Turn, made: &mut Made) -> Result<(), String> {
    for _ in 0..world.roll(4) {
        one(world, agent, turn).await?;
    }
    if world.roll(3) == 0 {
        let diff = turn.diff().await;
        let told = shown(&diff, |changes| {
            let bodies = changes.iter().flat_map(|one| [&one.before, &one.after]);
            bodies.flatten().map(|body| text(body)).collect()
        });
        world.told(agent, &told)?;
    }
    if world.roll(3) > 0 {
        world.note(String::from("commit"));
        let done = turn.commit().await;
        outcome(world, agent, done, made)?;
    }
    Ok(())
}

fn outcome(
    world: &World,
    agent: &Agent,
    done: Answered<Outcome>,
    made: &mut Made,
) -> Result<(), String> {
    match done {
        // It is the program's; the agent is told that it was made.
        Ok(Outcome::Done(receipt)) => made.receipts.push(receipt),
        Ok(Outcome::Conflict(conflicts)) => {
            let paths: Vec<&str> = conflicts.iter().map(|one| one.path.as_str()).collect();
            world.told(agent, &paths.join(" "))?;
        }
        Err(error) => world.told(agent, &error.to_string())?,
    }
    Ok(())
}

async fn step(world: &World, agent: &Agent, made: &mut Made) -> Result<(), String> {
    match world.roll(12) {
        0..=4 => one(world, agent, &*agent.top).await,
        5 | 6 => in_turn(world, agent, &begin(agent), made).await,
        7 | 8 => in_turn(world, agent, &resumed(world, agent), made).await,
        9 => taken_back(world, agent, made).await,
        _ => asked(world, agent, made).await,
    }
}

/// What somebody does who has read nothing: deletes, takes back, restores, commits what was kept.
async fn janitor(world: &World, agent: &Agent, made: &mut Made) -> Result<(), String> {
    world.note(String::from("in a new conversation"));
    match world.roll(4) {
        0 => {
            let (turn, at) = (begin(agent), a_path(world));
            world.note(format!("deletion of {at}"));
            let told = shown(&turn.delete(&at, None).await, |_| String::new());
            world.told(agent, &told)?;
            let done = turn.commit().await;
            outcome(world, agent, done, made)
        }
        1 => taken_back(world, agent, made).await,
        2 => {
            let turn = resumed(world, agent);
            let done = turn.commit().await;
            outcome(world, agent, done, made)
        }
        _ => asked(world, agent, made).await,
    }
}

/// An undo of one of the newest commits.
async fn taken_back(world: &World, agent: &Agent, made: &mut Made) -> Result<(), String> {
    let newest = made.receipts.len().saturating_sub(3);
    let Some(receipts) = made.receipts.get(newest..).filter(|some| !some.is_empty()) else {
        return Ok(());
    };
    let receipt = world.pick(receipts);
    world.note(format!("undo of {:?}", receipt.files));
    let top = agent.top.clone();
    let done = undo(top, &receipt, "agent".into(), Rc::new(memory)).await;
    outcome(world, agent, done, made)
}

/// One of the turns that all agents go on with.
fn resumed(world: &World, agent: &Agent) -> Turn {
    let turn = begin(agent);
    world.note(String::from("kept turn"));
    let kept = turn.capability().origins.kept(world.kept.clone());
    let room = Room::new(kept, path("/kept"), None);
    turn.keep_in(room, world.pick(&["s", "t"]));
    turn
}

/// A question to the history, or a restore.
async fn asked(world: &World, agent: &Agent, made: &mut Made) -> Result<(), String> {
    let Some(history) = &agent.history else {
        return Ok(());
    };
    let notes = history
        .log(&VPath::root(), 100)
        .await
        .map_err(|e| e.to_string())?;
    let mut moments: Vec<Moment> = notes
        .iter()
        .map(|note| Moment::After(note.id.clone()))
        .collect();
    moments.push(Moment::At(0));
    let what = world.roll(5);
    world.note(format!("question {what} to the history"));
    let told = match what {
        0 => {
            let diff = history
                .diff(&world.pick(&moments), &world.pick(&moments))
                .await;
            shown(&diff, |files| {
                let bodies = files.iter().flat_map(|one| [&one.before, &one.after]);
                bodies.flatten().map(|body| text(body)).collect()
            })
        }
        1 => {
            let restored = history.restore(&a_path(world), &world.pick(&moments)).await;
            shown(&restored, |paths| format!("{paths:?}"))
        }
        2 => {
            let pin = history.pin().await;
            if let Ok(pin) = &pin {
                made.pins.push(pin.name.clone());
            }
            shown(&pin, |pin| pin.name.to_string())
        }
        3 if !made.pins.is_empty() => {
            let moment = Moment::parse(&world.pick(&made.pins)).map_err(|e| e.to_string())?;
            let restored = history.restore(&a_path(world), &moment).await;
            shown(&restored, |paths| format!("{paths:?}"))
        }
        4 if !made.pins.is_empty() => {
            let found = history.objects(&world.pick(&made.pins));
            let (objects, root) = found.map_err(|error| error.to_string())?;
            let pinned = Pinned::new(objects, root, Time::from_millis(0.0));
            let files: SharedBackend = Rc::new(Files::new(pinned, FilesOptions::default()));
            let then = history.capability().origins.earlier(files);
            return one(world, agent, &*then).await;
        }
        _ => String::new(),
    };
    world.told(agent, &told)
}
