//! A cache of recently fetched bodies by key, each with its ETag, limited in bytes. A body is used
//! only after the server, or a fresh listing, has reported the same ETag.

use std::rc::Rc;

use bytes::Bytes;

use super::answer::Told;

use crate::core::recent::Recent;

/// A body with its metadata.
#[derive(Clone, Debug)]
pub struct Cached {
    /// The metadata from its headers.
    pub told: Rc<Told>,
    /// Its bytes.
    pub body: Bytes,
}

/// The cache of one backend.
pub struct Cache {
    limit: usize,
    entries: Recent<Cached>,
}

/// The memory cost of an entry in addition to its body.
const OVERHEAD: usize = 512;

fn cost(key: &str, entry: &Cached) -> usize {
    OVERHEAD
        .saturating_add(key.len())
        .saturating_add(entry.body.len())
}

impl Cache {
    /// A cache of at most `limit` bytes; 0 disables it.
    pub fn new(limit: usize) -> Cache {
        Cache {
            limit,
            entries: Recent::new(limit),
        }
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<Cached> {
        self.entries.get(key)
    }

    /// The entry of a key if it has exactly that ETag.
    pub fn state(&self, key: &str, tag: &str) -> Option<Cached> {
        self.get(key).filter(|found| found.told.tag == tag)
    }

    /// Stores a body; removes older entries if necessary.
    pub fn put(&self, key: &str, entry: Cached) {
        let size = cost(key, &entry);
        // A single body must not replace all the others.
        match size > self.limit / 4 {
            true => self.forget(key),
            false => self.entries.put(key, size, entry),
        }
    }

    /// Removes a key.
    pub fn forget(&self, key: &str) {
        self.entries.forget(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::time::Time;
    use crate::storage::Meta;

    fn entry(tag: &str, size: usize) -> Cached {
        Cached {
            told: Rc::new(Told {
                plain: true,
                meta: Meta::of(size as u64, Time::default()),
                note: None,
                tag: tag.to_owned(),
            }),
            body: Bytes::from(vec![0; size]),
        }
    }

    #[test]
    fn another_state_is_not_this_one() {
        let cache = Cache::new(10_000);
        cache.put("k", entry("one", 10));
        assert!(cache.state("k", "one").is_some() && cache.state("k", "two").is_none());
        cache.put("k", entry("two", 10));
        assert!(cache.state("k", "two").is_some() && cache.state("k", "one").is_none());
        cache.forget("k");
        cache.put("huge", entry("t", 9000));
        assert!(cache.get("k").is_none() && cache.get("huge").is_none());
    }
}
