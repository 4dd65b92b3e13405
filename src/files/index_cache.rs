//! A cache of the line indexes of recently paged files. Counting the lines of a large file takes a
//! pass over all of it; the next page should not repeat that. An index belongs to one version of a
//! file, so a stale one is never used. Small files are not cached.

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

/// The indexes, the last used ones first. There are few, so looking through all of them costs less
/// than code for a table would.
pub struct IndexCache(RefCell<Vec<Known>>);

struct Known {
    path: VPath,
    version: Version,
    index: Rc<LineIndex>,
}

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache(RefCell::renewable(Vec::new))
    }
}

impl IndexCache {
    /// The index of that version of a body, from the cache or built now.
    pub fn of(&self, path: &VPath, version: Option<&Version>, body: &[u8]) -> Rc<LineIndex> {
        let Some(version) = version.filter(|_| body.len() >= WORTH_KEEPING) else {
            return Rc::new(LineIndex::build(body));
        };
        let mut known = self.0.borrow_mut();
        let found = known.iter().position(|one| one.path == *path);
        let same = |one: &Known| one.version == *version || has(Bug::StaleIndex);
        let first = match found.map(|at| known.remove(at)).filter(same) {
            Some(found) => found,
            None => Known {
                path: path.clone(),
                version: version.clone(),
                index: Rc::new(LineIndex::build(body)),
            },
        };
        let index = first.index.clone();
        known.insert(0, first);
        known.truncate(ENTRIES);
        index
    }

    /// Removes the index of a changed file.
    pub fn forget(&self, path: &VPath) {
        if !has(Bug::StaleIndex) {
            self.0.borrow_mut().retain(|one| one.path != *path);
        }
    }
}
