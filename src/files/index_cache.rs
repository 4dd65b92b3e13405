//! A cache of the line indexes of recently paged files. Counting the lines of a large file takes a
//! pass over all of it; the next page should not repeat that. An index belongs to one version of a
//! file, so a stale one is never used. Small files are not cached.

use std::rc::Rc;

use crate::core::bugs::{Bug, has};
use crate::core::path::VPath;
use crate::core::recent::Recent;
use crate::search::lines::LineIndex;
use crate::storage::Version;

/// Bodies smaller than this are counted every time.
const WORTH_KEEPING: usize = 32 * 1024;
/// Maximum number of cached indexes.
const ENTRIES: usize = 64;

pub struct IndexCache(Recent<(Version, Rc<LineIndex>)>);

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache(Recent::new(ENTRIES))
    }
}

impl IndexCache {
    /// The index of that version of a body, from the cache or built now.
    pub fn of(&self, path: &VPath, version: Option<&Version>, body: &[u8]) -> Rc<LineIndex> {
        let Some(version) = version.filter(|_| body.len() >= WORTH_KEEPING) else {
            return Rc::new(LineIndex::build(body));
        };
        if let Some((known, index)) = self.0.get(path.as_str())
            && (known == *version || has(Bug::StaleIndex))
        {
            return index;
        }
        let index = Rc::new(LineIndex::build(body));
        self.0
            .put(path.as_str(), 1, (version.clone(), index.clone()));
        index
    }

    /// Removes the index of a changed file.
    pub fn forget(&self, path: &VPath) {
        if !has(Bug::StaleIndex) {
            self.0.forget(path.as_str());
        }
    }
}
