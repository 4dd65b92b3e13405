//! A cache that keeps the entries which were used last: within a total cost, by text keys.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::sorted::Sorted;

/// Entries by key, each with a cost; the one whose last use is longest ago goes first.
pub struct Recent<V> {
    limit: usize,
    inner: RefCell<Inner<V>>,
}

struct Inner<V> {
    cost: usize,
    uses: u64,
    /// Boxed, so that little is moved to make room for one.
    entries: Sorted<Rc<str>, Box<Entry<V>>>,
    /// Every use in order, with its number. Only the last one of an entry counts.
    order: VecDeque<(u64, Rc<str>)>,
}

struct Entry<V> {
    name: Rc<str>,
    used: u64,
    cost: usize,
    value: V,
}

impl<V> Inner<V> {
    fn empty() -> Inner<V> {
        Inner {
            cost: 0,
            uses: 0,
            entries: Sorted::new(),
            order: VecDeque::new(),
        }
    }

    /// The number of a new use of `name`.
    fn use_of(&mut self, name: Rc<str>) -> u64 {
        let Inner { entries, order, .. } = self;
        if order.len() > 2 * entries.len() + 16 {
            order.retain(|(used, name)| {
                entries
                    .get(&**name)
                    .is_some_and(|entry| entry.used == *used)
            });
        }
        self.uses += 1;
        self.order.push_back((self.uses, name));
        self.uses
    }

    fn remove(&mut self, key: &str) {
        if let Some(gone) = self.entries.remove(key) {
            self.cost = self.cost.saturating_sub(gone.cost);
        }
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
        let name = inner.entries.get(key)?.name.clone();
        let used = inner.use_of(name);
        let entry = inner.entries.get_mut(key)?;
        entry.used = used;
        Some(entry.value.clone())
    }

    /// Stores an entry in place of the key's last one; removes others if necessary.
    pub fn put(&self, key: &str, cost: usize, value: V) {
        let mut inner = self.inner.borrow_mut();
        inner.remove(key);
        if cost > self.limit {
            return;
        }
        while inner.cost.saturating_add(cost) > self.limit {
            let Some((used, name)) = inner.order.pop_front() else {
                break;
            };
            if inner
                .entries
                .get(&*name)
                .is_some_and(|entry| entry.used == used)
            {
                inner.remove(&name);
            }
        }
        let name: Rc<str> = Rc::from(key);
        let used = inner.use_of(name.clone());
        inner.cost = inner.cost.saturating_add(cost);
        let entry = Entry {
            name: name.clone(),
            used,
            cost,
            value,
        };
        inner.entries.insert(name, Box::new(entry));
    }

    /// Removes the entry of a key.
    pub fn forget(&self, key: &str) {
        self.inner.borrow_mut().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_cost_and_removes_the_oldest() {
        let cache = Recent::new(10);
        for at in 0..100 {
            cache.put(&format!("k{at}"), 1, at);
            assert_eq!(cache.get("k0"), Some(0), "used all the time");
            assert!(cache.inner.borrow().cost <= 10);
        }
        assert_eq!((cache.get("k99"), cache.get("k1")), (Some(99), None));
        let inner = cache.inner.borrow();
        assert_eq!(inner.entries.len(), 10);
        assert!(
            inner.order.len() <= 37,
            "{} uses are kept",
            inner.order.len()
        );
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
    fn what_is_forgotten_costs_nothing() {
        let cache = Recent::new(10);
        cache.put("k", 4, ());
        cache.forget("k");
        cache.forget("k");
        assert_eq!((cache.get("k"), cache.inner.borrow().cost), (None, 0));
    }
}
