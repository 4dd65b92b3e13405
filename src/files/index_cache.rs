//! A cache of the line indexes of recently paged files. Counting the lines of a large file takes a
//! pass over all of it; the next page should not repeat that. An index belongs to one version of a
//! file, so a stale one is never used. Small files are not cached.

use std::collections::HashMap;
use std::rc::Rc;

use crate::core::bugs::{Bug, has};
use crate::core::cell::RefCell;
use crate::core::path::VPath;
use crate::search::lines::LineIndex;
use crate::storage::Version;

/// Bodies smaller than this are counted every time.
const WORTH_KEEPING: usize = 32 * 1024;
/// Maximum number of cached indexes.
const ENTRIES: usize = 64;

pub struct IndexCache(RefCell<Inner>);

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache(RefCell::renewable(Inner::default))
    }
}

#[derive(Default)]
struct Inner {
    clock: u64,
    known: HashMap<VPath, Known>,
}

struct Known {
    version: Version,
    index: Rc<LineIndex>,
    used: u64,
}

impl IndexCache {
    /// The index of that version of a body, from the cache or built now.
    pub fn of(&self, path: &VPath, version: Option<&Version>, body: &[u8]) -> Rc<LineIndex> {
        let Some(version) = version.filter(|_| body.len() >= WORTH_KEEPING) else {
            return Rc::new(LineIndex::build(body));
        };
        let mut inner = self.0.borrow_mut();
        inner.clock += 1;
        let now = inner.clock;
        if let Some(known) = inner.known.get_mut(path)
            && (known.version == *version || has(Bug::StaleIndex))
        {
            known.used = now;
            return known.index.clone();
        }
        let index = Rc::new(LineIndex::build(body));
        if inner.known.len() >= ENTRIES {
            let oldest = inner.known.iter().min_by_key(|(_, known)| known.used);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                inner.known.remove(&path);
            }
        }
        let known = Known {
            version: version.clone(),
            index: index.clone(),
            used: now,
        };
        inner.known.insert(path.clone(), known);
        index
    }

    /// Removes the index of a changed file.
    pub fn forget(&self, path: &VPath) {
        if !has(Bug::StaleIndex) {
            self.0.borrow_mut().known.remove(path);
        }
    }
}
