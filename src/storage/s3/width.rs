//! How many requests to a bucket are under way at once. It begins with a number that every server and
//! runtime takes. While more requests wait than that, twice as many are tried: if requests end faster
//! then, it stays so and goes on; if not, since the server, the runtime (a Worker has six connections)
//! or this machine is the limit, it goes back. A server that asks for fewer requests gets half as many.

use std::cell::Cell;

use super::errors::Failure;
use crate::core::lock::Permits;
use crate::env::clock;

/// At first.
pub const FIRST: usize = 16;
/// At most, unless the user says another number.
const MOST: usize = 64;
/// However often a server asks for fewer.
const FEWEST: usize = 4;
/// A time is measured over at least this many microseconds, since some clocks count milliseconds.
const SHORTEST: i64 = 20_000;
/// More at once must take at most this part of the time for each request.
const WORTH: f64 = 0.87;
/// After going back, more are tried again after so many measurements.
const REST: usize = 16;

/// Permits for requests, as many as it is found out to be good.
pub struct Width {
    permits: Permits,
    /// The user has said how many.
    is_given: bool,
    state: Cell<State>,
}

#[derive(Clone, Copy)]
struct State {
    now: usize,
    /// How many there were before more were tried, and the microseconds for each request then.
    before: Option<(usize, f64)>,
    /// So many requests that end next began when there were more or fewer.
    skip: usize,
    /// Requests of this measurement, and when the first one ended.
    done: usize,
    since: i64,
    /// Measurements until more are tried.
    rest: usize,
}

impl Width {
    /// As many as are given, or as many as are good.
    pub fn new(given: Option<usize>) -> Width {
        let now = given.unwrap_or(FIRST).max(1);
        Width {
            permits: Permits::new(now),
            is_given: given.is_some(),
            state: Cell::new(State {
                now,
                before: None,
                skip: 0,
                done: 0,
                since: 0,
                rest: 0,
            }),
        }
    }

    /// How many requests there may be at once now.
    pub fn now(&self) -> usize {
        self.state.get().now
    }

    /// What each request takes one of.
    pub fn permits(&self) -> Permits {
        self.permits.clone()
    }

    /// A request has ended: in an answer, or in a failure.
    #[inline(never)]
    pub fn ended(&self, failure: Option<&Failure>) {
        if self.is_given {
            return;
        }
        let mut state = self.state.get();
        match failure {
            Some(failure) if failure.asks_for_fewer() => state.fewer(),
            // It says nothing about a limit where nobody waits.
            None if self.permits.are_wanted() => state.answered(clock::now().micros()),
            Some(_) | None => state.done = 0,
        }
        if state.now != self.now() {
            self.permits.resize(state.now);
        }
        self.state.set(state);
    }
}

impl State {
    fn answered(&mut self, now: i64) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.done == 0 {
            self.since = now;
        }
        self.done += 1;
        let took = now.saturating_sub(self.since);
        if self.done <= self.now * 2 || took < SHORTEST {
            return;
        }
        let each = took as f64 / (self.done - 1) as f64;
        self.done = 0;
        match self.before.take() {
            Some((width, before)) if each > before * WORTH => {
                self.rest = REST;
                self.become_wide(width);
            }
            _ if self.rest > 0 => self.rest -= 1,
            _ if self.now < MOST => {
                self.before = Some((self.now, each));
                self.become_wide((self.now * 2).min(MOST));
            }
            _ => {}
        }
    }

    /// Half as many, once for those that were under way together.
    fn fewer(&mut self) {
        self.done = 0;
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.before = None;
        self.rest = REST;
        self.become_wide((self.now / 2).max(FEWEST));
    }

    fn become_wide(&mut self, width: usize) {
        self.skip = self.now;
        self.now = width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with so many places, each of which takes 20 ms for a request, asked until so many
    /// requests have ended: how many were under way at once after each, and the milliseconds.
    fn asked(state: &mut State, places: usize, requests: usize) -> (Vec<usize>, i64) {
        // When each place is free, and when the requests under way end.
        let mut free = vec![0; places];
        let mut ends: Vec<i64> = Vec::new();
        let mut now = 0;
        let mut widths = Vec::new();
        for _ in 0..requests {
            while ends.len() < state.now {
                free.sort_unstable();
                let first = free.first_mut().expect("a place");
                *first = now.max(*first) + 20_000;
                ends.push(*first);
            }
            ends.sort_unstable();
            now = ends.remove(0);
            state.answered(now);
            widths.push(state.now);
        }
        (widths, now / 1_000)
    }

    fn state() -> State {
        Width::new(None).state.get()
    }

    #[test]
    fn as_many_as_the_server_takes() {
        // 64 at once would take 1,560 ms for 5,000.
        let (widths, took) = asked(&mut state(), 100, 5_000);
        assert_eq!(widths.last(), Some(&MOST));
        assert!(took < 1_800, "{took}");
        for (places, good) in [(40, 64), (32, 32), (20, 32), (16, 16), (6, 16)] {
            let (widths, took) = asked(&mut state(), places, 20_000);
            let least = 20_000 * 20 / i64::try_from(places).expect("few");
            assert!(took < least + least / 50, "{places}: {took}, {least}");
            let trials = widths.iter().filter(|width| **width > good).count();
            assert!(trials < 3_000, "{places}: {trials}");
            let few = widths.iter().skip(200).filter(|width| **width < good);
            assert!(few.count() < 200, "{places}");
        }
    }

    #[test]
    fn who_is_asked_for_fewer_makes_half_as_many_and_later_more() {
        let mut state = state();
        asked(&mut state, 100, 2_000);
        // All that are under way are refused: that is one request for fewer.
        for _ in 0..=64 {
            state.fewer();
        }
        assert_eq!(state.now, 32);
        for _ in 0..1_000 {
            state.fewer();
        }
        assert_eq!(state.now, FEWEST);
        let (widths, _) = asked(&mut state, 100, 5_000);
        assert_eq!(widths.last(), Some(&MOST));
    }

    #[test]
    fn a_number_that_is_given_stays() {
        let width = Width::new(Some(3));
        for _ in 0..1_000 {
            width.ended(None);
        }
        assert_eq!(width.now(), 3);
        assert_eq!(Width::new(Some(0)).now(), 1);
    }
}
