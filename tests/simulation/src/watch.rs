//! Looks at the stores after every change, from outside: no quota is exceeded, nothing is stored that
//! was not inspected, and what a rule protects is as it was.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use bytes::Bytes;

use crate::history::{Fault, History};
use crate::world::World;

/// Everything that a store holds durably.
pub trait Durable {
    /// Its files.
    fn files(&self) -> Vec<(String, Bytes)>;
}

/// The watch of one world.
#[derive(Default)]
pub struct Watch {
    /// The history.
    pub history: RefCell<History>,
    /// The stores, each with the directory at which it is mounted.
    pub stores: RefCell<Vec<(String, Rc<dyn Durable>)>>,
    /// The quota in bytes.
    pub quota: Cell<Option<u64>>,
    /// What was inspected and passed, if there is an inspection.
    pub passed: RefCell<Option<HashSet<u64>>>,
    /// What no rule lets anybody change.
    pub protected: RefCell<BTreeMap<String, Bytes>>,
    known: RefCell<BTreeMap<String, (usize, usize)>>,
}

impl Watch {
    /// Records a fault.
    pub fn fault(&self, world: &World, client: usize, what: String) {
        let at = world.micros();
        self.history
            .borrow_mut()
            .faults
            .push(Fault { at, client, what });
    }

    /// Records what must never happen.
    pub fn violation(&self, what: String) {
        let mut history = self.history.borrow_mut();
        if history.violations.len() < 8 && !history.violations.contains(&what) {
            history.violations.push(what);
        }
    }

    /// Content that may be stored.
    pub fn pass(&self, body: &[u8]) {
        if let Some(passed) = &mut *self.passed.borrow_mut() {
            passed.insert(print(body));
        }
    }

    /// A store may have changed.
    pub fn changed(&self, world: &World) {
        let mut total = 0;
        let mut seen = BTreeMap::new();
        for (dir, store) in self.stores.borrow().iter() {
            for (path, body) in store.files() {
                total += body.len() as u64;
                seen.insert(format!("{dir}{path}"), body);
            }
        }
        world.mix(total);
        if let Some(quota) = self.quota.get()
            && total > quota
        {
            self.violation(format!(
                "the quota of {quota} bytes is exceeded: {total} bytes are stored"
            ));
        }
        for (path, body) in self.protected.borrow().iter() {
            if seen.get(path) != Some(body) {
                self.violation(format!("{path} is protected by a rule and was changed"));
            }
        }
        let mut known = self.known.borrow_mut();
        for (path, body) in &seen {
            let now = (body.as_ptr().addr(), body.len());
            if known.get(path) == Some(&now) {
                continue;
            }
            known.insert(path.clone(), now);
            let passed = self.passed.borrow();
            if passed
                .as_ref()
                .is_some_and(|passed| !passed.contains(&print(body)))
            {
                self.violation(format!("{path} holds content that was never inspected"));
            }
        }
    }
}

/// Bodies name themselves at their beginning and collect marks at their end.
fn print(body: &[u8]) -> u64 {
    let ends = body.iter().take(32).chain(body.iter().rev().take(512));
    let seed = 0xcbf2_9ce4_8422_2325 ^ body.len() as u64;
    ends.fold(seed, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
