//! Random histories of several clients with turns, plain writes past them, crashes at every step, and
//! recovery; a checker looks for an order of the changes that explains all that was read and what
//! is there in the end.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use kitbag::core::path::VPath;
use kitbag::files::stepping::{Steps, pause, stepping_with};
use kitbag::files::{Files, FilesOptions};
use kitbag::layer::turn::{ChangeKind, Outcome, Overlays, Turn, TurnOptions, undo};
use kitbag::protocol::{Backend, BackendExt, Edit, SharedBackend};
use kitbag::storage::memory::Memory;

use crate::checker::{Change, End, Read, Tree, Write, explained, with_line};

/// What keeps the files of turns.
pub fn overlays() -> Overlays {
    Rc::new(|| Rc::new(Files::aside()))
}

fn begin(base: &SharedBackend) -> Turn {
    let options = TurnOptions::default();
    Turn::new(base.clone(), overlays(), "tests".into(), options)
}

pub fn path(text: &str) -> VPath {
    VPath::any(text).expect("a path")
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Numbers from a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

pub const FILES: &[&str] = &["/a", "/b", "/c"];

struct History {
    changes: RefCell<Vec<Change>>,
    clock: Cell<usize>,
    unique: Cell<usize>,
    dice: RefCell<Dice>,
}

impl History {
    fn roll(&self, sides: usize) -> usize {
        self.dice.borrow_mut().roll(sides)
    }

    fn unique(&self) -> String {
        self.unique.set(self.unique.get() + 1);
        format!("{}\n", self.unique.get())
    }

    fn text(&self) -> String {
        format!("{}m1\nm2\nm3\n{}", self.unique(), self.unique())
    }

    fn begin(
        &self,
        reads: Vec<Read>,
        writes: Vec<(&'static str, Write)>,
        undoes: Option<usize>,
    ) -> usize {
        let mut changes = self.changes.borrow_mut();
        changes.push(Change {
            began: self.clock.get(),
            ended: usize::MAX,
            end: End::Unknown,
            reads,
            writes,
            undoes,
        });
        changes.len() - 1
    }

    fn end(&self, at: usize) {
        let mut changes = self.changes.borrow_mut();
        changes[at].ended = self.clock.get();
        changes[at].end = End::Done;
    }

    /// It certainly did not happen.
    fn never(&self, at: usize) {
        let mut changes = self.changes.borrow_mut();
        changes[at].reads.clear();
        changes[at].writes.clear();
        changes[at].undoes = None;
        changes[at].end = End::Unknown;
    }
}

fn string(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub async fn fetch(backend: &dyn Backend, at: &str) -> Option<String> {
    let answer = backend.download(&[path(at)]).await.remove(0);
    answer.ok().map(|body| string(&body))
}

/// One turn of a client, from its first read to its commit, and sometimes to its undo.
async fn turn(base: &SharedBackend, history: &History) {
    let turn = begin(base);
    let mut reads: Vec<Read> = Vec::new();
    let mut writes: BTreeMap<&'static str, Write> = BTreeMap::new();
    if history.roll(6) == 0 {
        let infos = turn.ls(&VPath::root()).await.expect("listed");
        let names = FILES
            .iter()
            .copied()
            .filter(|file| infos.iter().any(|info| info.path.as_str() == *file));
        reads.push(Read::Names(names.collect()));
    }
    for _ in 0..1 + history.roll(4) {
        pause().await;
        let file = FILES[history.roll(FILES.len())];
        if writes.contains_key(file) {
            continue;
        }
        match history.roll(8) {
            0..=2 => {
                let seen = fetch(&turn, file).await;
                reads.push(Read::File(file, seen));
            }
            3 => {
                let text = history.text();
                put_later(&turn, file, &text).await;
                writes.insert(file, Write::Put(text));
            }
            4 => {
                if turn.delete(&path(file), None).await.is_ok() {
                    writes.insert(file, Write::Delete);
                }
            }
            _ => {
                let Some(seen) = fetch(&turn, file).await else {
                    reads.push(Read::File(file, None));
                    continue;
                };
                let first = history.roll(2) == 0;
                let line = history.unique();
                let change = Edit {
                    old: bytes(&seen),
                    new: bytes(&with_line(&seen, first, &line)),
                    replace_all: false,
                    whole: true,
                    appends: false,
                };
                if turn.edit(&path(file), &change).await.is_ok() {
                    writes.insert(file, Write::Line(first, line));
                }
                reads.push(Read::File(file, Some(seen)));
            }
        }
    }
    let mut list: Vec<_> = writes.clone().into_iter().collect();
    let mut at = history.begin(reads, list.clone(), None);
    let mut outcome = turn.commit().await;
    if matches!(outcome, Ok(Outcome::Conflict(_))) {
        history.never(at);
        pause().await;
        let rebased = turn.rebase(&[]).await.expect("rebased");
        for conflict in &rebased.conflicts {
            turn.discard(&[conflict.path.as_str().into()])
                .await
                .expect("discarded");
            list.retain(|(file, _)| *file != conflict.path.as_str());
        }
        // What the turn would change no longer is the same as below.
        let diff = turn.diff().await.expect("a diff");
        list.retain(|(file, _)| {
            diff.iter().any(|change| {
                let from = match &change.kind {
                    ChangeKind::Moved(from) => Some(from.as_str()),
                    _ => None,
                };
                change.path.as_str() == *file || from == Some(*file)
            })
        });
        pause().await;
        at = history.begin(Vec::new(), list, None);
        outcome = turn.commit().await;
    }
    let receipt = match outcome {
        Ok(Outcome::Done(receipt)) => receipt,
        Ok(Outcome::Conflict(_)) => return history.never(at),
        // A commit that paused for too long does not know.
        Err(_) => return,
    };
    history.end(at);
    if history.roll(3) > 0 {
        return;
    }
    for _ in 0..history.roll(6) {
        pause().await;
    }
    let back = history.begin(Vec::new(), Vec::new(), Some(at));
    match undo(base.clone(), &receipt, "tests".into(), overlays()).await {
        Ok(Outcome::Done(_)) => history.end(back),
        Ok(Outcome::Conflict(_)) => history.never(back),
        Err(_) => {}
    }
}

pub async fn put_later(backend: &dyn Backend, at: &str, text: &str) {
    let answers = backend.upload(vec![(path(at), bytes(text))]).await;
    for answer in answers {
        answer.expect("uploaded");
    }
}

/// A plain change past all turns.
async fn plain(base: &SharedBackend, history: &History) {
    let file = FILES[history.roll(FILES.len())];
    if history.roll(3) == 0 {
        let at = history.begin(Vec::new(), vec![(file, Write::Delete)], None);
        match base.delete(&path(file), None).await {
            Ok(_) => history.end(at),
            Err(_) => history.never(at),
        }
        return;
    }
    let text = history.text();
    let at = history.begin(Vec::new(), vec![(file, Write::Put(text.clone()))], None);
    put_later(&**base, file, &text).await;
    history.end(at);
}

async fn client(base: &SharedBackend, history: &History, turns: bool) {
    for _ in 0..1 + history.roll(2) {
        match turns {
            true => turn(base, history).await,
            false => plain(base, history).await,
        }
        pause().await;
    }
}

/// One history; fails with what contradicts it.
pub fn run(seed: u64) -> std::result::Result<(), String> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9));
    let kind = dice.roll(6);
    let steps = match kind {
        0..=2 => Some(Steps::Single),
        3 => Some(Steps::Together),
        4 => Some(Steps::Moments),
        _ => None,
    };
    let loses = (dice.roll(3) == 0).then(|| dice.roll(3));
    let base: SharedBackend = match steps {
        Some(steps) => stepping_with(steps, loses),
        None => Rc::new(Files::new(Memory::default(), FilesOptions::default())),
    };
    let history = History {
        changes: RefCell::new(Vec::new()),
        clock: Cell::new(0),
        unique: Cell::new(0),
        dice: RefCell::new(Dice(seed)),
    };
    let mut tree = Tree::new();
    for file in FILES {
        if dice.roll(4) > 0 {
            let text = history.text();
            drive(put_later(&*base, file, &text));
            tree.insert(file, text);
        }
    }
    let clients = 2 + dice.roll(2);
    let mut running: Vec<Option<LocalBoxFuture<'_, ()>>> = (0..clients)
        .map(|_| Some(Box::pin(client(&base, &history, true)) as LocalBoxFuture<'_, ()>))
        .collect();
    running.push(Some(Box::pin(client(&base, &history, false))));
    let mut crash = (steps.is_some() && dice.roll(2) == 0).then(|| dice.roll(250));
    while running.iter().any(Option::is_some) {
        history.clock.set(history.clock.get() + 1);
        let at = dice.roll(running.len());
        let Some(future) = &mut running[at] else {
            continue;
        };
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            running[at] = None;
        }
        // The client is gone, wherever it was.
        if crash.is_some_and(|crash| history.clock.get() >= crash) {
            running[at] = None;
            crash = None;
        }
        if history.clock.get() > 200_000 {
            return Err("it does not end".into());
        }
    }
    drop(running);
    drive(async {
        // Whoever comes next finishes what was broken off.
        begin(&base).commit().await.expect("recovered");
    });
    let mut last = Tree::new();
    for file in FILES {
        if let Some(text) = drive(fetch(&*base, file)) {
            last.insert(file, text);
        }
    }
    if drive(fetch(&*base, "/.kitbag/turns/journal")).is_some() {
        return Err("a journal is left".into());
    }
    let changes = history.changes.take();
    let left = (0..changes.len())
        .filter(|at| {
            let change = &changes[*at];
            let has_effect = !change.reads.is_empty() || !change.writes.is_empty();
            has_effect || change.undoes.is_some() || change.end == End::Done
        })
        .collect();
    match explained(
        &tree,
        &changes,
        &left,
        &mut BTreeMap::new(),
        &last,
        &mut BTreeSet::new(),
    ) {
        true => Ok(()),
        false => Err(format!(
            "no order explains it ({steps:?})\nfirst {tree:#?}\n{changes:#?}\nlast {last:#?}"
        )),
    }
}

pub fn drive<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    loop {
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(value) = polled {
            return value;
        }
    }
}
