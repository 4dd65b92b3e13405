//! Sorting, compiled once. Each use of the standard library's sorts adds about three kilobytes of
//! WebAssembly; forty uses were a tenth of the module. Here one function sorts indices for all
//! types, and the items are then moved into that order. This is slower by about half, so a hot path
//! with large inputs may call the standard sort directly.

use std::cmp::Ordering;

/// Sorts with a comparison function. The sort is stable.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
        return;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_indices(&mut order, &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    arrange(items, &mut order);
}

/// Sorts items by their natural order. The sort is stable.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts items by a key. The sort is stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// For each item the number of the first one that is equal to it.
pub fn firsts<T: Ord>(items: &[&T]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_indices(&mut order, &|a, b| items.get(a).cmp(&items.get(b)));
    let mut firsts = vec![0; items.len()];
    let mut first = 0;
    for at in order {
        // Equal ones stay in the order of their numbers.
        if items.get(first) != items.get(at) {
            first = at;
        }
        if let Some(slot) = firsts.get_mut(at) {
            *slot = first;
        }
    }
    firsts
}

#[inline(never)]
fn sort_indices(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

/// Moves to each index the item that `order` names for it; follows each cycle once.
fn arrange<T>(items: &mut [T], order: &mut [usize]) {
    for start in 0..order.len() {
        let mut at = start;
        while let Some(place) = order.get_mut(at) {
            // An index that maps to itself is done.
            let from = std::mem::replace(place, at);
            if from == start || from == at {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::testing::cases;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn the_first_of_equal_ones_is_found(items in proptest::collection::vec(0..20u8, 0..60)) {
            let all: Vec<&u8> = items.iter().collect();
            let expected: Vec<usize> = items
                .iter()
                .map(|item| items.iter().position(|one| one == item).expect("itself"))
                .collect();
            prop_assert_eq!(firsts(&all), expected);
        }

        #[test]
        fn it_sorts_as_the_standard_library_does(items: Vec<(u8, String)>) {
            let mut ours = items.clone();
            let mut theirs = items;
            sort_by(&mut ours, |a, b| a.0.cmp(&b.0));
            theirs.sort_by_key(|item| item.0);
            prop_assert_eq!(&ours, &theirs);
            sort_by_key(&mut ours, |item| std::cmp::Reverse(item.1.clone()));
            theirs.sort_by_key(|item| std::cmp::Reverse(item.1.clone()));
            prop_assert_eq!(&ours, &theirs);
            sort(&mut ours);
            theirs.sort();
            prop_assert_eq!(&ours, &theirs);
        }
    }
}
