//! One history: two or three trees, people in all of them, runs that end anywhere or overlap, and lost
//! answers. In the end everything converges, every mark that nobody took away is in every tree, no conflict
//! copy is there twice, and what is deleted in a quiet time is gone. At no time is a content in a tree without
//! the label that it was written with, or a file that rules hide in another tree.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;
use kitbag::core::error::Result;
use kitbag::core::path::VPath;
use kitbag::env::simulated;
use kitbag::files::stepping::ended;
use kitbag::layer::provenance::Provenance;
use kitbag::layer::sync::{Pair, Sync, SyncOptions, Synced, renew_process};
use kitbag::protocol::{BackendExt, SharedBackend, files_beneath};
use kitbag::side::Room;
use kitbag_simulation::rng::Rng;

use crate::clocks::{Clock, Clocked};
use crate::labels::{conversation, labelled, unlabelled};
use crate::people::{Marks, act, marks_in, read};
use crate::place::{Line, Machine, World, tree};
use crate::ranged::{Ranged, Uploads};
use crate::rules::{hiding, shown};

/// The most rounds in which everything must have converged.
const ROUNDS: usize = 12;

type Wrong = std::result::Result<(), String>;

/// Two trees that are synced, by the numbers of their trees.
struct Link {
    a: usize,
    b: usize,
    /// The tree in which the pair keeps what was agreed, and under which name.
    keeps: usize,
    dir: String,
}

struct History {
    world: World,
    marks: Marks,
    trees: Vec<SharedBackend>,
    /// Which of them has rules that hide a file, and how it is behind them.
    hides: Option<(usize, SharedBackend)>,
    /// What their clocks say.
    clocks: Vec<Clock>,
    /// The same trees, if they have labels.
    labelled: Vec<Rc<Provenance>>,
    /// Above so many bytes files are synced in ranges of that size; `None` if the trees have none.
    range: Option<u64>,
    /// The uploads of each tree.
    uploads: Vec<Rc<Uploads>>,
    links: Vec<Link>,
    compare: bool,
    /// Whether two runs of a pair were there at once.
    overlaps: Cell<bool>,
}

impl History {
    /// A tree as people and syncs see it.
    fn seen(&self, tree: usize) -> &SharedBackend {
        match &self.hides {
            Some((hides, behind)) if *hides == tree => behind,
            _ => &self.trees[tree],
        }
    }

    fn sync(&self, link: &Link, loses: bool) -> Sync {
        let line = |tree: usize, seen: &SharedBackend| -> SharedBackend {
            let fuse = loses.then(|| (self.world.roll(10), self.world.roll(2) == 0));
            let inner = Rc::new(Clocked {
                tree: seen.clone(),
                clock: self.clocks[tree],
            });
            Rc::new(Line {
                tree: match self.range {
                    Some(_) => Rc::new(Ranged {
                        tree: inner,
                        uploads: self.uploads[tree].clone(),
                    }),
                    None => inner,
                },
                fuse: Cell::new(fuse.filter(|_| self.world.roll(2) == 0)),
                slow: match self.world.roll(3) {
                    0 => (self.world.roll(40), self.world.roll(40)),
                    _ => (0, 0),
                },
            })
        };
        let room = Room::new(
            line(link.keeps, &self.trees[link.keeps]),
            VPath::own(&link.dir).expect("a path of the library"),
            None,
        );
        let options = SyncOptions {
            names: Pair {
                a: format!("t{}", link.a).into(),
                b: format!("t{}", link.b).into(),
            },
            allow_empty: true,
            by_content: self.compare,
            range: self.range,
            ..SyncOptions::default()
        };
        let [a, b] = [link.a, link.b].map(|tree| line(tree, self.seen(tree)));
        Sync::new(a, b, room, options).expect("a sync")
    }

    async fn client(&self, tree: usize) {
        for _ in 0..1 + self.world.roll(4) {
            let (at, is_outside) = match self.labelled.get(tree) {
                Some(labelled) => conversation(labelled, &self.world),
                None => (self.seen(tree).clone(), false),
            };
            act(&at, &self.world, &self.marks, is_outside).await;
        }
    }

    async fn machine(&self, link: usize, loses: bool) {
        // What it says of its failures is not looked at: it may be broken off.
        let _ = self.sync(&self.links[link], loses).run().await;
    }

    /// Runs some at the same time; some of them end before they are done.
    fn together(&self, tasks: Vec<(LocalBoxFuture<'_, ()>, bool)>) -> Wrong {
        let world = &self.world;
        let mut tasks: Vec<_> = tasks
            .into_iter()
            .map(|(future, may_end)| {
                let end = (may_end && world.roll(2) == 0).then(|| world.roll(120));
                (Some(future), end)
            })
            .collect();
        let mut steps = 0;
        while tasks.iter().any(|(future, _)| future.is_some()) {
            steps += 1;
            if steps > 400_000 {
                return Err("it does not end".into());
            }
            if world.roll(50) == 0 {
                world.pass([1, 400_000, 1_500_000, 70_000_000][world.roll(4)]);
            }
            let at = world.roll(tasks.len());
            let (future, end) = &mut tasks[at];
            let Some(running) = future else { continue };
            let is_over = end.is_some_and(|left| left == 0);
            *end = end.map(|left| left.saturating_sub(1));
            if is_over {
                *future = None;
                // Of a process that was killed nobody knows that it ended.
                if world.roll(2) == 0 {
                    renew_process();
                }
                continue;
            }
            let context = &mut Context::from_waker(Waker::noop());
            if running.as_mut().poll(context) == Poll::Ready(()) {
                *future = None;
            }
        }
        Ok(())
    }

    fn busy(&self) -> Wrong {
        let mut tasks: Vec<(LocalBoxFuture<'_, ()>, bool)> = Vec::new();
        for tree in 0..self.trees.len() {
            tasks.push((Box::pin(self.client(tree)), false));
        }
        for link in 0..self.links.len() {
            let runs = 1 + self.world.roll(2);
            self.overlaps.set(self.overlaps.get() || runs > 1);
            for _ in 0..runs {
                let loses = self.world.roll(3) == 0;
                tasks.push((Box::pin(self.machine(link, loses)), true));
            }
        }
        self.together(tasks)?;
        self.check_secrets()
    }

    /// What must be true at any time.
    fn check_secrets(&self) -> Wrong {
        if let Some((hides, _)) = self.hides
            && let Some(wrong) = shown(&self.trees, hides)
        {
            return Err(wrong);
        }
        let outside = self.marks.outside.borrow();
        for tree in &self.labelled {
            if let Some(file) = unlabelled(tree, |mark| outside.contains(mark)) {
                return Err(format!("a file has lost its label: {file}"));
            }
        }
        Ok(())
    }

    fn contents(&self, tree: usize) -> BTreeMap<String, String> {
        let at = self.seen(tree);
        ended(async {
            let mut all = BTreeMap::new();
            for info in files_beneath(&**at, &VPath::root()).await.expect("listed") {
                if let Some(text) = read(at, &info.path).await {
                    all.insert(info.path.as_str().to_owned(), text);
                }
            }
            all
        })
        .expect("it ends")
    }

    /// Syncs until nothing is left to do.
    fn converge(&self, crashes: bool) -> std::result::Result<BTreeMap<String, String>, String> {
        for round in 0..ROUNDS {
            self.world.pass(20_000_000);
            if crashes && round < 3 {
                let links = 0..self.links.len();
                let tasks = links.map(|link| -> (LocalBoxFuture<'_, ()>, bool) {
                    (Box::pin(self.machine(link, self.world.roll(3) == 0)), true)
                });
                self.together(tasks.collect())?;
                self.check_secrets()?;
                continue;
            }
            let mut changed = 0;
            for link in &self.links {
                let synced: Result<Synced> = ended(self.sync(link, false).run()).expect("it ends");
                let synced = synced.map_err(|error| format!("a run failed: {error:?}"))?;
                if let Some(refusal) = synced.refused.first() {
                    return Err(format!("refused in a quiet time: {refusal:?}"));
                }
                changed += synced.changed.len() + synced.conflicts.len();
            }
            let first = self.contents(0);
            let is_same = (1..self.trees.len()).all(|tree| self.contents(tree) == first);
            if changed == 0 && !is_same {
                return Err("nothing is left to do, and the trees differ".into());
            }
            if changed == 0 {
                return Ok(first);
            }
        }
        Err("it does not converge".into())
    }

    /// What must be true of all trees.
    fn check(&self, files: &BTreeMap<String, String>) -> Wrong {
        self.check_secrets()?;
        for mark in self.marks.live.borrow().iter() {
            if !files.values().any(|text| text.contains(mark)) {
                return Err(format!("the edit {mark} is lost: {files:#?}"));
            }
        }
        let mut copies: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for (name, text) in files
            .iter()
            .filter(|(name, _)| name.contains("(conflict of "))
        {
            // Two runs that took each other for ended can each settle the same conflict.
            if self.overlaps.get() || self.marks.moved.borrow().contains(text) {
                continue;
            }
            // Two trees can have had the same content, and each makes a copy of its own.
            let side = name
                .split_once("(conflict of ")
                .map_or("", |(_, rest)| rest);
            let side = side.split_once(',').map_or(side, |(side, _)| side);
            if let Some(other) = copies.insert((text, side), name) {
                return Err(format!("'{name}' and '{other}' hold the same: {files:#?}"));
            }
        }
        Ok(())
    }

    /// One person deletes or moves a file while nobody else does anything; runs may end anywhere.
    fn quiet(&self, files: &BTreeMap<String, String>) -> Wrong {
        let world = &self.world;
        let names: Vec<&String> = files.keys().collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = names[world.roll(names.len())];
        let file = VPath::parse(name).expect("a path");
        let at = self.seen(world.roll(self.trees.len()));
        world.pass([1_000_000, 90_000_000][world.roll(2)]);
        ended(at.delete(&file, None))
            .expect("it ends")
            .expect("deleted");
        self.marks.acknowledged(&files[name], "");
        for mark in marks_in(&files[name]) {
            // It may be in another file as well.
            if files
                .iter()
                .any(|(other, text)| other != name && text.contains(&mark))
            {
                self.marks.live.borrow_mut().insert(mark);
            }
        }
        let after = self.converge(true)?;
        match after.get(name) {
            Some(_) => Err(format!("'{name}' was deleted, and is there again")),
            None => self.check(&after),
        }
    }
}

/// One history; fails with what contradicts it.
pub fn run(seed: u64) -> Wrong {
    let world = World::new(seed);
    let machine = Machine {
        micros: world.micros.clone(),
        rng: RefCell::new(Rng::new(!seed)),
    };
    simulated::set(Some(Rc::new(machine)));
    let wrong = history(world);
    simulated::set(None);
    wrong
}

fn history(world: World) -> Wrong {
    let count = 2 + world.roll(2);
    let links = (0..count - 1)
        .map(|a| {
            let b = count - 1;
            Link {
                a,
                b,
                keeps: [a, b][world.roll(2)],
                dir: format!("/.kitbag/sync/{a}"),
            }
        })
        .collect();
    let inner = (0..count).map(|_| tree());
    let (labelled, trees): (Vec<Rc<Provenance>>, Vec<SharedBackend>) = match world.roll(2) == 0 {
        false => (Vec::new(), inner.collect()),
        true => inner
            .map(|inner| {
                let tree = labelled(inner, &world);
                (tree.clone(), tree as SharedBackend)
            })
            .unzip(),
    };
    let hides = (labelled.is_empty() && world.roll(3) == 0).then(|| {
        let tree = world.roll(count);
        (tree, hiding(&trees[tree]))
    });
    let history = History {
        clocks: (0..count).map(|_| Clock::any(&world)).collect(),
        hides,
        compare: world.roll(4) == 0,
        range: [None, None, Some(16), Some(50)][world.roll(4)],
        uploads: (0..count).map(|_| Rc::default()).collect(),
        overlaps: Cell::new(false),
        marks: Marks::default(),
        trees,
        labelled,
        links,
        world,
    };
    for _ in 0..1 + history.world.roll(3) {
        history.busy()?;
        if history.world.roll(3) == 0 {
            history.converge(false)?;
        }
    }
    let files = history.converge(history.world.roll(2) == 0)?;
    history.check(&files)?;
    history.quiet(&files)
}
