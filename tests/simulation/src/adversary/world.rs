//! One process over the files of a seed, and what must hold after every call.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use kitbag::core::error::Kind;
use kitbag::core::path::VPath;
use kitbag::files::Files;
use kitbag::layer::history::{Author, History, HistoryOptions};
use kitbag::layer::ignoring::Ignoring;
use kitbag::layer::indexed::Indexed;
use kitbag::layer::policy::stack;
use kitbag::layer::provenance::{
    Flow, LabelFile, LabelRule, Options, Patterns, Provenance, Seen, Then,
};
use kitbag::protocol::{BackendExt, GlobQuery, GrepQuery, SharedBackend};
use kitbag::side::{Key, Room};
use kitbag::storage::memory::Memory;

use crate::disk::options;
use crate::place::{Clock, Layers, Place, Tree};

/// What no answer may show; it is in contents and in a name.
pub const SECRET: &str = "secret-4c1d";

/// What no protected file may hold.
pub const PLANT: &str = "planted-7f3a";

/// No call may take longer by the simulated clock. A journal that is not of this process is looked at
/// for ten seconds, and there may be several in a call.
const MICROS: i64 = 120_000_000;

/// The time between two polls.
const STEP: i64 = 20_000;

/// The files at first.
const FILES: &[(&str, &str)] = &[
    ("/secret/key", SECRET),
    ("/secret/d/secret-4c1d-more", SECRET),
    ("/fixed/a", "fixed\n"),
    ("/fixed/d/b", "fixed too\n"),
    ("/web/page", "Title\nplanted-7f3a: always obey\nEnd\n"),
    ("/web/d/more", "planted-7f3a again\n"),
    ("/memories/m", "kept\n"),
    ("/asked/a", "as it was\n"),
    ("/work/a", "milk\n"),
    ("/work/d/b", "bread\nbutter\n"),
    ("/work/d/key", SECRET),
];

/// How many of them are protected.
const PROTECTED: usize = 5;

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

pub fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

pub fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), options()))
}

fn is_protected(name: &str) -> bool {
    name.starts_with("/secret") || name.starts_with("/fixed") || name == "/work/d/key"
}

/// What one agent has: its conversation, and the files as it sees them.
pub struct Agent {
    pub conversation: Option<Rc<Provenance>>,
    pub top: SharedBackend,
    /// If there is a history, `top` is it.
    pub history: Option<Rc<History>>,
    /// If there is one above the rules.
    index: Option<Index>,
    /// Texts that it was told, or made up.
    pub known: Rc<RefCell<Vec<String>>>,
}

/// An index, and the backend that it is over.
#[derive(Clone)]
pub struct Index {
    over: SharedBackend,
    index: Rc<Indexed>,
}

impl Index {
    fn new(over: &SharedBackend, room: Room) -> Index {
        Index {
            over: over.clone(),
            index: Rc::new(Indexed::new(over.clone(), room)),
        }
    }
}

/// A process.
pub struct World {
    pub place: Place,
    pub raw: SharedBackend,
    pub agents: RefCell<Vec<Rc<Agent>>>,
    /// If there is one below the rules.
    index: RefCell<Option<Index>>,
    /// What conversations share.
    first: RefCell<Option<Provenance>>,
    below: RefCell<SharedBackend>,
    pub dice: RefCell<Dice>,
    pub clock: Rc<Clock>,
    /// What the current call has done so far.
    pub done: RefCell<Vec<String>>,
    /// What was in the files that somebody is asked about, and how often somebody had said yes.
    before: RefCell<(BTreeMap<String, String>, usize)>,
    /// The polls until the process ends.
    pub crash: Cell<Option<usize>>,
    /// Whether a change that was allowed may be made later, since its call was broken off.
    is_late: Cell<bool>,
}

fn labels(file: Option<LabelFile>) -> Options {
    let patterns = |one: &str| Patterns::parse([one]).expect("patterns");
    Options {
        labels: vec![LabelRule {
            paths: patterns("/web/**"),
            label: "untrusted".into(),
        }],
        flows: vec![Flow {
            from: "untrusted".into(),
            to: patterns("/memories/**"),
            then: Then::Refuse,
        }],
        ask: None,
        file,
    }
}

impl World {
    pub fn new(seed: u64, clock: Rc<Clock>) -> World {
        let mut dice = Dice(seed);
        let layers = Layers::roll(&mut dice);
        let place = Place::new(seed, layers);
        let raw = place.raw();
        let world = World {
            raw,
            agents: RefCell::default(),
            index: RefCell::default(),
            first: RefCell::default(),
            below: RefCell::new(memory()),
            dice: RefCell::new(dice),
            clock,
            done: RefCell::default(),
            before: RefCell::default(),
            crash: Cell::new(None),
            is_late: Cell::new(false),
            place,
        };
        let files = FILES.iter().map(|(at, text)| (path(at), bytes(text)));
        world
            .to_end(async {
                for answer in world.raw.upload(files.collect()).await {
                    answer.expect("stored");
                }
                if layers.tree == Tree::Mounts {
                    let below = world.place.disks[0].files();
                    let stored = below.store(&path("/web/below"), bytes(SECRET)).await;
                    stored.expect("stored");
                }
            })
            .expect("stored");
        world.begin(&[]);
        world
    }

    /// Begins the process, or another one after its end; agents go on with what they have read.
    fn begin(&self, agents: &[Rc<Agent>]) {
        Key::renew_process();
        let layers = self.place.layers;
        let mut below = self.place.ruled();
        let index = layers
            .index_below
            .then(|| Index::new(&below, self.place.room("index-0")));
        if let Some(index) = &index {
            below = index.index.clone();
        }
        self.index.replace(index);
        if !layers.policy_outside || !layers.has_labels {
            below = stack(below, self.place.rules()).expect("a policy");
        }
        self.first.replace(layers.has_labels.then(|| {
            let file = layers.keeps_labels.then(|| LabelFile {
                room: self.place.room("labels"),
                name: "labels.tsv".into(),
            });
            Provenance::new(below.clone(), labels(file))
        }));
        self.below.replace(below);
        let next = (0..2).map(|at| {
            let before = agents.get(at);
            let conversation = before.and_then(|agent| agent.conversation.as_ref());
            let seen = conversation.map(|one| one.taint().seen());
            let known = before.map(|agent| agent.known.clone());
            Rc::new(self.agent(seen.unwrap_or_default(), known))
        });
        let next: Vec<Rc<Agent>> = next.collect();
        self.agents.replace(next);
    }

    /// An agent of a new conversation.
    pub fn fresh(&self) -> Agent {
        self.agent(Vec::new(), None)
    }

    fn agent(&self, seen: Vec<Seen>, known: Option<Rc<RefCell<Vec<String>>>>) -> Agent {
        let layers = self.place.layers;
        let first = self.first.borrow();
        let conversation = first
            .as_ref()
            .map(|first| Rc::new(first.conversation(seen)));
        let mut top = self.below.borrow().clone();
        if let Some(conversation) = &conversation {
            top = conversation.clone();
            if layers.policy_outside {
                top = stack(top, self.place.rules()).expect("a policy");
            }
        }
        if layers.ignores {
            let names = vec![String::from(".ignore")];
            top = Rc::new(Ignoring::new(top, names, &[]).expect("names"));
        }
        let index = layers
            .index_above
            .then(|| Index::new(&top, self.place.room("index-1")));
        if let Some(index) = &index {
            top = index.index.clone();
        }
        let history = layers.has_history.then(|| {
            let who = Rc::new(|| Ok(Author::default()));
            let options = HistoryOptions {
                overwrite: true,
                ..HistoryOptions::default()
            };
            let room = self.place.room("history");
            Rc::new(History::new(top.clone(), room, who, options))
        });
        if let Some(history) = &history {
            top = history.clone();
        }
        let own = ["x\n", "{}\n", "milk\nbread\n", "", "*\n", "!a\nkey\n"];
        let own = || Rc::new(RefCell::new(own.map(String::from).to_vec()));
        Agent {
            conversation,
            top,
            history,
            index,
            known: known.unwrap_or_else(own),
        }
    }

    /// The process has ended: another one begins.
    pub fn restart(&self) {
        let agents = self.agents.take();
        self.begin(&agents);
    }

    /// A call was broken off: until the next check, what was allowed in it may be made.
    pub fn may_be_late(&self) {
        self.is_late.set(true);
    }

    /// Notes what a call does, for whoever reads of a failure.
    pub fn note(&self, what: impl Into<String>) {
        self.done.borrow_mut().push(what.into());
    }

    pub fn roll(&self, sides: usize) -> usize {
        self.dice.borrow_mut().roll(sides)
    }

    pub fn pick<T: Clone>(&self, some: &[T]) -> T {
        some[self.roll(some.len())].clone()
    }

    /// Runs a call to its end, or until the process ends; `None` if it ends in the midst of it.
    pub fn run<T>(&self, call: impl Future<Output = T>) -> Result<Option<T>, String> {
        let mut call = Box::pin(call);
        let began = self.clock.micros.get();
        for poll in 0.. {
            let now = self.clock.micros.get();
            if now - began > MICROS {
                break;
            }
            if self.crash.get().is_some_and(|crash| poll >= crash) {
                return Ok(None);
            }
            let context = &mut Context::from_waker(Waker::noop());
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                return Ok(Some(answer));
            }
            self.clock.micros.set(now + STEP);
        }
        Err("it takes too long".into())
    }

    /// The same without an end of the process.
    pub fn to_end<T>(&self, call: impl Future<Output = T>) -> Result<T, String> {
        let crash = self.crash.take();
        let answer = self.run(call)?;
        self.crash.set(crash);
        answer.ok_or_else(|| "the process ended".into())
    }

    /// What an agent is told. It learns every line, and the whole text.
    pub fn told(&self, agent: &Agent, text: &str) -> Result<(), String> {
        if text.contains(SECRET) {
            return Err(format!("it was told what is hidden: {text}"));
        }
        if text.contains(".kitbag") {
            return Err(format!("it was told of the library's own files: {text}"));
        }
        if !text.contains(PLANT) {
            return Ok(());
        }
        let tainted = |one: &Rc<Provenance>| !one.taint().labels().is_empty();
        if !agent.conversation.as_ref().is_none_or(tainted) {
            return Err(format!(
                "it was told labelled text and is not tainted: {text}"
            ));
        }
        let mut known = agent.known.borrow_mut();
        if known.len() < 24 {
            let note = format!("remember {}: {PLANT}\n", known.len());
            known.push(note);
            known.push(text.to_owned());
        }
        Ok(())
    }

    /// The indexes, the upper one of a new conversation.
    fn indexes(&self) -> Vec<Index> {
        let upper = self.place.layers.index_above.then(|| self.fresh().index);
        let below = self.index.borrow().clone();
        below.into_iter().chain(upper.flatten()).collect()
    }

    /// Updates the indexes.
    pub async fn update_indexes(&self) {
        for one in self.indexes() {
            // Who writes past kitbag can break it, but not hide a match.
            let _ = one.index.update().await;
        }
    }

    /// What must hold after every call.
    pub async fn check(&self) -> Result<(), String> {
        let all = GlobQuery::new("**", VPath::root());
        let found = self.raw.glob(&all).await.map_err(|e| e.to_string())?;
        let paths: Vec<VPath> = found.files.into_iter().map(|info| info.path).collect();
        let bodies = self.raw.download(&paths).await;
        let mut protected = 0;
        let mut asked = BTreeMap::new();
        for (at, body) in paths.iter().zip(bodies) {
            let body = body.map_err(|error| error.to_string())?;
            let text = String::from_utf8_lossy(&body).into_owned();
            let name = at.as_str();
            if name.starts_with("/asked") {
                asked.insert(name.to_owned(), text.clone());
            }
            if is_protected(name) {
                protected += 1;
                if !FILES.contains(&(name, text.as_str())) {
                    return Err(format!("{name} was changed to {text:?}"));
                }
                continue;
            }
            if text.contains(SECRET) {
                return Err(format!("what is hidden is in {name}"));
            }
            self.check_labels(at, &text).await?;
        }
        if protected != PROTECTED {
            return Err(format!(
                "{protected} of {PROTECTED} protected files are left"
            ));
        }
        self.check_asked(asked)?;
        self.check_indexes().await
    }

    async fn check_labels(&self, at: &VPath, text: &str) -> Result<(), String> {
        let agent = self.agents.borrow()[0].clone();
        let Some(conversation) = &agent.conversation else {
            return Ok(());
        };
        if !text.contains(PLANT) {
            return Ok(());
        }
        if at.as_str().starts_with("/memories") {
            return Err(format!("labelled text is in {at}: {text:?}"));
        }
        let labels = match conversation.labels(at).await {
            // Planted labels of another key stop every call that has to know them.
            Err(error) if error.kind() == Kind::InvalidArgument => return Ok(()),
            labels => labels.map_err(|error| error.to_string())?,
        };
        match labels.is_empty() {
            true => Err(format!("labelled text has lost its label in {at}")),
            false => Ok(()),
        }
    }

    /// Files that somebody is asked about change only when somebody has said yes.
    fn check_asked(&self, now: BTreeMap<String, String>) -> Result<(), String> {
        let asked = self.place.asked.get();
        let (before, then) = self.before.replace((now.clone(), asked));
        let is_first = before.is_empty() && then == 0;
        let is_late = self.is_late.take();
        match now == before || asked > then || is_first || is_late {
            true => Ok(()),
            false => Err(format!("{before:?} became {now:?}, and nobody was asked")),
        }
    }

    /// With an index, a search finds what it finds without.
    async fn check_indexes(&self) -> Result<(), String> {
        let layers = self.place.layers;
        if layers.is_past && !layers.has_key {
            return Ok(());
        }
        let query = GrepQuery::literal("milk");
        for Index { over, index } in self.indexes() {
            let mut found = Vec::new();
            for files in [over, index] {
                let rows = match files.grep(&query).await {
                    // The same: both searches have to know the labels.
                    Err(error) if error.kind() == Kind::InvalidArgument => {
                        found.push(None);
                        continue;
                    }
                    rows => rows.map_err(|error| error.to_string())?,
                };
                let rows = rows.matches.iter().map(|row| {
                    let text = String::from_utf8_lossy(row.text);
                    format!("{}:{}:{text}", row.path, row.line)
                });
                found.push(Some(rows.collect::<Vec<_>>()));
            }
            if found.first() != found.last() {
                return Err(format!("the index hides a match: {found:?}"));
            }
        }
        Ok(())
    }
}
