//! Sorts many texts with pauses. Runs of a few kilobytes are sorted at once, and then merged. Sorted
//! instead of hashed: no texts make that slow.

use crate::core::order;
use crate::core::pace::{ITEMS, Pace};

/// Bytes of the texts of one run, so that long texts with equal beginnings are not compared too often
/// in one stretch.
const RUN_BYTES: usize = 64 << 10;

/// The places of some texts, in order of the texts. Equal ones keep their order.
pub async fn sorted(texts: &[&[u8]], pace: &Pace) -> Vec<usize> {
    let text = |place: &usize| texts.get(*place).copied().unwrap_or_default();
    let mut places: Vec<usize> = (0..texts.len()).collect();
    // Where each sorted run ends.
    let mut ends = Vec::new();
    let mut from = 0;
    while from < texts.len() {
        let mut to = from;
        let mut bytes = 0;
        while to < texts.len() && to - from < ITEMS && (bytes < RUN_BYTES || to == from) {
            bytes += text(&to).len();
            to += 1;
        }
        let run = places.get_mut(from..to).unwrap_or_default();
        order::sort_by(run, |a, b| text(a).cmp(text(b)));
        ends.push(to);
        pace.worked(to - from).await;
        pace.read(bytes).await;
        from = to;
    }
    let mut next = Vec::new();
    while ends.len() > 1 {
        next.clear();
        next.reserve_exact(places.len());
        let mut wider = Vec::with_capacity(ends.len().div_ceil(2));
        let mut from = 0;
        for pair in ends.chunks(2) {
            let (Some(middle), Some(end)) = (pair.first(), pair.last()) else {
                continue;
            };
            let run = |from: usize, to: usize| places.get(from..to).unwrap_or_default();
            merge(
                run(from, *middle),
                run(*middle, *end),
                &text,
                &mut next,
                pace,
            )
            .await;
            wider.push(*end);
            from = *end;
        }
        std::mem::swap(&mut places, &mut next);
        ends = wider;
    }
    places
}

/// Adds two sorted runs to `out`, as one.
async fn merge<'a>(
    mut left: &[usize],
    mut right: &[usize],
    text: &impl Fn(&usize) -> &'a [u8],
    out: &mut Vec<usize>,
    pace: &Pace,
) {
    // Runs that are in order already are not compared any further.
    let are_in_order = match (left.last(), right.first()) {
        (Some(last), Some(first)) => text(last) <= text(first),
        _ => true,
    };
    while let (Some(a), Some(b), false) = (left.first(), right.first(), are_in_order) {
        let (a, b) = (text(a), text(b));
        let side = if a <= b { &mut left } else { &mut right };
        if let Some((first, rest)) = side.split_first() {
            out.push(*first);
            *side = rest;
        }
        pace.worked(1).await;
        pace.read(a.len().min(b.len())).await;
    }
    for rest in [left, right] {
        for some in rest.chunks(ITEMS) {
            out.extend_from_slice(some);
            pace.worked(some.len() / 16).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::pace::tests::steady;
    use crate::core::testing::now;

    fn check(texts: &[Vec<u8>]) {
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let mut expected: Vec<usize> = (0..texts.len()).collect();
        expected.sort_by_key(|place| texts[*place]);
        assert_eq!(now(sorted(&texts, &steady())), expected);
    }

    proptest! {
        #[test]
        fn places_are_sorted_as_by_the_standard_library(
            // Long texts make short runs.
            texts in proptest::collection::vec((0u8..5, 0usize..3), 0..40)
        ) {
            let long = |(byte, times): &(u8, usize)| vec![*byte; *times * RUN_BYTES / 2];
            check(&texts.iter().map(long).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_short_texts_are_sorted() {
        for modulo in [1, 7, 4_000, 100_000] {
            let text = |at: usize| format!("{}", at * 7_919 % modulo).into_bytes();
            check(&(0..30_000).map(text).collect::<Vec<_>>());
        }
        check(
            &(0..30_000)
                .map(|at: usize| at.to_be_bytes().to_vec())
                .collect::<Vec<_>>(),
        );
    }
}
