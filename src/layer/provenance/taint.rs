//! What one conversation has read: a label for each, and how it came to it.

use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::path::VPath;
use crate::layer::provenance::labels::Labels;
use crate::protocol::Operation;

/// Most reads of a conversation that are remembered, apart from the first one of each label.
const REMEMBERED: usize = 100;

/// Labelled content that a conversation has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The label.
    pub label: Rc<str>,
    /// The file; the first one with the label if a command may have read several.
    pub path: VPath,
    /// The call that read it.
    pub operation: Operation,
}

/// All that a conversation has read, the oldest first.
pub struct Taint(RefCell<Vec<Seen>>);

impl Taint {
    /// A conversation that has read this.
    pub fn new(seen: Vec<Seen>) -> Taint {
        Taint(RefCell::new(seen))
    }

    /// Adds the labels of a file that was read.
    pub fn add(&self, operation: Operation, path: &VPath, labels: &Labels) {
        let mut all = self.0.borrow_mut();
        for label in labels.iter() {
            let seen = Seen {
                label: label.clone(),
                path: path.clone(),
                operation,
            };
            let is_new_label = !all.iter().any(|one| one.label == *label);
            if is_new_label || (all.len() < REMEMBERED && !all.contains(&seen)) {
                all.push(seen);
            }
        }
    }

    /// The labels of what was read.
    pub fn labels(&self) -> Labels {
        let mut labels = Labels::default();
        for seen in self.0.borrow().iter() {
            labels.add(&seen.label);
        }
        labels
    }

    /// What was read.
    pub fn seen(&self) -> Vec<Seen> {
        self.0.borrow().clone()
    }

    /// A person has decided that what was read does not matter any more.
    pub fn clear(&self) {
        self.0.take();
    }
}
