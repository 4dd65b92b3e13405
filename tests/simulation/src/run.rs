//! One world from its beginning to its end: clients call, fail, crash and come back; then everything
//! is read once more, and the history is held against the model.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::{Either, select};
use kitbag::core::bugs::{self, Bug};
use kitbag::core::path::VPath;
use kitbag::core::running::{self, within};
use kitbag::env::simulated;
use kitbag::protocol::BackendExt;

use crate::body::Value;
use crate::calls::{Action, Contents, FROZEN, HIDDEN, Told, draw, perform};
use crate::checker;
use crate::client::{Client, Maker, Stores};
use crate::history::{Call, End, History};
use crate::scenario::Scenario;
use crate::watch::Watch;
use crate::world::{Hosting, World};

/// What became of a seed.
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// What the world was made of.
    pub scenario: Scenario,
    /// The history.
    pub history: History,
    /// What is wrong; nothing if the history fits the model.
    pub wrong: Vec<String>,
    /// A digest of everything that happened.
    pub digest: u64,
    /// Simulated microseconds.
    pub micros: u64,
    /// Steps of the scheduler.
    pub steps: u64,
}

/// A future that runs as one of kitbag's calls, and is dropped as one.
struct InCall<F: Future> {
    call: running::Call,
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for InCall<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let call = self.call;
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let polled = within(call, || future.as_mut().poll(context));
        if polled.is_ready() {
            let future = self.future.take();
            within(call, || drop(future));
        }
        polled
    }
}

impl<F: Future> Drop for InCall<F> {
    fn drop(&mut self) {
        let future = self.future.take();
        within(self.call, || drop(future));
    }
}

fn in_call<F: Future>(future: F) -> InCall<F> {
    InCall {
        call: running::Call::new(),
        future: Some(Box::pin(future)),
    }
}

struct Run {
    world: Rc<World>,
    watch: Rc<Watch>,
    scenario: Rc<Scenario>,
    contents: RefCell<Contents>,
    maker: Maker,
    clients: Vec<Rc<Client>>,
    lanes: RefCell<Vec<Lane>>,
}

/// A caller: its task, its client, and the calls that it still makes.
struct Lane {
    task: usize,
    client: usize,
    left: Rc<Cell<u32>>,
}

/// Runs a seed.
pub fn run(seed: u64, bug: Option<Bug>) -> Report {
    let world = World::new(seed);
    simulated::set(Some(Rc::new(Hosting(world.clone()))));
    bugs::choose(bug);
    let report = live(seed, &world);
    bugs::choose(None);
    simulated::set(None);
    report
}

fn live(seed: u64, world: &Rc<World>) -> Report {
    let scenario = Rc::new(world.draw(Scenario::draw));
    let watch = Rc::new(Watch::default());
    let stores = Stores::new(&scenario, &watch);
    let maker = Maker {
        world: world.clone(),
        watch: watch.clone(),
        scenario: scenario.clone(),
        stores,
        faults: Rc::new(Cell::new(0)),
    };
    let mut wrong = Vec::new();
    let clients = (0..scenario.clients).filter_map(|number| maker.client(number));
    let clients: Vec<Rc<Client>> = clients.collect();
    if clients.len() != scenario.clients {
        wrong.push("a client could not be made".into());
    }
    let run = Rc::new(Run {
        world: world.clone(),
        watch: watch.clone(),
        scenario: scenario.clone(),
        contents: RefCell::default(),
        maker,
        clients,
        lanes: RefCell::default(),
    });
    let start = run.prepare(&mut wrong);
    run.maker.faults.set(scenario.faults);
    run.begin();
    if !world.run() {
        wrong.push("the calls never came to an end".into());
    }
    for (number, lane) in run.lanes.borrow().iter().enumerate() {
        if lane.left.get() > 0 {
            wrong.push(format!("caller {number} waits for ever"));
        }
    }
    run.maker.faults.set(0);
    run.read_all(&mut wrong);
    let mut history = std::mem::take(&mut *watch.history.borrow_mut());
    wrong.append(&mut history.violations);
    if wrong.is_empty() {
        wrong = checker::check(
            &history,
            &mut run.contents.borrow_mut().bodies,
            &start,
            &scenario,
        );
    }
    // Tasks and the world refer to each other.
    run.lanes.borrow_mut().clear();
    Report {
        seed,
        scenario: (*scenario).clone(),
        history,
        wrong,
        digest: world.digest(),
        micros: world.micros(),
        steps: world.steps(),
    }
}

impl Run {
    /// Stores the first files, and what rules protect.
    fn prepare(self: &Rc<Run>, wrong: &mut Vec<String>) -> BTreeMap<String, Value> {
        let mut start = BTreeMap::new();
        let mut files = Vec::new();
        let guards = self.scenario.guards;
        if guards.inspect {
            *self.watch.passed.borrow_mut() = Some(Default::default());
        }
        let room = guards.quota.unwrap_or(u64::MAX);
        let mut used = 0;
        for path in &self.scenario.paths {
            if !self.world.draw(|rng| rng.chance(500)) {
                continue;
            }
            let size = self.world.draw(|rng| self.scenario.size(rng));
            let text = !path.ends_with(".bin");
            let (value, body) = self.contents.borrow_mut().bodies.make(size, text);
            used += body.len() as u64;
            if used <= room {
                start.insert((*path).to_owned(), value);
                files.push(((*path).to_owned(), body));
            }
        }
        let mut protected = BTreeMap::new();
        if guards.permissions && guards.quota.is_none() {
            for path in [HIDDEN, FROZEN] {
                let body = Bytes::from(format!("SECRET of {path}\n"));
                protected.insert(path.to_owned(), body.clone());
                files.push((path.to_owned(), body));
            }
        }
        for (_, body) in &files {
            self.watch.pass(body);
        }
        let done = Rc::new(Cell::new(false));
        let told = done.clone();
        if let Some(backend) = self.maker.unguarded() {
            let parsed = files.into_iter();
            let parsed = parsed.filter_map(|(path, body)| Some((VPath::parse(&path).ok()?, body)));
            let files: Vec<(VPath, Bytes)> = parsed.collect();
            self.world.spawn(async move {
                let answers = in_call(backend.upload(files)).await;
                told.set(answers.iter().all(Result::is_ok));
            });
        }
        self.world.run();
        if !done.get() {
            wrong.push("the first files could not be stored".into());
        }
        *self.watch.protected.borrow_mut() = protected;
        self.watch.quota.set(guards.quota);
        start
    }

    fn begin(self: &Rc<Run>) {
        for client in 0..self.clients.len() {
            for _ in 0..self.scenario.lanes {
                let lane = self.lanes.borrow().len();
                let left = Rc::new(Cell::new(self.scenario.calls));
                let task = self.spawn_lane(client, lane, left.clone());
                self.lanes.borrow_mut().push(Lane { task, client, left });
            }
        }
        for _ in 0..self.scenario.crashes {
            let run = self.clone();
            let after = self.scenario.slow * u64::from(self.scenario.calls) * 4;
            let (at, client) = self.world.draw(|rng| {
                (
                    rng.below(after),
                    rng.below(run.clients.len() as u64) as usize,
                )
            });
            self.world.after(at, move || run.crash(client));
        }
    }

    fn spawn_lane(self: &Rc<Run>, client: usize, lane: usize, left: Rc<Cell<u32>>) -> usize {
        let run = self.clone();
        self.world.spawn(async move {
            let mut seen = Vec::new();
            while left.get() > 0 {
                let think = run.world.draw(|rng| rng.below(run.scenario.slow * 2));
                run.world.sleep(think).await;
                let action = {
                    let mut contents = run.contents.borrow_mut();
                    run.world
                        .draw(|rng| draw(rng, &run.scenario, &mut contents, &seen))
                };
                let cancels = run.scenario.cancels;
                let patience = run.world.draw(|rng| {
                    rng.chance(cancels)
                        .then(|| rng.below(run.scenario.slow * 5))
                });
                if let Some(read) = run.call(client, lane, action, patience).await {
                    seen.push(read);
                }
                left.set(left.get() - 1);
            }
        })
    }

    async fn call(
        self: &Rc<Run>,
        client: usize,
        lane: usize,
        action: Action,
        patience: Option<u64>,
    ) -> Option<(String, Value, Bytes)> {
        let number = self.record(client, lane, &action);
        let backend = self.clients[client].backend();
        let run = self.clone();
        let call =
            in_call(async move { perform(action, &*backend, &run.scenario, &run.contents).await });
        let told = match patience {
            None => Some(call.await),
            Some(patience) => match select(call, self.world.sleep(patience)).await {
                Either::Left((told, _)) => Some(told),
                Either::Right(_) => None,
            },
        };
        self.settle(number, told)
    }

    fn record(&self, client: usize, lane: usize, action: &Action) -> usize {
        let (name, about) = action.name(&self.contents.borrow().bodies);
        let now = (self.world.tick(), self.world.micros());
        let mut history = self.watch.history.borrow_mut();
        history.calls.push(Call {
            lane,
            client,
            name,
            about,
            began: now,
            ended: now,
            end: End::Running,
            outcome: String::new(),
            intent: action.intent(&self.scenario),
            facts: Vec::new(),
            unsure: Vec::new(),
        });
        history.calls.len() - 1
    }

    fn settle(&self, number: usize, told: Option<Told>) -> Option<(String, Value, Bytes)> {
        self.watch.changed(&self.world);
        let now = (self.world.tick(), self.world.micros());
        let mut read = None;
        let mut violation = None;
        {
            let mut history = self.watch.history.borrow_mut();
            let call = &mut history.calls[number];
            call.ended = now;
            match told {
                None => {
                    call.end = End::Cancelled;
                    call.outcome = "cancelled".into();
                }
                Some(told) => {
                    call.end = if told.known {
                        End::Answered
                    } else {
                        End::Unknown
                    };
                    call.outcome = told.outcome;
                    call.facts = told.facts;
                    call.unsure = told.unsure;
                    violation = told.violation;
                    read = told.read;
                }
            }
        }
        if let Some(violation) = violation {
            self.watch.violation(format!("call {number}: {violation}"));
        }
        read
    }

    fn crash(self: &Rc<Run>, client: usize) {
        let lanes: Vec<usize> = {
            let lanes = self.lanes.borrow();
            let of = |at: &usize| lanes[*at].client == client && lanes[*at].left.get() > 0;
            (0..lanes.len()).filter(of).collect()
        };
        if lanes.is_empty() {
            return;
        }
        self.watch.fault(&self.world, client, "crash".into());
        for lane in &lanes {
            let task = self.lanes.borrow()[*lane].task;
            self.world.kill(task);
        }
        let now = (self.world.tick(), self.world.micros());
        for call in &mut self.watch.history.borrow_mut().calls {
            if call.client == client && call.end == End::Running {
                call.end = End::Crashed;
                call.ended = now;
                call.outcome = "crashed".into();
            }
        }
        self.maker.crash(&self.clients[client]);
        for lane in lanes {
            let left = self.lanes.borrow()[lane].left.clone();
            let task = self.spawn_lane(client, lane, left);
            self.lanes.borrow_mut()[lane].task = task;
        }
    }

    /// Reads every file once more, without faults.
    fn read_all(self: &Rc<Run>, wrong: &mut Vec<String>) {
        let Some(client) = self.maker.client(self.clients.len()) else {
            wrong.push("the last client could not be made".into());
            return;
        };
        let run = self.clone();
        let done = Rc::new(Cell::new(false));
        let told = done.clone();
        self.world.spawn(async move {
            let lane = run.lanes.borrow().len();
            for path in &run.scenario.paths {
                let action = Action::Read((*path).to_owned(), false);
                let number = run.record(client.number, lane, &action);
                let backend = client.backend();
                let call = perform(action, &*backend, &run.scenario, &run.contents);
                let answer = in_call(call).await;
                run.settle(number, Some(answer));
            }
            told.set(true);
        });
        self.world.run();
        if !done.get() {
            wrong.push("the files could not be read at the end".into());
        }
    }
}
