//! A cache that keeps the entries which were used last: within a total cost, by text keys. Each step takes
//! about as long with 100,000 entries as with ten, and none of them goes through all entries.

use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::sorted::Sorted;

/// Entries by key, each with a cost; the one whose last use is longest ago goes first.
pub struct Recent<V> {
    limit: usize,
    inner: RefCell<Inner<V>>,
}

/// A new entry removes at most so many others: one large entry would remove very many small ones at once.
const REMOVED: usize = 1_000;

/// Short sorted lists by the hash of the key: one long list would move half of itself for a new key.
const LISTS: usize = 256;

struct Inner<V> {
    cost: usize,
    /// Where each key's entry is.
    places: Vec<Sorted<Rc<str>, usize>>,
    /// The entries, each between the one used before it and the one used after it.
    entries: Vec<Option<Entry<V>>>,
    /// Places without an entry.
    free: Vec<usize>,
    oldest: Option<usize>,
    newest: Option<usize>,
}

struct Entry<V> {
    key: Rc<str>,
    cost: usize,
    value: V,
    older: Option<usize>,
    newer: Option<usize>,
}

/// The list of a key (FNV-1a).
fn list_of(key: &str) -> usize {
    let hash = key.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash as usize % LISTS
}

impl<V> Inner<V> {
    fn empty() -> Inner<V> {
        Inner {
            cost: 0,
            places: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: None,
            newest: None,
        }
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.places.get(list_of(key))?.get(key).copied()
    }

    fn entry(&mut self, at: Option<usize>) -> Option<&mut Entry<V>> {
        self.entries.get_mut(at?)?.as_mut()
    }

    /// Takes an entry out of the order of uses.
    fn unlink(&mut self, at: usize) {
        let Some(entry) = self.entry(Some(at)) else {
            return;
        };
        let (older, newer) = (entry.older.take(), entry.newer.take());
        match self.entry(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entry(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }

    /// Puts an entry that is not in the order of uses at its end.
    fn link(&mut self, at: usize) {
        let older = self.newest.replace(at);
        match self.entry(older) {
            Some(entry) => entry.newer = Some(at),
            None => self.oldest = Some(at),
        }
        if let Some(entry) = self.entry(Some(at)) {
            entry.older = older;
        }
    }

    fn remove(&mut self, at: usize) {
        self.unlink(at);
        if let Some(gone) = self.entries.get_mut(at).and_then(Option::take) {
            if let Some(list) = self.places.get_mut(list_of(&gone.key)) {
                list.remove(&gone.key);
            }
            self.cost = self.cost.saturating_sub(gone.cost);
            self.free.push(at);
        }
    }

    fn add(&mut self, key: &str, cost: usize, value: V) {
        let key: Rc<str> = Rc::from(key);
        let at = self.free.pop().unwrap_or(self.entries.len());
        if self.places.is_empty() {
            self.places.resize_with(LISTS, Sorted::new);
        }
        if let Some(list) = self.places.get_mut(list_of(&key)) {
            list.insert(key.clone(), at);
        }
        let entry = Some(Entry {
            key,
            cost,
            value,
            older: None,
            newer: None,
        });
        match self.entries.get_mut(at) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        self.cost = self.cost.saturating_add(cost);
        self.link(at);
    }
}

impl<V: Clone> Recent<V> {
    /// A cache whose entries cost at most `limit` together; 0 disables it.
    pub fn new(limit: usize) -> Recent<V> {
        Recent {
            limit,
            inner: RefCell::renewable(Inner::empty),
        }
    }

    /// The entry of a key, which counts as used.
    pub fn get(&self, key: &str) -> Option<V> {
        let mut inner = self.inner.borrow_mut();
        let at = inner.place(key)?;
        inner.unlink(at);
        inner.link(at);
        inner.entry(Some(at)).map(|entry| entry.value.clone())
    }

    /// Stores an entry in place of the key's last one; removes others if necessary. One for which very many
    /// would have to go is not stored: the next time, there is more room.
    pub fn put(&self, key: &str, cost: usize, value: V) {
        let mut inner = self.inner.borrow_mut();
        if let Some(at) = inner.place(key) {
            inner.remove(at);
        }
        if cost > self.limit {
            return;
        }
        for _ in 0..REMOVED {
            if inner.cost.saturating_add(cost) <= self.limit {
                return inner.add(key, cost, value);
            }
            if let Some(oldest) = inner.oldest {
                inner.remove(oldest);
            }
        }
    }

    /// Removes the entry of a key.
    pub fn forget(&self, key: &str) {
        let mut inner = self.inner.borrow_mut();
        if let Some(at) = inner.place(key) {
            inner.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_stays_within_its_cost_and_removes_the_oldest() {
        let cache = Recent::new(10);
        for at in 0..100 {
            cache.put(&format!("k{at}"), 1, at);
            assert_eq!(cache.get("k0"), Some(0), "used all the time");
            assert!(cache.inner.borrow().cost <= 10);
        }
        assert_eq!((cache.get("k99"), cache.get("k1")), (Some(99), None));
        assert_eq!(
            cache.inner.borrow().entries.len(),
            10,
            "places are used again"
        );
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_list_holds(steps: Vec<(u8, u8, u8)>) {
            // The list's last one was used last.
            let (limit, cache) = (200, Recent::new(200));
            let mut list: Vec<(String, usize, usize)> = Vec::new();
            for (at, (does, key, cost)) in steps.into_iter().enumerate() {
                let (key, cost) = (format!("k{}", key % 32), usize::from(cost));
                let known = list.iter().position(|(name, _, _)| *name == key);
                let known = known.map(|at| list.remove(at));
                match does % 4 {
                    0 => cache.forget(&key),
                    1 => {
                        cache.put(&key, cost, at);
                        let sum = |list: &[(String, usize, usize)]| list.iter().map(|(_, cost, _)| cost).sum::<usize>();
                        if cost <= limit {
                            while sum(&list) + cost > limit {
                                list.remove(0);
                            }
                            list.push((key, cost, at));
                        }
                    }
                    _ => {
                        prop_assert_eq!(cache.get(&key), known.as_ref().map(|(_, _, value)| *value));
                        list.extend(known);
                    }
                }
                let inner = cache.inner.borrow();
                prop_assert_eq!(inner.cost, list.iter().map(|(_, cost, _)| cost).sum::<usize>());
                let mut order = Vec::new();
                let mut next = inner.oldest;
                while let Some(entry) = next.and_then(|at| inner.entries[at].as_ref()) {
                    order.push(&*entry.key);
                    next = entry.newer;
                }
                prop_assert_eq!(order, list.iter().map(|(key, _, _)| key.as_str()).collect::<Vec<_>>());
                prop_assert_eq!(inner.places.iter().map(Sorted::len).sum::<usize>(), list.len());
                prop_assert_eq!(inner.entries.len() - inner.free.len(), list.len());
            }
        }
    }

    #[test]
    fn an_entry_replaces_the_one_of_its_key_and_one_that_is_too_large_only_removes_it() {
        let cache = Recent::new(10);
        cache.put("k", 4, "one");
        cache.put("k", 6, "two");
        assert_eq!(
            (cache.get("k"), cache.inner.borrow().cost),
            (Some("two"), 6)
        );
        cache.put("k", 11, "three");
        assert_eq!((cache.get("k"), cache.inner.borrow().cost), (None, 0));
    }

    #[test]
    fn a_large_entry_removes_very_many_small_ones_in_several_steps() {
        let cache = Recent::new(10_000);
        for at in 0..10_000 {
            cache.put(&format!("k{at}"), 1, 0);
        }
        for times in 1..=3 {
            cache.put("large", 2_500, 1);
            let left = 10_000 - REMOVED * times;
            match times {
                3 => assert_eq!(cache.get("large"), Some(1)),
                _ => assert_eq!(
                    (cache.get("large"), cache.inner.borrow().cost),
                    (None, left)
                ),
            }
        }
        assert_eq!(cache.inner.borrow().cost, 10_000);
    }

    #[test]
    fn what_is_forgotten_costs_nothing() {
        let cache = Recent::new(10);
        cache.put("k", 4, ());
        cache.forget("k");
        cache.forget("k");
        assert_eq!((cache.get("k"), cache.inner.borrow().cost), (None, 0));
    }
}
