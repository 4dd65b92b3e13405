//! The world: time, a scheduler and an order of events, all decided by one generator. A task is
//! polled only here, and which of several ready tasks comes first is chance. Time passes only when
//! no task is ready: then it jumps to the next event.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use kitbag::core::time::Time;
use kitbag::env::simulated::Host;

use crate::rng::Rng;

/// The time at which every world begins.
const BEGINNING: i64 = 1_800_000_000_000_000;
/// More steps than any finite history needs.
const ENDLESS: u64 = 3_000_000;

/// Names an event, so that it can be taken back: its time and its number.
pub type EventKey = (u64, u64);
type Event = Box<dyn FnOnce()>;

thread_local! {
    static READY: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Wakes a task: tasks and worlds live on one thread.
struct Alarm(usize);

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Alarm>) {
        READY.with_borrow_mut(|ready| {
            if !ready.contains(&self.0) {
                ready.push(self.0);
            }
        });
    }
}

struct Task {
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Waker,
}

/// A simulated world.
pub struct World {
    rng: RefCell<Rng>,
    micros: Cell<u64>,
    sequence: Cell<u64>,
    steps: Cell<u64>,
    digest: Cell<u64>,
    events: RefCell<BTreeMap<EventKey, Event>>,
    tasks: RefCell<Vec<Task>>,
}

impl World {
    /// The world of a seed, in which nothing happens yet.
    pub fn new(seed: u64) -> Rc<World> {
        READY.with_borrow_mut(Vec::clear);
        Rc::new(World {
            rng: RefCell::new(Rng::new(seed)),
            micros: Cell::new(0),
            sequence: Cell::new(0),
            steps: Cell::new(0),
            digest: Cell::new(seed),
            events: RefCell::default(),
            tasks: RefCell::default(),
        })
    }

    /// Draws from the generator.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.rng.borrow_mut())
    }

    /// Microseconds since the beginning.
    pub fn micros(&self) -> u64 {
        self.micros.get()
    }

    /// A number greater than all before.
    pub fn tick(&self) -> u64 {
        self.sequence.set(self.sequence.get() + 1);
        self.sequence.get()
    }

    /// Steps of the scheduler so far.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// A digest of everything that has happened: two runs of one seed have the same.
    pub fn digest(&self) -> u64 {
        self.digest.get()
    }

    /// Adds something to the digest.
    pub fn mix(&self, value: u64) {
        let mixed = (self.digest.get().rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.digest.set(mixed);
    }

    /// Something happens later.
    pub fn after(&self, micros: u64, event: impl FnOnce() + 'static) -> EventKey {
        let key = (self.micros.get() + micros, self.tick());
        self.events.borrow_mut().insert(key, Box::new(event));
        key
    }

    /// Takes an event back, if it has not happened yet.
    pub fn take_back(&self, key: EventKey) -> Option<Event> {
        self.events.borrow_mut().remove(&key)
    }

    /// Starts a task.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) -> usize {
        let mut tasks = self.tasks.borrow_mut();
        let id = tasks.len();
        let waker = Waker::from(Arc::new(Alarm(id)));
        waker.wake_by_ref();
        tasks.push(Task {
            future: Some(Box::pin(future)),
            waker,
        });
        id
    }

    /// Ends a task where it is.
    pub fn kill(&self, task: usize) {
        let future = match self.tasks.borrow_mut().get_mut(task) {
            Some(task) => task.future.take(),
            None => None,
        };
        drop(future);
    }

    /// Runs until nothing happens any more; `false` if that never comes.
    pub fn run(&self) -> bool {
        self.run_within(ENDLESS)
    }

    /// The same, for worlds in which as much happens.
    pub fn run_within(&self, most: u64) -> bool {
        loop {
            self.steps.set(self.steps.get() + 1);
            if self.steps.get() > most {
                return false;
            }
            let ready = READY.with_borrow(Vec::len);
            if ready > 0 {
                let at = self.draw(|rng| rng.below(ready as u64)) as usize;
                let id = READY.with_borrow_mut(|ready| ready.swap_remove(at));
                self.poll(id);
                continue;
            }
            let Some(((time, number), event)) = self.events.borrow_mut().pop_first() else {
                return true;
            };
            self.micros.set(time);
            self.mix(time ^ number << 40);
            event();
        }
    }

    fn poll(&self, id: usize) {
        let (mut future, waker) = match self.tasks.borrow_mut().get_mut(id) {
            Some(task) => match task.future.take() {
                Some(future) => (future, task.waker.clone()),
                None => return,
            },
            None => return,
        };
        self.mix(id as u64);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled == Poll::Pending
            && let Some(task) = self.tasks.borrow_mut().get_mut(id)
        {
            task.future = Some(future);
        }
    }

    /// Waits.
    pub fn sleep(self: &Rc<World>, micros: u64) -> Nap {
        Nap {
            world: self.clone(),
            micros,
            event: None,
            over: Rc::default(),
        }
    }
}

/// A wait; dropping it takes its event back.
pub struct Nap {
    world: Rc<World>,
    micros: u64,
    event: Option<EventKey>,
    over: Rc<Cell<bool>>,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Nap>, context: &mut Context<'_>) -> Poll<()> {
        if self.over.get() {
            return Poll::Ready(());
        }
        // A waker may change from poll to poll; the time of the end does not.
        let left = match self.event {
            Some(event) => {
                self.world.take_back(event);
                event.0.saturating_sub(self.world.micros())
            }
            None => self.micros,
        };
        let (over, waker) = (self.over.clone(), context.waker().clone());
        self.event = Some(self.world.after(left, move || {
            over.set(true);
            waker.wake();
        }));
        Poll::Pending
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        if let Some(event) = self.event {
            drop(self.world.take_back(event));
        }
    }
}

/// The world as kitbag's host.
pub struct Hosting(pub Rc<World>);

impl Host for Hosting {
    fn now(&self) -> Time {
        Time::from_micros(BEGINNING + self.0.micros() as i64)
    }

    fn sleep(&self, wait: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(self.0.sleep(wait.as_micros() as u64))
    }

    fn unit(&self) -> f64 {
        self.0.draw(Rng::unit)
    }
}
