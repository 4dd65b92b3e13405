//! One history: phases in which everything happens at once, and after each a comparison with a listing.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, ready};
use kitbag::core::error::Kind;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::env::simulated::{self, Host};
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::layer::indexed::Indexed;
use kitbag::protocol::{
    Atomic, BackendExt, Edit, GlobQuery, GrepQuery, GrepResult, Replacement, SharedBackend,
    Transfer,
};
use kitbag::side::Room;
use kitbag_simulation::many::Wrong;
use kitbag_simulation::rng::Rng;

use crate::model::{Held, Model};
use crate::storage::Busy;

/// What contents have in them, so that an index tells them apart.
const WORDS: &[&str] = &["apple", "banjo", "cedar", "drums", "ember"];
const FILES: &[&str] = &[
    "/a.ts",
    "/b.ts",
    "/src/c.ts",
    "/src/d.ts",
    "/src/e/f.ts",
    "/lib/g.ts",
];
const TREES: &[&str] = &["/src", "/src/e", "/lib"];

struct Clock(Cell<i64>);

impl Host for Clock {
    fn now(&self) -> Time {
        Time::from_micros(self.0.get())
    }

    fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(ready(()))
    }

    fn unit(&self) -> f64 {
        // Numbers of files are random in the library, too.
        RNG.with_borrow_mut(Rng::unit)
    }
}

thread_local! {
    static RNG: RefCell<Rng> = RefCell::new(Rng::new(0));
}

fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

/// What a seed has.
struct World {
    storage: Busy,
    clock: Rc<Clock>,
    model: RefCell<Model>,
    rng: RefCell<Rng>,
    next: Cell<u64>,
    wrong: RefCell<Option<String>>,
    /// How many searches listed nothing.
    by_notes: Cell<u64>,
}

type Task = LocalBoxFuture<'static, ()>;

impl World {
    fn below(&self, sides: usize) -> usize {
        self.rng.borrow_mut().below(sides as u64) as usize
    }

    fn pick(&self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn plain(&self) -> SharedBackend {
        let options = FilesOptions {
            write_mode: WriteMode::Overwrite,
            ..FilesOptions::default()
        };
        Rc::new(Files::new(self.storage.clone(), options))
    }

    /// A process that uses the index.
    fn process(&self) -> Rc<Indexed> {
        let files = self.plain();
        let dir = VPath::own("/.kitbag/index").expect("a path of the library");
        let room = Room::new(files.clone(), dir, None);
        let index = Indexed::new(files, room).with_notes();
        // Half of the processes have small directories from the catalogue, too.
        if self.below(2) == 0 {
            index.glob_by_notes_from(0);
        }
        if self.below(2) == 0 {
            index.ls_by_notes_from(0);
        }
        Rc::new(index)
    }

    fn fail(&self, why: String) {
        self.wrong.borrow_mut().get_or_insert(why);
    }

    /// A new content.
    fn content(&self) -> (Held, Bytes) {
        let (word, number) = (self.below(WORDS.len()), self.next.get());
        self.next.set(number + 1);
        let text = format!("{} {number}\n", WORDS[word]);
        (Some((word, number)), text.into())
    }

    /// What a line of a file says.
    fn held(text: &str) -> Held {
        let (word, number) = text.trim_end().split_once(' ')?;
        let word = WORDS.iter().position(|one| *one == word)?;
        Some((word, number.parse().ok()?))
    }

    /// Records the end of a change: an error may leave it open.
    fn ended<T>(&self, begun: &[(&str, usize)], answer: &kitbag::core::error::Result<T>) {
        let was_made = match answer {
            Ok(_) => true,
            Err(error) if matches!(error.kind(), Kind::Unavailable | Kind::Conflict) => return,
            Err(_) => false,
        };
        for (path, number) in begun {
            self.model.borrow_mut().end(path, *number, was_made);
        }
    }
}

/// A change of files by a process.
fn change(world: &Rc<World>, by: &Rc<Indexed>) -> Task {
    let (world, by) = (world.clone(), by.clone());
    let kind = world.below(10);
    Box::pin(async move {
        let at = world.pick(FILES);
        match kind {
            0..=3 => {
                let (held, body) = world.content();
                let number = world.model.borrow_mut().begin(at, Some(held));
                let answer = by.store(&path(at), body).await;
                world.ended(&[(at, number)], &answer);
            }
            4 => {
                // What it replaces is not known here.
                let number = world.model.borrow_mut().begin(at, None);
                let edit = Edit {
                    old: Bytes::from_static(b"apple"),
                    new: Bytes::from_static(b"ember"),
                    replace_all: true,
                    whole: false,
                    appends: false,
                };
                let answer = by.edit(&path(at), &edit).await;
                world.ended(&[(at, number)], &answer);
            }
            5 => {
                let number = world.model.borrow_mut().begin(at, Some(None));
                let answer = by.delete(&path(at), None).await;
                // A directory may be there, or nothing.
                match answer {
                    Err(error) if error.kind() == Kind::NotFound => {
                        world.model.borrow_mut().end(at, number, false);
                    }
                    answer => world.ended(&[(at, number)], &answer),
                }
            }
            6 | 7 => {
                let tree = world.pick(TREES);
                let begun: Vec<(&str, usize)> = FILES
                    .iter()
                    .filter(|file| path(file).is_under(&path(tree)))
                    .map(|file| (*file, world.model.borrow_mut().begin(file, Some(None))))
                    .collect();
                let answer = by.delete(&path(tree), None).await;
                // Files that are made meanwhile may stay, so it is not known what each file holds.
                if answer.is_err() {
                    world.ended(&begun, &answer);
                }
            }
            _ => {
                let other = world.pick(FILES);
                if other == at {
                    return;
                }
                let (held, body) = world.content();
                let (also, more) = world.content();
                let before = by.download(&[path(at), path(other)]).await;
                let before: Vec<Option<Bytes>> = before.into_iter().map(Result::ok).collect();
                let files: Vec<Replacement> = [(at, body), (other, more)]
                    .into_iter()
                    .zip(before)
                    .map(|((at, after), before)| Replacement {
                        path: path(at),
                        before,
                        after: Some(after),
                        mode: None,
                    })
                    .collect();
                let begun = [(at, held), (other, also)].map(|(at, held)| {
                    let number = world.model.borrow_mut().begin(at, Some(held));
                    (at, number)
                });
                let answer = replaced(by.clone(), &files).await;
                match answer {
                    Some(Ok(false)) | None => {
                        for (at, number) in begun {
                            world.model.borrow_mut().end(at, number, false);
                        }
                    }
                    Some(answer) => world.ended(&begun, &answer),
                }
            }
        }
    })
}

/// Changes several files in one step, as a turn does; `None` if the backend does not.
fn replaced(
    at: SharedBackend,
    files: &[Replacement],
) -> LocalBoxFuture<'_, Option<kitbag::core::error::Result<bool>>> {
    Box::pin(async move {
        match at.atomic() {
            Atomic::Inner(inner) => replaced(inner, files).await,
            Atomic::Together(together) => Some(together.replace_at(files, None).await),
            _ => None,
        }
    })
}

fn query(world: &World) -> (usize, GrepQuery) {
    let word = world.below(WORDS.len());
    let query = GrepQuery {
        path: path(["/", "/", "/src", "/a.ts", "/lib"][world.below(5)]),
        glob: [None, None, Some("*.ts")][world.below(3)].map(Into::into),
        stats: true,
        ..GrepQuery::literal(WORDS[word])
    };
    (word, query)
}

/// A search by a process, compared with what it may find.
fn search(world: &Rc<World>, by: &Rc<Indexed>) -> Task {
    let (world, by) = (world.clone(), by.clone());
    Box::pin(async move {
        let (word, query) = query(&world);
        let begun = world.model.borrow_mut().tick();
        let Ok(found) = by.grep(&query).await else {
            return;
        };
        if found.stats.is_some_and(|stats| stats.by_notes) {
            world.by_notes.set(world.by_notes.get() + 1);
        }
        let mut lines: BTreeMap<String, Held> = BTreeMap::new();
        for line in found.matches.iter() {
            lines.insert(
                line.path.to_string(),
                World::held(&String::from_utf8_lossy(line.text)),
            );
        }
        for file in FILES {
            if !path(file).is_under(&query.path) {
                continue;
            }
            let seen = lines.get(*file).copied().flatten();
            let fits = |held: Held| match seen {
                Some(seen) => held == Some(seen),
                // Another word, or nothing.
                None => held.is_none_or(|(other, _)| other != word),
            };
            if !world.model.borrow().allows(file, begun, fits) {
                world.fail(format!("{query:?} found {seen:?} in {file}"));
            }
        }
    })
}

fn update(by: &Rc<Indexed>) -> Task {
    let by = by.clone();
    Box::pin(async move {
        let _ = by.update().await;
    })
}

/// Runs tasks in a random order; some are dropped, as if their process had ended.
fn together(world: &Rc<World>, mut tasks: Vec<Task>, drops: bool) {
    let mut context = Context::from_waker(Waker::noop());
    let mut left = 100_000;
    while !tasks.is_empty() && left > 0 {
        left -= 1;
        let at = world.below(tasks.len());
        let is_dropped = drops && world.below(400) == 0;
        if is_dropped || tasks[at].poll_unpin(&mut context).is_ready() {
            drop(tasks.swap_remove(at));
        }
        if world.below(300) == 0 {
            let passed = [1_000_000, 400_000_000, 4_000_000_000][world.below(3)];
            world.clock.0.set(world.clock.0.get() + passed);
        }
        world.clock.0.set(world.clock.0.get() + 1_000);
    }
    if left == 0 {
        world.fail("it does not end".into());
    }
}

fn alone<T: 'static>(world: &Rc<World>, work: impl Future<Output = T> + 'static) -> T {
    let out = Rc::new(RefCell::new(None));
    let inner = out.clone();
    together(
        world,
        vec![Box::pin(async move {
            let value = work.await;
            *inner.borrow_mut() = Some(value);
        })],
        false,
    );
    let value = out.borrow_mut().take();
    value.expect("it ended")
}

fn shown(found: kitbag::core::error::Result<GrepResult>) -> Result<Vec<String>, String> {
    let found = found.map_err(|error| error.to_string())?;
    let lines = found.matches.iter();
    let lines = lines.map(|line| format!("{}:{}:{:?}", line.path, line.line, line.text));
    Ok(lines.chain(found.truncated.then(|| "cut".into())).collect())
}

/// While nothing is under way, all answers are those of a listing.
fn compare(world: &Rc<World>, by: &Rc<Indexed>) {
    let plain = world.plain();
    for _ in 0..2 {
        let (_, mut query) = query(world);
        query.max_count = [None, Some(1), Some(2)][world.below(3)];
        let (own, at) = (query.clone(), by.clone());
        let lists = world.storage.0.lists.get();
        let found = alone(world, async move { at.grep(&own).await });
        if found
            .as_ref()
            .is_ok_and(|found| found.stats.is_some_and(|stats| stats.by_notes))
        {
            world.by_notes.set(world.by_notes.get() + 1);
            if world.storage.0.lists.get() > lists {
                world.fail(format!("{query:?} says that it listed nothing, and did"));
            }
        }
        let (own, at) = (query.clone(), plain.clone());
        let expected = shown(alone(world, async move { at.grep(&own).await }));
        let found = shown(found);
        if found != expected {
            world.fail(format!(
                "{query:?}: {found:?}, a listing finds {expected:?}"
            ));
        }
    }
    for dir in ["/", "/src"] {
        let ask = |at: SharedBackend| {
            alone(world, async move {
                let query = GlobQuery::new("**/*.ts", path(dir));
                let globbed = at.glob(&query).await.map(|found| found.files);
                (at.ls(&path(dir)).await.ok(), globbed.ok())
            })
        };
        let (found, expected) = (ask(by.clone()), ask(plain.clone()));
        if found != expected {
            world.fail(format!(
                "ls and glob of {dir}: {found:?}, a listing has {expected:?}"
            ));
        }
    }
}

/// Everything that the files hold now.
fn settle(world: &Rc<World>) {
    let plain = world.plain();
    for file in FILES {
        let at = plain.clone();
        let body = alone(world, async move { at.fetch(&path(file)).await });
        let held = body
            .ok()
            .and_then(|body| World::held(&String::from_utf8_lossy(&body)));
        world.model.borrow_mut().settle(file, held);
    }
}

/// The history of a seed.
pub fn run(seed: u64) -> Wrong {
    let mut rng = Rng::new(seed);
    RNG.set(Rng::new(!seed));
    let clock = Rc::new(Clock(Cell::new(1_800_000_000_000_000)));
    simulated::set(Some(clock.clone()));
    let world = Rc::new(World {
        storage: Busy::new(Rng::new(seed ^ 0x5eed), rng.below(2) == 0),
        clock,
        model: RefCell::default(),
        rng: RefCell::new(rng),
        next: Cell::new(1),
        wrong: RefCell::default(),
        by_notes: Cell::new(0),
    });
    let mut processes = [world.process(), world.process(), world.process()];
    let inner = world.storage.0.clone();
    for _ in 0..3 {
        if world.wrong.borrow().is_some() {
            break;
        }
        inner.waits.set(true);
        inner.fails.set([0, 0, 30, 100][world.below(4)]);
        let tasks = (0..4 + world.below(16))
            .map(|_| {
                let by = &processes[world.below(processes.len())];
                match world.below(10) {
                    0..=2 => change(&world, by),
                    3..=6 => search(&world, by),
                    _ => update(by),
                }
            })
            .collect();
        let drops = world.below(2) == 0;
        together(&world, tasks, drops);
        inner.waits.set(false);
        inner.fails.set(0);
        // A move of a directory, while nothing else is under way.
        if world.below(3) == 0 {
            let (from, to) = (world.pick(TREES), world.pick(TREES));
            let by = processes[0].clone();
            let _ = alone(&world, async move {
                let asked = Transfer {
                    from: path(from),
                    to: path(to),
                    keeps: false,
                    overwrite: false,
                };
                by.transfer(&asked).await
            });
        }
        settle(&world);
        for by in &processes {
            compare(&world, by);
        }
        if world.below(3) == 0 {
            processes[world.below(3)] = world.process();
        }
    }
    // In the end all notes are absorbed and deleted.
    for _ in 0..3 {
        world.clock.0.set(world.clock.0.get() + 8_000_000_000);
        let by = processes[0].clone();
        if let Err(error) = alone(&world, async move { by.update().await }) {
            world.fail(format!("an update failed: {error}"));
        }
    }
    compare(&world, &processes[0]);
    let (plain, before) = (world.plain(), world.by_notes.get());
    let notes = VPath::own("/.kitbag/index/notes").expect("a path of the library");
    let left = alone(&world, async move { plain.ls(&notes).await });
    let left: BTreeSet<String> = left
        .unwrap_or_default()
        .iter()
        .map(|info| info.shown_path())
        .collect();
    if !left.is_empty() {
        world.fail(format!("notes are left: {left:?}"));
    }
    let last = world.process();
    last.ls_by_notes_from(0);
    compare(&world, &last);
    if world.by_notes.get() < before + 2 {
        world.fail("a search with a whole index listed the files".into());
    }
    let levels = inner.levels.get();
    let listed = alone(&world, async move { last.ls(&VPath::root()).await });
    if listed.is_err() || inner.levels.get() > levels {
        world.fail("ls with a whole index listed the directory".into());
    }
    simulated::set(None);
    world.wrong.take()
}
