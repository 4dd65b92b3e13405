//! What the agents do: calls of the files, turns, undoes, kept turns, and questions to the history.

use std::rc::Rc;

use kitbag::core::error::Result as Answered;
use kitbag::core::parts::testing::Ready;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::env::simulated;
use kitbag::files::{Files, FilesOptions};
use kitbag::layer::history::{Compared, Moment};
use kitbag::layer::turn::{Outcome, Receipt, Turn, TurnOptions, undo};
use kitbag::protocol::{
    Backend, BackendExt, Content, Edit, GlobQuery, GrepQuery, OfParts, Page, SharedBackend,
    Transfer,
};
use kitbag::side::{Room, WAIT};
use kitbag::storage::pinned::Pinned;

use kitbag_simulation::many;

use crate::past::Past;
use crate::place::{Clock, Tree};
use crate::replay;
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
    "/asked",
    "/asked/a",
    "/asked/new",
    "/web/below",
    "/work/.ignore",
    "/.ignore",
    "/FIXED/a",
    "/Fixed/New",
    "/SECRET/key",
    "/Secret/New",
    "/work/D/KEY",
    "/Memories/m",
    "/WEB/page",
    "/Asked/a",
];

/// What no caller can name.
const OWN: &[&str] = &[
    "/.kitbag",
    "/.kitbag/turns/journal",
    "//.kitbag/./turns/journal",
    "/web/.kitbag/turns/journal",
    "/work/d/.kitbag/index-0/manifest.bin",
    "/.kitbag/history/log",
];

const PATTERNS: &[&str] = &["planted", "secret", "milk", "e", "Title"];

/// What was made and can be used by both.
#[derive(Default)]
struct Made {
    receipts: Vec<Receipt>,
    pins: Vec<Rc<str>>,
    past: Past,
}

/// Runs one seed; says what must not have happened.
pub fn run(seed: u64) -> Option<String> {
    let clock = Clock::new(seed);
    simulated::set(Some(clock.clone()));
    let world = World::new(seed, clock);
    let wrong = all(&world).err();
    simulated::set(None);
    wrong.map(|why| format!("{why}\n  {:?}", world.place.layers))
}

fn all(world: &World) -> Result<(), String> {
    let mut made = Made::default();
    let traces = many::has_option("--trace");
    world.to_end(world.check())??;
    for call in 0..CALLS {
        world.done.take();
        let ran = one_of_all(world, &mut made);
        if traces {
            println!("{call}: {}", world.done.borrow().join(", "));
            let (at, dir) = world.place.room_at("labels");
            let book = dir.join("labels.tsv").expect("a path");
            if let Ok(Ok(book)) = world.to_end(at.fetch(&book)) {
                println!("  labels: {}", text(&book));
            }
        }
        let ran = ran.and_then(|()| world.to_end(world.check())?);
        ran.map_err(|why| {
            let done = world.done.borrow().join(", ");
            format!("call {call} ({done}): {why}")
        })?;
    }
    // It takes as long as the rest of a seed, and a fourth of the seeds finds what stops.
    match world.roll(4) {
        0 => goes_on(world),
        _ => Ok(()),
    }
}

/// A call of an agent or of somebody else. Sometimes its process ends in the midst of it.
fn one_of_all(world: &World, made: &mut Made) -> Result<(), String> {
    let layers = world.place.layers;
    if (layers.crashes || layers.gives_up) && world.roll(5) == 0 {
        world.crash.set(Some(world.roll(80)));
    }
    if layers.is_past && layers.has_journal && layers.tree == Tree::Single && world.roll(12) == 0 {
        let agent = world.agents.borrow()[world.roll(2)].clone();
        replay::act(world, &begin(&agent))?;
        let done = world.to_end(begin(&world.fresh()).commit())?;
        return outcome(world, &agent, done, made);
    }
    let ran = match world.roll(6) {
        0 => world.run(janitor(world, &world.fresh(), made))?,
        1 if layers.is_past => {
            world.crash.set(None);
            world.run(made.past.act(world))?
        }
        _ => {
            let agent = world.agents.borrow()[world.roll(2)].clone();
            world.run(step(world, &agent, made))?
        }
    };
    world.crash.set(None);
    match ran {
        Some(answer) => answer,
        None => {
            if layers.is_past && world.roll(2) == 0 {
                world.to_end(made.past.look_at(world, "turns"))?;
            }
            if layers.crashes && (!layers.gives_up || world.roll(2) == 0) {
                world.note("its process ended");
                world.restart();
            } else {
                world.note("it was given up");
            }
            world.may_be_late();
            if world.roll(2) == 0 {
                world.to_end(newest_shown(world, &world.fresh()))??;
            }
            let agent = world.fresh();
            let turn = begin(&agent);
            // Whoever comes next finishes what was broken off.
            let done = world.to_end(turn.commit())?;
            outcome(world, &agent, done, made)
        }
    }
}

fn a_path(world: &World) -> VPath {
    match world.place.layers.has_journal && world.roll(3) == 0 {
        true => path(world.pick(&["/asked/new", "/asked/a", "/asked", "/fixed/a"])),
        false => path(world.pick(PATHS)),
    }
}

fn a_text(world: &World, agent: &Agent) -> String {
    let known = agent.known.borrow().clone();
    world.pick(&known)
}

/// What an answer shows, errors too.
fn shown<T>(answer: &Answered<T>, of: impl FnOnce(&T) -> String) -> String {
    match answer {
        Ok(answer) => of(answer),
        // An error may tell the program where it keeps something.
        Err(error) => error.to_string().replace(".kitbag", "kept"),
    }
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// One call of files.
async fn one(world: &World, agent: &Agent, files: &dyn Backend) -> Result<(), String> {
    if world.roll(20) == 0 {
        let text = world.pick(OWN);
        if VPath::parse(text).is_ok() {
            return Err(format!("it can name {text}"));
        }
    }
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
            let query = GlobQuery::new("**", at);
            shown(&files.glob(&query).await, |found| {
                format!("{:?}", found.files)
            })
        }
        5 => shown(&files.ls(&at).await, |found| format!("{found:?}")),
        6 => {
            let content = Content::Raw(bytes(&a_text(world, agent)), None);
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
            let text = a_text(world, agent);
            if world.roll(2) == 0 {
                let half = text.len() / 2;
                let half = (half..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                let (begin, end) = text.split_at(half);
                let file = OfParts(Ready::of(&[begin, end], u64::MAX));
                shown(&files.stream(&at, &file).await, |()| String::new())
            } else {
                let answers = files.upload(vec![(at, bytes(&text))]).await;
                answers
                    .iter()
                    .map(|one| shown(one, |()| String::new()))
                    .collect()
            }
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
        world.note("commit");
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
        Err(error) => world.told(agent, &error.to_string().replace(".kitbag", "kept"))?,
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
    world.note("in a new conversation");
    match world.roll(5) {
        4 => {
            world.note("update of the indexes");
            world.update_indexes().await;
            Ok(())
        }
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

/// Shows what the newest change of the history would have made. It may have been broken off after its note,
/// and before anything else knew of its content.
async fn newest_shown(world: &World, agent: &Agent) -> Result<(), String> {
    let Some(history) = &agent.history else {
        return Ok(());
    };
    let Ok(notes) = history.log(&VPath::root(), 2).await else {
        return Ok(());
    };
    let after = |at: usize| Some(Moment::After(notes.get(at)?.id.clone()));
    let Some(newest) = after(0) else {
        return Ok(());
    };
    world.note("the newest change is shown");
    let before = after(1).unwrap_or(Moment::At(0));
    world.told(agent, &compared(&history.diff(&before, &newest).await))
}

/// What a diff of a history shows.
fn compared(diff: &Answered<Vec<Compared>>) -> String {
    shown(diff, |files| {
        let named = |body: &Option<_>| body.as_deref().map(text);
        let one = |file: &Compared| {
            let (before, after) = (named(&file.before), named(&file.after));
            format!("{}: {before:?} to {after:?}\n", file.path)
        };
        files.iter().map(one).collect()
    })
}

/// Records of another key, which somebody may have planted, stop nobody for longer than they may.
fn goes_on(world: &World) -> Result<(), String> {
    let agent = || world.fresh();
    for what in ["prune", "s", "t", "trust"] {
        if what == "trust" {
            world.to_end(world.check())??;
        }
        let tried = || {
            world.to_end(async {
                let agent = agent();
                match (what, &agent.conversation, &agent.history) {
                    ("trust", Some(labels), _) => labels.trust(&VPath::root()).await,
                    ("prune", _, Some(history)) => history.prune().await.map(drop),
                    ("s" | "t", ..) => {
                        let turn = kept_turn(world, &agent, what);
                        turn.ls(&VPath::root()).await.map(drop)
                    }
                    _ => Ok(()),
                }
            })
        };
        let stopped = |answer: &Answered<()>| {
            let error = answer.as_ref().err().map(ToString::to_string);
            error.filter(|error| error.contains("Give keepIn"))
        };
        // The labels of what is kept are in a room of their own, whose time passes first.
        for rooms in 0.. {
            let Some(error) = stopped(&tried()?) else {
                break;
            };
            if rooms == 2 {
                return Err(format!("{what} is stopped for good: {error}"));
            }
            world.clock.micros.set(world.clock.micros.get() + WAIT);
        }
    }
    Ok(())
}

/// One of the turns that all agents go on with.
fn resumed(world: &World, agent: &Agent) -> Turn {
    world.note("kept turn");
    kept_turn(world, agent, world.pick(&["s", "t"]))
}

fn kept_turn(world: &World, agent: &Agent, name: &str) -> Turn {
    let turn = begin(agent);
    let room = world.place.room("kept");
    let kept = turn.capability().origins.kept(room.at().clone());
    let room = Room::new(kept, room.dir().clone(), room.key().cloned());
    turn.keep_in(room, name);
    turn
}

/// A question to the history, or a restore.
async fn asked(world: &World, agent: &Agent, made: &mut Made) -> Result<(), String> {
    let Some(history) = &agent.history else {
        return Ok(());
    };
    // A room without a key is refused if there is a record with one, which may be planted.
    let Ok(notes) = history.log(&VPath::root(), 100).await else {
        return Ok(());
    };
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
            compared(&diff)
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
