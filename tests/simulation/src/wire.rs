//! The way to a store and back: a request arrives after a while and is executed, its answer arrives
//! after another while. When its caller is gone, an HTTP request that reads is aborted; a change and
//! a host's call go on and are recorded as unsettled, as `env/http.rs` and `env/host.rs` do in
//! JavaScript.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use kitbag::core::unsettled::{self, Piece};

use crate::world::{EventKey, World};

/// What becomes of a request when its caller is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// It is aborted; it may be executed all the same.
    Abort,
    /// It goes on until it is answered, or until its connection is closed.
    Settle,
}

/// When the connection of a change without an answer is closed, in microseconds after its caller
/// has gone: see `LATE_MS` in `ts/core/http.ts`.
const CLOSED: u64 = 60_000_000;

/// The requests of one client that have not been executed yet.
pub struct Wire {
    world: Rc<World>,
    under_way: RefCell<BTreeMap<u64, EventKey>>,
}

struct Slot<T> {
    answer: Option<T>,
    waker: Option<Waker>,
    piece: Option<Piece>,
    leave: Leave,
    answers: bool,
    executed: bool,
    over: bool,
}

/// An answer that is awaited.
pub struct Answer<T: 'static> {
    wire: Rc<Wire>,
    number: u64,
    slot: Rc<RefCell<Slot<T>>>,
}

/// How long a request takes in each direction; without an answer, the caller waits for ever.
pub struct Delays {
    /// Until it is executed.
    pub there: u64,
    /// Until the answer arrives.
    pub back: Option<u64>,
}

impl Wire {
    /// The wire of one client.
    pub fn new(world: &Rc<World>) -> Rc<Wire> {
        Rc::new(Wire {
            world: world.clone(),
            under_way: RefCell::default(),
        })
    }

    /// Sends a request: `execute` is what the store does with it.
    pub fn send<T: 'static>(
        self: &Rc<Wire>,
        delays: Delays,
        leave: Leave,
        execute: impl FnOnce() -> T + 'static,
    ) -> Answer<T> {
        let number = self.world.tick();
        let slot = Rc::new(RefCell::new(Slot {
            answer: None,
            waker: None,
            piece: None,
            leave,
            answers: delays.back.is_some(),
            executed: false,
            over: false,
        }));
        let (wire, filled) = (self.clone(), slot.clone());
        let event = self.world.after(delays.there, move || {
            wire.under_way.borrow_mut().remove(&number);
            let answer = execute();
            filled.borrow_mut().executed = true;
            let Some(back) = delays.back else { return };
            wire.world.after(back, move || {
                let (waker, piece) = {
                    let mut slot = filled.borrow_mut();
                    slot.answer = Some(answer);
                    slot.over = true;
                    (slot.waker.take(), slot.piece.take())
                };
                if let Some(piece) = piece {
                    piece.settle();
                }
                if let Some(waker) = waker {
                    waker.wake();
                }
            });
        });
        self.under_way.borrow_mut().insert(number, event);
        Answer {
            wire: self.clone(),
            number,
            slot,
        }
    }

    /// The client has crashed: each of its requests is lost, executed now, or (with `late`) left
    /// under way.
    pub fn crash(&self, late: bool) {
        let requests = std::mem::take(&mut *self.under_way.borrow_mut());
        for (number, event) in requests {
            match self.world.draw(|rng| rng.below(if late { 3 } else { 2 })) {
                0 => drop(self.world.take_back(event)),
                1 => {
                    if let Some(execute) = self.world.take_back(event) {
                        execute();
                    }
                }
                _ => {
                    self.under_way.borrow_mut().insert(number, event);
                }
            }
        }
    }
}

impl<T: 'static> Future for Answer<T> {
    type Output = T;

    fn poll(self: Pin<&mut Answer<T>>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.slot.borrow_mut();
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T: 'static> Drop for Answer<T> {
    fn drop(&mut self) {
        let mut slot = self.slot.borrow_mut();
        if slot.over {
            return;
        }
        slot.waker = None;
        match slot.leave {
            Leave::Settle => {
                slot.piece = Some(unsettled::leave());
                if !slot.answers {
                    let left = self.slot.clone();
                    self.wire.world.after(CLOSED, move || {
                        let piece = left.borrow_mut().piece.take();
                        piece.into_iter().for_each(Piece::settle);
                    });
                }
            }
            Leave::Abort if !slot.executed => {
                let event = self.wire.under_way.borrow().get(&self.number).copied();
                if let Some(event) = event
                    && self.wire.world.draw(|rng| rng.chance(500))
                {
                    self.wire.under_way.borrow_mut().remove(&self.number);
                    drop(self.wire.world.take_back(event));
                }
            }
            Leave::Abort => {}
        }
    }
}
