//! Bodies that were fetched lately, by key, each with the ETag of its state, within a number of
//! bytes. A body is only used after the server, or a listing made just now, has named that ETag.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use bytes::Bytes;

use super::answer::Told;

use crate::cell::RefCell;

/// A body with what was told of it.
#[derive(Clone, Debug)]
pub struct Cached {
    /// What its headers said.
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
    /// Keys by when they were used last.
    order: BTreeMap<u64, Rc<str>>,
}

/// What an entry costs beside its body.
const OVERHEAD: usize = 512;

fn cost(key: &str, entry: &Cached) -> usize {
    OVERHEAD
        .saturating_add(key.len())
        .saturating_add(entry.body.len())
}

impl Cache {
    /// A cache of at most so many bytes; 0 keeps nothing.
    pub fn new(limit: usize) -> Cache {
        Cache {
            limit,
            inner: RefCell::renewable(Inner::default),
        }
    }

    /// What is kept of a key.
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

    /// The body of a key in exactly that state.
    pub fn state(&self, key: &str, tag: &str) -> Option<Cached> {
        self.get(key).filter(|found| found.told.tag == tag)
    }

    /// Keeps a body, as long as there is room.
    pub fn put(&self, key: &str, entry: Cached) {
        self.forget(key);
        let size = cost(key, &entry);
        // One body may not drive out all the others.
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

    /// Lets a key go.
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
    use crate::storage::Meta;
    use crate::time::Time;

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
