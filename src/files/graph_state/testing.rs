//! A host that names the running graph, for tests.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind};
use crate::files::FilesOptions;
use crate::protocol::SharedBackend;

/// A host with several graphs, one of which may be running.
#[derive(Default)]
pub struct Host {
    /// The number of the running graph; 0 if none is.
    pub running: Cell<u32>,
    /// The files of each graph.
    pub copies: RefCell<BTreeMap<u32, Rc<Files<Memory>>>>,
    /// What graphs were told.
    pub changes: RefCell<Vec<(u32, Change, String)>>,
    /// Whether the running graph keeps no files.
    pub no_files: Cell<bool>,
    /// Whether no graph takes changes.
    pub closed: Cell<bool>,
}

/// Files that no graph has.
pub fn memory() -> Files<Memory> {
    Files::new(Memory::default(), FilesOptions::default())
}

impl Graphs for Rc<Host> {
    fn current(&self) -> Result<Option<Copy>> {
        if self.no_files.get() {
            return Err(Error::new(Kind::Unavailable, "it keeps no files"));
        }
        let id = self.running.get();
        if id == 0 {
            return Ok(None);
        }
        let mut copies = self.copies.borrow_mut();
        let files = copies.entry(id).or_insert_with(|| Rc::new(memory()));
        let files = files.clone();
        Ok(Some(Copy { id, files }))
    }

    fn number(&self) -> u32 {
        self.running.get()
    }

    fn changed(&self, copy: u32, change: Change, paths: &[VPath]) -> Result<()> {
        if self.closed.get() {
            return Err(Error::new(Kind::Unavailable, "the state is closed"));
        }
        let told = paths
            .iter()
            .map(|path| (copy, change, path.as_str().to_owned()));
        self.changes.borrow_mut().extend(told);
        Ok(())
    }
}

/// A host, and a backend that asks it.
pub fn made() -> (Rc<Host>, SharedBackend) {
    let host = Rc::new(Host::default());
    let backend = Rc::new(GraphState::new(memory(), host.clone()));
    (host, backend)
}
