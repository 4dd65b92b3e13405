//! A cache of recently fetched bodies by key, each with its ETag, limited in bytes. A body is used
//! only after the server, or a fresh listing, has reported the same ETag.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use bytes::Bytes;

use super::answer::Told;

use crate::core::cell::RefCell;

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
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    bytes: usize,
    clock: u64,
    known: HashMap<Rc<str>, (u64, Cached)>,
    /// Keys in the order of their last use.
    order: BTreeMap<u64, Rc<str>>,
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
            inner: RefCell::renewable(Inner::default),
        }
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<Cached> {
        let mut inner = self.inner.borrow_mut();
        inner.clock += 1;
        let now = inner.clock;
        let (name, entry) = inner.known.get_key_value(key)?;
        let (name, before, found) = (name.clone(), entry.0, entry.1.clone());
        inner.order.remove(&before);
        inner.order.insert(now, name.clone());
        inner.known.insert(name, (now, found.clone()));
        Some(found)
    }

    /// The entry of a key if it has exactly that ETag.
    pub fn state(&self, key: &str, tag: &str) -> Option<Cached> {
        self.get(key).filter(|found| found.told.tag == tag)
    }

    /// Stores a body; removes older entries if necessary.
    pub fn put(&self, key: &str, entry: Cached) {
        self.forget(key);
        let size = cost(key, &entry);
        // A single body must not replace all the others.
        if size > self.limit / 4 {
            return;
        }
        let mut inner = self.inner.borrow_mut();
        while inner.bytes.saturating_add(size) > self.limit {
            let Some((_, oldest)) = inner.order.pop_first() else {
                break;
            };
            if let Some((_, gone)) = inner.known.remove(&oldest) {
                inner.bytes = inner.bytes.saturating_sub(cost(&oldest, &gone));
            }
        }
        inner.clock += 1;
        let now = inner.clock;
        let name: Rc<str> = Rc::from(key);
        inner.bytes = inner.bytes.saturating_add(size);
        inner.order.insert(now, name.clone());
        inner.known.insert(name, (now, entry));
    }

    /// Removes a key.
    pub fn forget(&self, key: &str) {
        let mut inner = self.inner.borrow_mut();
        if let Some((used, gone)) = inner.known.remove(key) {
            inner.order.remove(&used);
            inner.bytes = inner.bytes.saturating_sub(cost(key, &gone));
        }
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
                meta: Meta::of(size as u64, Time::default()),
                note: None,
                tag: tag.to_owned(),
            }),
            body: Bytes::from(vec![0; size]),
        }
    }

    #[test]
    fn it_stays_within_its_bytes_and_lets_the_oldest_go() {
        let cache = Cache::new(10_000);
        for at in 0..100 {
            cache.put(&format!("k{at}"), entry("t", 1000));
            assert!(cache.get("k0").is_some(), "used all the time");
            assert!(cache.inner.borrow().bytes <= 10_000);
        }
        assert!(cache.get("k99").is_some() && cache.get("k1").is_none());
        let inner = cache.inner.borrow();
        assert_eq!(inner.known.len(), inner.order.len());
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
        assert_eq!(cache.inner.borrow().bytes, 0);
    }
}
