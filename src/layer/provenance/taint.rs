//! What one conversation has read: a label for each, and how it came to it. A call that only carries contents
//! has a cargo instead: it taints nobody, and what it writes has the labels of the cargo.

use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::path::VPath;
use crate::core::running;
use crate::layer::provenance::labels::Labels;
use crate::protocol::{Aboard, Cargo, Operation, Purpose, Seen};

/// All that a conversation has read, the oldest first.
pub struct Taint {
    read: Rc<Cargo>,
    /// The cargo of the call of the host that runs now, if it has one.
    aboard: RefCell<Aboard>,
}

impl Taint {
    /// A conversation that has read this.
    pub fn new(seen: Vec<Seen>) -> Taint {
        Taint::of(Rc::new(Cargo::new(Purpose::Reads, seen)))
    }

    /// That of calls with a cargo.
    pub(super) fn of(read: Rc<Cargo>) -> Taint {
        Taint {
            read,
            aboard: RefCell::renewable(|| None),
        }
    }

    /// Calls from here on have this cargo; returns what they had before.
    pub(super) fn carry(&self, cargo: Aboard) -> Aboard {
        self.aboard.replace(cargo)
    }

    /// The cargo of what runs now. Another call of the host, such as one that a callback makes, has none.
    pub(super) fn cargo(&self) -> Option<Rc<Cargo>> {
        let aboard = self.aboard.borrow();
        let (call, cargo) = aboard.as_ref()?;
        (*call == running::current()).then(|| cargo.clone())
    }

    /// What is read and written by what runs now: the cargo, or what the conversation has read.
    pub(super) fn now(self: &Rc<Taint>) -> Rc<Taint> {
        match self.cargo() {
            Some(cargo) => Rc::new(Taint::of(cargo)),
            None => self.clone(),
        }
    }

    /// What its calls are for.
    pub(super) fn purpose(&self) -> Purpose {
        self.read.purpose()
    }

    /// Adds the labels of a file that was read.
    pub fn add(&self, operation: Operation, path: &VPath, labels: &Labels) {
        for label in labels.iter() {
            self.read.add(Seen {
                label: label.clone(),
                path: path.clone(),
                operation,
            });
        }
    }

    /// The labels of what was read.
    pub fn labels(&self) -> Labels {
        let mut labels = Labels::default();
        for seen in self.seen() {
            labels.add(&seen.label);
        }
        labels
    }

    /// What was read.
    pub fn seen(&self) -> Vec<Seen> {
        self.read.seen()
    }

    /// A person has decided that what was read does not matter any more.
    pub fn clear(&self) {
        self.read.clear();
    }
}
