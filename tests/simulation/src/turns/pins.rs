//! Random histories of pins: clients change files through histories in one place, pin them, let pins go
//! and prune, step by step among each other, and one may end at any step but those of pruning. Every pin that is kept must be
//! whole; and if nothing was changed meanwhile, it is the tree that was there.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;
use kitbag::core::time::Time;
use kitbag::files::stepping::{pause, stepping};
use kitbag::files::{Files, FilesOptions};
use kitbag::layer::history::{Author, History, HistoryOptions, Retention, Who};
use kitbag::protocol::{Backend, BackendExt, GlobQuery, SharedBackend};
use kitbag::side::Room;
use kitbag::storage::pinned::Pinned;

use crate::model::{Dice, FILES, drive, fetch, path, put_later};

/// Files with their contents.
type Tree = BTreeMap<String, Option<String>>;

struct Model {
    /// Changes that run, and how many there were.
    running: Cell<usize>,
    changes: Cell<usize>,
    /// What is kept, and the tree where that is known.
    pins: RefCell<BTreeMap<Rc<str>, Option<Tree>>>,
    /// Pins that somebody is letting go, or ended while doing so.
    leaving: RefCell<Vec<Rc<str>>>,
    /// How often each was let go.
    left: RefCell<BTreeMap<Rc<str>, usize>>,
    dice: RefCell<Dice>,
}

impl Model {
    fn roll(&self, sides: usize) -> usize {
        self.dice.borrow_mut().roll(sides)
    }
}

fn history(base: &SharedBackend, kept: &SharedBackend) -> History {
    let who: Who = Rc::new(|| Ok(Author::default()));
    let keep = Retention {
        count: Some(0),
        ..Retention::default()
    };
    let options = HistoryOptions {
        overwrite: true,
        keep,
    };
    let room = Room::new(kept.clone(), path("/history"), None);
    History::new(base.clone(), room, who, options)
}

async fn tree(backend: &dyn Backend) -> Result<Tree, String> {
    let all = GlobQuery::new("**", path("/"));
    let found = backend
        .glob(&all)
        .await
        .map_err(|error| error.to_string())?;
    let mut tree = Tree::new();
    for info in found.files {
        let name = info.path.as_str().to_owned();
        let text = fetch(backend, &name).await;
        tree.insert(name, text);
    }
    Ok(tree)
}

async fn at(world: &History, pin: &str) -> Result<Tree, String> {
    let (objects, root) = world.objects(pin).map_err(|error| error.to_string())?;
    let pinned = Pinned::new(objects, root, Time::from_millis(0.0));
    tree(&Files::new(pinned, FilesOptions::default())).await
}

async fn client(
    base: &SharedBackend,
    kept: &SharedBackend,
    model: &Model,
    is_pruning: &Cell<bool>,
) {
    let mut world = history(base, kept);
    for _ in 0..4 + model.roll(8) {
        pause().await;
        match model.roll(8) {
            0..=2 => {
                let file = FILES[model.roll(FILES.len())];
                let text = format!("{}\n", model.roll(4));
                model.running.set(model.running.get() + 1);
                match model.roll(3) {
                    0 => drop(world.delete(&path(file), None).await),
                    _ => put_later(&world, file, &text).await,
                }
                model.running.set(model.running.get() - 1);
                model.changes.set(model.changes.get() + 1);
            }
            3 | 4 => {
                let before = (model.running.get() == 0).then(|| model.changes.get());
                let left = model.left.borrow().clone();
                let Ok(pin) = world.pin().await else { continue };
                // If somebody let it go meanwhile, it may be gone.
                if model.left.borrow().get(&pin.name) != left.get(&pin.name) {
                    continue;
                }
                model.pins.borrow_mut().insert(pin.name.clone(), None);
                let now = tree(&**base).await.ok();
                let is_quiet = before == Some(model.changes.get()) && model.running.get() == 0;
                // Somebody may have let it go by now.
                if let Some(kept) = model.pins.borrow_mut().get_mut(&pin.name) {
                    *kept = now.filter(|_| is_quiet);
                }
            }
            5 => {
                let pin = model.pins.borrow().keys().next().cloned();
                if let Some(pin) = pin {
                    // From here on it may be gone.
                    model.leaving.borrow_mut().push(pin.clone());
                    let _ = world.unpin(&pin).await;
                    model.pins.borrow_mut().remove(&pin);
                    *model.left.borrow_mut().entry(pin.clone()).or_default() += 1;
                    let mut leaving = model.leaving.borrow_mut();
                    let at = leaving.iter().position(|other| *other == pin);
                    leaving.remove(at.expect("it is there"));
                }
            }
            6 => {
                is_pruning.set(true);
                let _ = world.prune().await;
                is_pruning.set(false);
            }
            // Another object: it knows nothing of the last pin.
            _ => world = history(base, kept),
        }
    }
}

/// One history; fails with what contradicts it.
pub fn run(seed: u64) -> Result<(), String> {
    let (base, kept) = (stepping(), stepping());
    let model = Model {
        running: Cell::new(0),
        changes: Cell::new(0),
        pins: RefCell::new(BTreeMap::new()),
        leaving: RefCell::new(Vec::new()),
        left: RefCell::new(BTreeMap::new()),
        dice: RefCell::new(Dice(seed)),
    };
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9));
    for file in FILES {
        drive(put_later(&*base, file, &format!("{}\n", dice.roll(4))));
    }
    let pruning = [Cell::new(false), Cell::new(false)];
    let begin = |is_pruning| -> Option<LocalBoxFuture<'_, ()>> {
        Some(Box::pin(client(&base, &kept, &model, is_pruning)))
    };
    let mut running: Vec<_> = pruning.iter().map(begin).collect();
    let mut crash = (dice.roll(2) == 0).then(|| dice.roll(400));
    let mut steps = 0;
    while running.iter().any(Option::is_some) {
        steps += 1;
        let at = dice.roll(running.len());
        let Some(future) = &mut running[at] else {
            continue;
        };
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        // The client ends, wherever it is.
        let crashes = crash.is_some_and(|crash| steps >= crash && !pruning[at].get());
        if crashes {
            crash = None;
        }
        if polled == Poll::Ready(()) || crashes {
            running[at] = None;
        }
        if steps > 400_000 {
            return Err("it does not end".into());
        }
    }
    drop(running);
    let world = history(&base, &kept);
    drive(world.prune()).map_err(|error| format!("prune: {error}"))?;
    let leaving = model.leaving.take();
    for (pin, then) in model.pins.take() {
        if leaving.contains(&pin) {
            continue;
        }
        let found = drive(at(&world, &pin)).map_err(|error| format!("pin {pin}: {error}"))?;
        if found.values().any(Option::is_none) {
            return Err(format!("the pin {pin} lost contents: {found:#?}"));
        }
        if then.as_ref().is_some_and(|then| *then != found) {
            return Err(format!("the pin {pin} is {found:#?}\nand was {then:#?}"));
        }
    }
    Ok(())
}
