//! How a layer that keeps contents elsewhere, as a history or a kept turn does, tells the layers below
//! it of what comes back from there. Labels of contents would be lost on that way. It is a part of
//! `Capability`, since every wrapper passes that on.
//!
//! Also how a layer that only carries contents from one tree to another, as a sync does, takes their labels
//! along: a [`Cargo`] is what one content came with.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{Operation, SharedBackend};

/// Most reads that are remembered, apart from the first one of each label.
const REMEMBERED: usize = 100;

/// Labelled content that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The label.
    pub label: Rc<str>,
    /// The file; the first one with the label if a command may have read several.
    pub path: VPath,
    /// The call that read it.
    pub operation: Operation,
}

/// What the calls with a cargo are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// They read: contents come with their labels.
    #[default]
    Reads,
    /// They read no bytes of files, which come with the labels of the files.
    Asks,
    /// They read no bytes of files, which are given the labels.
    Tells,
    /// They write: contents have the labels. What they read goes nowhere.
    Writes,
}

/// What was read, and by whom it was labelled.
#[derive(Default)]
pub struct Cargo {
    seen: RefCell<Vec<Seen>>,
    purpose: Purpose,
    /// Whether a layer that knows labels has passed on one of its calls.
    has_passed: Cell<bool>,
}

/// The number of a call of the host, and the cargo of what it does now.
pub type Aboard = Option<(u32, Rc<Cargo>)>;

impl Cargo {
    /// With these reads.
    pub fn new(purpose: Purpose, seen: Vec<Seen>) -> Cargo {
        Cargo {
            seen: RefCell::new(seen),
            purpose,
            has_passed: Cell::new(false),
        }
    }

    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Adds a read.
    pub fn add(&self, seen: Seen) {
        let mut all = self.seen.borrow_mut();
        let is_new_label = !all.iter().any(|one| one.label == seen.label);
        let is_kept = is_new_label || (all.len() < REMEMBERED && !all.contains(&seen));
        if is_kept && self.purpose != Purpose::Writes {
            all.push(seen);
        }
    }

    /// What was read, the oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    /// Forgets what was read.
    pub fn clear(&self) {
        self.seen.take();
    }

    /// The first label, if there is one.
    pub fn first(&self) -> Option<Rc<str>> {
        self.seen.borrow().first().map(|seen| seen.label.clone())
    }

    /// Whether it has all labels of another one.
    pub fn covers(&self, other: &Cargo) -> bool {
        let (own, others) = (self.seen.borrow(), other.seen.borrow());
        let has = |label: &Rc<str>| own.iter().any(|one| one.label == *label);
        others.iter().all(|seen| has(&seen.label))
    }

    /// A layer that knows labels passes on a call.
    pub fn pass(&self) {
        self.has_passed.set(true);
    }

    /// Whether one did.
    pub fn has_passed(&self) -> bool {
        self.has_passed.get()
    }
}

/// A layer that must know of contents that do not come from the files themselves.
pub trait Origin {
    /// A backend with earlier contents of the files, such as those of a pin, as this layer reads it.
    fn earlier(&self, at: SharedBackend) -> SharedBackend;

    /// A backend in which changes are kept that are not made yet, as this layer uses it.
    fn kept(&self, at: SharedBackend) -> SharedBackend;

    /// The caller is about to store these contents beside the files, for changes of these files that may be
    /// broken off.
    fn keeps<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()>;

    /// The caller is about to be shown earlier contents of files.
    fn shows<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()>;

    /// What this call of the host does from here on is done with this cargo, and not by the conversation;
    /// returns what was so before.
    fn carry(&self, cargo: Aboard) -> Aboard;
}

/// All such layers below a backend.
#[derive(Clone, Default)]
pub struct Origins {
    all: Vec<Rc<dyn Origin>>,
    /// Whether changes are kept back from them.
    is_deferred: bool,
}

impl Origins {
    /// Adds one.
    pub fn push(&mut self, origin: Rc<dyn Origin>) {
        self.all.push(origin);
    }

    /// Changes come to them later, as those of a turn do when it is committed.
    pub fn defer(&mut self) {
        self.is_deferred = !self.is_empty();
    }

    /// Whether changes come to one of them later.
    pub fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// Adds those of another backend.
    pub fn extend(&mut self, others: Origins) {
        self.is_deferred |= others.is_deferred;
        self.all.extend(others.all);
    }

    /// See [`Origin::earlier`].
    pub fn earlier(&self, at: SharedBackend) -> SharedBackend {
        self.all.iter().fold(at, |at, origin| origin.earlier(at))
    }

    /// See [`Origin::kept`].
    pub fn kept(&self, at: SharedBackend) -> SharedBackend {
        self.all.iter().fold(at, |at, origin| origin.kept(at))
    }

    /// See [`Origin::shows`].
    pub fn shows<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            for origin in &self.all {
                origin.shows(files).await?;
            }
            Ok(())
        })
    }

    /// See [`Origin::keeps`].
    pub fn keeps<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            for origin in &self.all {
                origin.keeps(files).await?;
            }
            Ok(())
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<dyn Origin>> {
        self.all.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} origins", self.all.len())
    }
}

/// They say nothing of what a backend guarantees.
impl PartialEq for Origins {
    fn eq(&self, other: &Origins) -> bool {
        self.all.len() == other.all.len()
    }
}

impl Eq for Origins {}
