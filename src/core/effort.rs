//! What storages were asked: requests, and how many of them were repeated. Both are counted for all
//! calls together. A caller learns its share by looking before and after each poll of its own future:
//! polls are nested and never interleaved.

use std::cell::Cell;

thread_local! {
    /// Requests in the lower half, repeated ones in the upper half.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// A request to a server is sent, or a statement to a database.
pub fn requested() {
    ASKED.set(ASKED.get().wrapping_add(1));
}

/// A request is sent again after a failure.
pub fn repeated() {
    ASKED.set(ASKED.get().wrapping_add(1 << 32));
}

/// What was asked up to now. Differences of it are an [`Effort`].
pub fn until_now() -> u64 {
    ASKED.get()
}

/// What was asked for something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort(pub u64);

impl Effort {
    /// Adds what was asked since `before`.
    pub fn add_since(&mut self, before: u64) {
        let since = until_now().wrapping_sub(before);
        self.0 = self.0.wrapping_add(since);
    }

    /// Requests, and how many of them were repeated.
    pub fn counts(self) -> [u32; 2] {
        // The two halves.
        [self.0 as u32, (self.0 >> 32) as u32]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_between_two_looks_is_counted_and_nothing_else() {
        let (mut mine, mut inner) = (Effort::default(), Effort::default());
        requested();
        let before = until_now();
        requested();
        let later = until_now();
        requested();
        repeated();
        inner.add_since(later);
        mine.add_since(before);
        requested();
        let again = until_now();
        requested();
        mine.add_since(again);
        assert_eq!((mine.counts(), inner.counts()), ([3, 1], [1, 1]));
    }
}
