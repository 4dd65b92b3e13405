//! The stores of a world, as the outside sees them: what they hold durably, and clients that reach
//! them over a wire with faults. Each speaks the interface that kitbag's real storage code uses:
//! HTTP for S3, SQL statements for a database, the methods of a host's storage.

pub mod bucket;
pub mod database;
pub mod shelf;

use std::cell::Cell;
use std::rc::Rc;

use crate::watch::Watch;
use crate::wire::{Answer, Delays, Leave, Wire};
use crate::world::World;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// It is executed and answered.
    Good,
    /// It never arrives, and the caller is told.
    Lost,
    /// It is executed, and its answer is lost.
    Unanswered,
    /// The store refuses it for now.
    Busy,
    /// It is executed, but the answer says that the store failed.
    Executed,
    /// No answer ever comes; it may be executed or not.
    Silent(bool),
    /// Half of the answer arrives.
    Cut,
}

/// One client's way to a store.
#[derive(Clone)]
pub struct Line {
    /// The world.
    pub world: Rc<World>,
    /// The wire.
    pub wire: Rc<Wire>,
    /// Who watches what is stored.
    pub watch: Rc<Watch>,
    /// The client.
    pub client: usize,
    /// Faults in a thousand requests.
    pub faults: Rc<Cell<u32>>,
    /// The longest delay in microseconds.
    pub slow: u64,
}

impl Line {
    /// Draws what happens to a request, out of what can happen on this kind of line.
    pub fn luck(&self, what: &str, kinds: &[Luck]) -> Luck {
        if !self.world.draw(|rng| rng.chance(self.faults.get())) {
            return Luck::Good;
        }
        let luck = *self.world.draw(|rng| rng.pick(kinds));
        self.watch
            .fault(&self.world, self.client, format!("{luck:?}: {what}"));
        luck
    }

    /// Sends a request.
    pub fn send<T: 'static>(
        &self,
        luck: Luck,
        leave: Leave,
        execute: impl FnOnce() -> T + 'static,
    ) -> Answer<T> {
        self.wire.send(self.delays(luck), leave, execute)
    }

    /// Draws how long a request takes.
    fn delays(&self, luck: Luck) -> Delays {
        let slow = self.slow;
        let one = || {
            self.world.draw(|rng| match rng.chance(100) {
                true => rng.range(slow, slow * 8),
                false => rng.range(50, slow),
            })
        };
        Delays {
            there: one(),
            back: (!matches!(luck, Luck::Silent(_))).then_some(one()),
        }
    }
}
