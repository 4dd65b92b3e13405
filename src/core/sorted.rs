//! A map as a sorted list. Each hash map of another type adds about two kilobytes of WebAssembly; this
//! adds next to none. Numbers that count up are added at the end. A key in the middle moves what is
//! behind it, so it is for maps with at most some thousand entries.

use std::borrow::Borrow;

/// A map of few entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted<K, V>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Sorted<K, V> {
        Sorted::new()
    }
}

impl<K, V> Sorted<K, V> {
    /// An empty map.
    pub const fn new() -> Sorted<K, V> {
        Sorted(Vec::new())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, by their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The values, by their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0
            .binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Sets the value of a key and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V>
    where
        K: Ord,
    {
        match self.place(&key) {
            Ok(at) => {
                let (_, before) = self.0.get_mut(at)?;
                Some(std::mem::replace(before, value))
            }
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Removes a key and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Keeps the entries whose key is accepted.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K) -> bool) {
        self.0.retain(|(key, _)| keeps(key));
    }
}

impl<K, V> IntoIterator for Sorted<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Ord, V> Extend<(K, V)> for Sorted<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Sorted<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Sorted<K, V> {
        let mut map = Sorted::new();
        map.extend(entries);
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_holds(steps: Vec<(bool, u8, u32)>) {
            let (mut ours, mut theirs) = (Sorted::new(), BTreeMap::new());
            for (adds, key, value) in steps {
                match adds {
                    true => prop_assert_eq!(ours.insert(key, value), theirs.insert(key, value)),
                    false => prop_assert_eq!(ours.remove(&key), theirs.remove(&key)),
                }
                prop_assert_eq!(ours.get(&key), theirs.get(&key));
                prop_assert_eq!(ours.len(), theirs.len());
            }
            let values: Vec<&u32> = ours.values().collect();
            prop_assert!(values.into_iter().eq(theirs.values()));
        }
    }
}
