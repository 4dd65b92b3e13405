//! The way to a store and back: a request arrives after a while and is executed, its answer arrives
//! after another while. What a request does when its caller is gone depends on the kind of wire: an
//! HTTP request is aborted, which may come too late; a host's call goes on and is recorded as
//! unsettled, as `env/host.rs` does in JavaScript.

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
    /// It is aborted; it may be executed all the same, and late.
    Abort,
    /// It is aborted, and is executed at once or never.
    AbortNow,
    /// It goes on.
    Settle,
}

/// The requests of one client that have not been executed yet.
pub struct Wire {
    world: Rc<World>,
    leave: Leave,
    under_way: RefCell<BTreeMap<u64, EventKey>>,
}

struct Slot<T> {
    answer: Option<T>,
    waker: Option<Waker>,
    piece: Option<Piece>,
    executed: bool,
    over: bool,
}

/// An answer that is awaited.
pub struct Answer<T> {
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
    pub fn new(world: &Rc<World>, leave: Leave) -> Rc<Wire> {
        Rc::new(Wire {
            world: world.clone(),
            leave,
            under_way: RefCell::default(),
        })
    }

    /// Sends a request: `execute` is what the store does with it.
    pub fn send<T: 'static>(
        self: &Rc<Wire>,
        delays: Delays,
        execute: impl FnOnce() -> T + 'static,
    ) -> Answer<T> {
        let number = self.world.tick();
        let slot = Rc::new(RefCell::new(Slot {
            answer: None,
            waker: None,
            piece: None,
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

impl<T> Future for Answer<T> {
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

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let mut slot = self.slot.borrow_mut();
        if slot.over {
            return;
        }
        slot.waker = None;
        match self.wire.leave {
            Leave::Settle => slot.piece = Some(unsettled::leave()),
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
            Leave::AbortNow => {
                let event = self.wire.under_way.borrow_mut().remove(&self.number);
                let execute = event.and_then(|event| self.wire.world.take_back(event));
                drop(slot);
                if let Some(execute) = execute
                    && self.wire.world.draw(|rng| rng.chance(500))
                {
                    execute();
                }
            }
        }
    }
}
