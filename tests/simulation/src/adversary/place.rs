//! What outlives a process: the disks of a seed, the rooms of what layers keep, and which layers the
//! program puts over the files, with which rules.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::env::simulated::Host;
use kitbag::files::stepping::pause;
use kitbag::layer::composite::Composite;
use kitbag::layer::policy::{Asking, Mode, Policy, Question, Rule, Rules, Touch, stack};
use kitbag::protocol::SharedBackend;
use kitbag::side::{Key, Room};
use kitbag_simulation::rng::Rng;

use crate::disk::{Disk, Kind};
use crate::world::path;

/// The clock and the random numbers of a seed.
pub struct Clock {
    pub micros: Rc<Cell<i64>>,
    rng: RefCell<Rng>,
}

impl Clock {
    pub fn new(seed: u64) -> Rc<Clock> {
        Rc::new(Clock {
            micros: Rc::new(Cell::new(1_000_000_000_000_000)),
            rng: RefCell::new(Rng::new(seed)),
        })
    }
}

impl Host for Clock {
    fn now(&self) -> Time {
        Time::from_micros(self.micros.get())
    }

    fn sleep(&self, wait: Duration) -> LocalBoxFuture<'static, ()> {
        let micros = self.micros.clone();
        let until = micros.get() + wait.as_micros() as i64;
        Box::pin(async move {
            pause().await;
            while micros.get() < until {
                pause().await;
            }
        })
    }

    fn unit(&self) -> f64 {
        self.rng.borrow_mut().unit()
    }
}

/// How the files are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// One disk.
    Single,
    /// Mounts with a file below one of them.
    Mounts,
    /// A mount in a mount.
    Nested,
    /// Rules inside mounts, and others outside.
    RulesInside,
}

/// Which layers there are, from below.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    pub tree: Tree,
    pub kind: Kind,
    pub index_below: bool,
    pub policy_outside: bool,
    pub has_labels: bool,
    /// Whether labels are kept in a file.
    pub keeps_labels: bool,
    pub ignores: bool,
    pub index_above: bool,
    pub has_history: bool,
    /// Whether somebody writes to the rooms past kitbag.
    pub is_past: bool,
    /// Whether the rooms have a key.
    pub has_key: bool,
    /// Whether rooms are on the disk of the files.
    pub inside: bool,
    /// Whether commits have a journal.
    pub has_journal: bool,
    /// Whether calls are given up in the midst.
    pub gives_up: bool,
    /// Whether processes end in the midst of calls.
    pub crashes: bool,
}

impl Layers {
    pub fn roll(dice: &mut crate::world::Dice) -> Layers {
        // A commit has a journal where nothing notes or labels each change by itself.
        let has_journal = dice.roll(3) == 0;
        let mut half = || dice.roll(2) == 0;
        let steps = has_journal || half();
        let folds = half() && half();
        let versions = steps || folds;
        let has_labels = !has_journal && (half() || half());
        let is_past = half();
        let keeps_labels = has_labels && half();
        let mut layers = Layers {
            kind: Kind { steps, folds },
            index_below: versions && half() && half(),
            policy_outside: half(),
            has_labels,
            keeps_labels,
            ignores: half() && half(),
            index_above: versions && half() && half(),
            has_history: !has_journal && (half() || half()),
            is_past,
            has_key: half(),
            inside: half(),
            has_journal,
            gives_up: steps && half(),
            crashes: steps && (keeps_labels || !has_labels) && half(),
            tree: Tree::Single,
        };
        // Who writes past kitbag where there is no key can take labels away, as the documents say.
        layers.has_key |= is_past && has_labels;
        layers.tree = match dice.roll(6) {
            0 => Tree::Mounts,
            1 => Tree::Nested,
            2 => Tree::RulesInside,
            _ => Tree::Single,
        };
        layers
    }
}

/// What outlives a process.
pub struct Place {
    pub layers: Layers,
    pub disks: [Disk; 3],
    /// For rooms that are elsewhere.
    elsewhere: Disk,
    /// How often somebody was asked, and what they answer.
    pub asked: Rc<Cell<usize>>,
    answers: Rc<RefCell<Rng>>,
}

/// The rooms by their names.
pub const ROOMS: &[&str] = &["turns", "kept", "history", "labels", "index-0", "index-1"];

impl Place {
    pub fn new(seed: u64, layers: Layers) -> Place {
        let disk = || Disk::new(layers.kind);
        Place {
            layers,
            disks: [disk(), disk(), disk()],
            elsewhere: disk(),
            asked: Rc::default(),
            answers: Rc::new(RefCell::new(Rng::new(seed ^ 0x5eed))),
        }
    }

    /// The backend and the directory of a room.
    pub fn room_at(&self, name: &str) -> (SharedBackend, VPath) {
        let own = VPath::own(&format!("/.kitbag/{name}")).expect("a path");
        match self.layers.inside || name == "turns" {
            true => (self.disks[0].files(), own),
            false => (self.elsewhere.files(), path(&format!("/{name}"))),
        }
    }

    pub fn room(&self, name: &str) -> Room {
        let (at, dir) = self.room_at(name);
        let key = Key::of(b"the key of the program").expect("a key");
        Room::new(at, dir, self.layers.has_key.then_some(key))
    }

    /// The files without any rule.
    pub fn raw(&self) -> SharedBackend {
        let [first, second, third] = self.disks.each_ref().map(Disk::files);
        self.tree(first, second, third)
    }

    /// The files with the rules inside of mounts.
    pub fn ruled(&self) -> SharedBackend {
        let [first, mut second, mut third] = self.disks.each_ref().map(Disk::files);
        if self.layers.tree == Tree::RulesInside {
            let rules = |paths: &[&str]| Policy {
                permissions: Some(Rules::new(vec![hiding(paths)], true)),
                ..Policy::default()
            };
            second = stack(second, rules(&["/**"])).expect("a policy");
            let read_only = Policy {
                deny_prefixes: vec![VPath::root()],
                ..Policy::default()
            };
            third = stack(third, read_only).expect("a policy");
        }
        self.tree(first, second, third)
    }

    fn tree(
        &self,
        first: SharedBackend,
        second: SharedBackend,
        third: SharedBackend,
    ) -> SharedBackend {
        let over = |default, mounts: Vec<(&str, SharedBackend)>| -> SharedBackend {
            let mounts = mounts.into_iter().map(|(at, backend)| (path(at), backend));
            Rc::new(Composite::new(default, mounts).expect("a router"))
        };
        match self.layers.tree {
            Tree::Single => first,
            Tree::Mounts => over(first, vec![("/web", second), ("/memories", third)]),
            Tree::Nested => {
                let inner = over(second, vec![("/d", third)]);
                over(first, vec![("/work", inner)])
            }
            Tree::RulesInside => over(first, vec![("/secret", second), ("/fixed", third)]),
        }
    }

    /// The rules outside.
    pub fn rules(&self) -> Policy {
        let hidden = match self.layers.tree {
            Tree::RulesInside => hiding(&["/work/d/key"]),
            _ => hiding(&["/secret/**", "/work/d/key"]),
        };
        let asks = Rule::new(&[Touch::Write], Mode::Ask, ["/asked/**"]).expect("a rule");
        let fixed = self.layers.tree != Tree::RulesInside;
        let (asked, answers) = (self.asked.clone(), self.answers.clone());
        let on_ask = move |_: Question| -> LocalBoxFuture<'static, _> {
            let yes = answers.borrow_mut().chance(500);
            asked.set(asked.get() + usize::from(yes));
            Box::pin(std::future::ready(Ok(yes)))
        };
        Policy {
            deny_prefixes: fixed.then(|| path("/fixed")).into_iter().collect(),
            permissions: Some(Rules::new(vec![hidden, asks], true)),
            ask: Some(Asking {
                on_ask: Rc::new(on_ask),
                timeout: Duration::from_secs(60),
            }),
            ..Policy::default()
        }
    }
}

fn hiding(paths: &[&str]) -> Rule {
    let both = [Touch::Read, Touch::Write];
    Rule::new(&both, Mode::Deny, paths.iter().copied()).expect("a rule")
}
