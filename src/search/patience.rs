//! The time limit of a search. Engines take linear time, but a large expression on a long line can
//! still run for long, and the host cannot fire a timer meanwhile. So engines report their work in
//! steps, also within a line, and every few million steps the clock is checked. A search that may
//! wait lets the host do other work every few milliseconds, between two lines, so that a signal or a
//! timer can end it, and a page draws its frames.

use std::cell::Cell;

use crate::core::error::{Error, Kind};
use crate::core::pace::Slice;
use crate::core::time::Time;

/// Steps between two checks of the clock: a few hundredths of a second on a slow machine. One step
/// is about one byte of a search with a regular expression.
pub const STEPS: usize = 4_000_000;
/// Microseconds that the engines of one search may take if there is no deadline.
const MOST: i64 = 10_000_000;
/// Those of them that it may take whatever it searches; more bytes add more, up to [`MOST`].
const LEAST: i64 = 600_000;
/// Bytes for which a search may take three microseconds more: a hundred times what a quick engine takes.
const BYTES: usize = 10;
/// Steps from which on that holds: a search with fewer was kept waiting by a busy machine.
const MANY: usize = 1 << 26;

/// Steps between two questions whether a pause is due.
const PAUSE_STEPS: usize = STEPS / 16;
/// Steps for each row that is found.
const ROW_STEPS: usize = 32;

/// The fewest and the most bytes that an engine searches before the clock is asked.
const SHORTEST: usize = 4 << 10;
const LONGEST: usize = 128 << 10;
/// Microseconds: a segment that took less is followed by a longer one.
const QUICK: i64 = 1_000;
/// Microseconds: a segment that took more is followed by a shorter one.
const SLOW: i64 = 3_000;

/// The clock and the deadline of one search.
pub struct Patience {
    now: fn() -> Time,
    deadline: Option<Time>,
    /// When the engine began with the current body, and the microseconds it has taken so far.
    since: Cell<Option<Time>>,
    taken: Cell<i64>,
    /// The microseconds that it may take if there is no deadline.
    allowed: Cell<i64>,
    steps: Cell<usize>,
    all_steps: Cell<usize>,
    over: Cell<bool>,
    /// Whether the search may wait.
    pauses: Cell<bool>,
    slice: Slice,
    /// Steps since the clock was last checked for a pause.
    unchecked: Cell<usize>,
    /// Bytes to search before the clock is asked again.
    segment: Cell<usize>,
}

impl Patience {
    /// Stops at `deadline`; without one, when the engines have worked for ten seconds, or for long enough
    /// for so many bytes.
    pub fn until(deadline: Option<Time>, now: fn() -> Time) -> Patience {
        Patience {
            now,
            deadline,
            since: Cell::new(None),
            taken: Cell::new(0),
            allowed: Cell::new(LEAST),
            steps: Cell::new(0),
            all_steps: Cell::new(0),
            over: Cell::new(false),
            pauses: Cell::new(false),
            slice: Slice::default(),
            unchecked: Cell::new(0),
            segment: Cell::new(SHORTEST),
        }
    }

    /// From now on the search pauses after each slice of work.
    pub fn pausing(self) -> Patience {
        self.pauses.set(true);
        self
    }

    /// Whether the search of a body is divided into segments, even by an engine that is quick: its
    /// hits may be many.
    pub fn divides(&self, bytes: usize) -> bool {
        self.pauses.get() && bytes > SHORTEST * 8
    }

    /// Another slice of work begins. The clock is asked for its start with the first check, so that
    /// a small search does not ask at all.
    pub fn resume(&self) {
        self.slice.end();
        self.unchecked.set(0);
    }

    /// Whether the host should get a chance to do other work. The engine asks between two lines.
    pub fn is_pause_due(&self) -> bool {
        if !self.pauses.get() || self.unchecked.get() < PAUSE_STEPS {
            return false;
        }
        let is_due = self.slice.look((self.now)());
        if !is_due {
            self.unchecked.set(0);
        }
        is_due
    }

    /// How many bytes an engine should search before it asks whether a pause is due: as many as it
    /// does in a few milliseconds, by the segments so far.
    pub fn segment(&self) -> usize {
        self.segment.get()
    }

    /// The engine begins with a segment of a body.
    pub fn begin(&self) {
        let now = (self.now)();
        self.since.set(Some(now));
        self.slice.look(now);
    }

    /// The engine has finished a segment of so many bytes.
    pub fn end(&self, bytes: usize) {
        let before = self.taken.get();
        let (after, _) = self.look();
        let now = self.since.take();
        // Steps tell little of an engine that leaves out most of a body, and the clock is known here.
        if now.is_some_and(|now| self.slice.look(now)) {
            self.unchecked.set(PAUSE_STEPS);
        }
        let segment = self.segment.get();
        if bytes < segment {
            return;
        }
        self.unchecked.set(PAUSE_STEPS);
        let took = after.saturating_sub(before);
        self.segment.set(match took {
            _ if took < QUICK => segment.saturating_mul(2).min(LONGEST),
            _ if took > SLOW => (segment / 2).max(SHORTEST),
            _ => segment,
        });
    }

    /// So many more bytes are searched.
    pub fn covers(&self, bytes: usize) {
        let more = i64::try_from(bytes / BYTES * 3).unwrap_or(MOST);
        let allowed = self.allowed.get().saturating_add(more).min(MOST);
        self.allowed.set(allowed);
    }

    /// The microseconds that it may take if there is no deadline.
    fn most(&self) -> i64 {
        match self.all_steps.get() < MANY {
            true => MOST,
            false => self.allowed.get(),
        }
    }

    /// Records `steps` of work. Returns whether to continue.
    pub fn worked(&self, steps: usize) -> bool {
        self.unchecked
            .set(self.unchecked.get().saturating_add(steps));
        let all = self.all_steps.get().saturating_add(steps);
        self.all_steps.set(all);
        let steps = self.steps.get().saturating_add(steps);
        self.steps.set(steps);
        if steps >= STEPS {
            self.look();
        }
        !self.over.get()
    }

    /// Records rows that were found. They count for pauses only.
    pub fn found(&self, rows: usize) {
        let steps = rows.saturating_mul(ROW_STEPS);
        self.unchecked
            .set(self.unchecked.get().saturating_add(steps));
    }

    /// Updates the time taken. Returns the microseconds the engines have taken, and those left.
    pub fn look(&self) -> (i64, i64) {
        self.steps.set(0);
        let now = (self.now)();
        // Between bodies the search waits for the storage, which does not count as engine time.
        if let Some(since) = self.since.get() {
            let taken = now.micros().saturating_sub(since.micros()).max(0);
            self.taken.set(self.taken.get().saturating_add(taken));
            self.since.set(Some(now));
        }
        let left = match self.deadline {
            Some(deadline) => deadline.micros().saturating_sub(now.micros()),
            None => self.most().saturating_sub(self.taken.get()),
        };
        if left <= 0 {
            self.over.set(true);
        }
        (self.taken.get(), left)
    }

    /// The error if the search was stopped.
    pub fn over(&self) -> Option<Error> {
        self.over.get().then(|| {
            let limit = match self.deadline {
                Some(_) => "its time limit (timeoutMs)".to_owned(),
                None => {
                    let seconds = (self.most() + 999_999) / 1_000_000;
                    format!("the {seconds} s that a search of so many bytes may take")
                }
            };
            Error::new(
                Kind::Timeout,
                format!(
                    "The search would have taken longer than {limit}. Look in fewer files, or search \
                     for a text, or for an expression with fewer and smaller repetitions"
                ),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static SECOND: Cell<i64> = const { Cell::new(0) };
    }

    fn clock() -> Time {
        Time::from_micros(SECOND.get() * 1_000_000)
    }

    fn later(seconds: i64) {
        SECOND.set(SECOND.get() + seconds);
    }

    #[test]
    fn only_the_time_of_engines_counts_where_there_is_no_deadline() {
        let patience = Patience::until(None, clock);
        patience.covers(1 << 30);
        for _ in 0..9 {
            patience.begin();
            later(1);
            patience.end(1);
            later(100);
            assert!(patience.worked(STEPS), "waiting for a storage is no work");
        }
        patience.begin();
        later(1);
        assert!(!patience.worked(STEPS));
        assert!(
            patience
                .over()
                .is_some_and(|error| error.kind() == Kind::Timeout)
        );
    }

    #[test]
    fn a_search_may_take_longer_the_more_it_searches() {
        let ends_after = |bytes: usize| {
            let patience = Patience::until(None, clock);
            patience.covers(bytes);
            patience.begin();
            assert!(patience.worked(MANY));
            (1..20).find(|_| {
                later(1);
                !patience.worked(STEPS)
            })
        };
        assert_eq!(ends_after(1 << 10), Some(1));
        assert_eq!(ends_after(1 << 20), Some(1));
        assert_eq!(ends_after(16 << 20), Some(6));
        assert_eq!(ends_after(1 << 30), Some(10));
        let waiting = Patience::until(None, clock);
        waiting.begin();
        later(9);
        assert!(waiting.worked(STEPS), "it has hardly worked");
    }

    #[test]
    fn a_deadline_is_one_whatever_was_done_until_then() {
        let start = clock();
        let deadline = Time::from_micros(start.micros() + 60_000_000);
        let patience = Patience::until(Some(deadline), clock);
        patience.begin();
        later(59);
        patience.end(1);
        assert!(patience.worked(STEPS) && patience.over().is_none());
        later(1);
        assert!(!patience.worked(STEPS));
    }

    #[test]
    fn the_clock_is_asked_only_after_so_many_steps() {
        let patience = Patience::until(Some(clock()), clock);
        assert!(patience.worked(STEPS - 1));
        assert!(!patience.worked(1));
    }

    #[test]
    fn a_pause_is_due_after_a_slice_of_work_if_the_search_may_wait() {
        let patience = Patience::until(None, clock);
        later(1);
        patience.worked(STEPS);
        assert!(!patience.is_pause_due(), "it may not wait");
        let patience = Patience::until(None, clock).pausing();
        patience.worked(PAUSE_STEPS);
        assert!(!patience.is_pause_due(), "no time has passed");
        later(1);
        patience.worked(PAUSE_STEPS - 1);
        assert!(
            !patience.is_pause_due(),
            "the clock is not asked for so little"
        );
        patience.worked(1);
        assert!(patience.is_pause_due());
        patience.resume();
        assert!(!patience.is_pause_due());
        later(-100);
        patience.worked(PAUSE_STEPS);
        assert!(!patience.is_pause_due());
        later(1);
        patience.worked(PAUSE_STEPS);
        assert!(
            patience.is_pause_due(),
            "a clock that was set back began a slice"
        );
    }

    #[test]
    fn rows_that_are_found_count_for_pauses_and_not_for_the_time_limit() {
        let patience = Patience::until(None, clock).pausing();
        let rows = PAUSE_STEPS.div_ceil(ROW_STEPS);
        patience.found(rows);
        assert!(!patience.is_pause_due(), "the slice begins");
        later(1);
        patience.found(rows - 1);
        assert!(!patience.is_pause_due());
        patience.found(1);
        assert!(patience.is_pause_due());
        assert_eq!(patience.steps.get(), 0);
    }

    #[test]
    fn segments_grow_while_they_are_quick_and_shrink_when_they_are_slow() {
        let patience = Patience::until(None, clock).pausing();
        let least = patience.segment();
        for _ in 0..3 {
            patience.begin();
            patience.end(patience.segment());
        }
        assert_eq!(patience.segment(), least * 8);
        patience.begin();
        patience.end(1);
        assert_eq!(
            patience.segment(),
            least * 8,
            "the rest of a body says nothing"
        );
        patience.begin();
        later(1);
        patience.end(patience.segment());
        assert_eq!(patience.segment(), least * 4);
        assert!(
            patience.is_pause_due(),
            "the segment took longer than a slice"
        );
    }

    #[test]
    fn a_clock_that_goes_back_takes_nothing_away() {
        let patience = Patience::until(None, clock);
        patience.covers(1 << 30);
        patience.begin();
        later(9);
        patience.look();
        later(-100);
        assert!(patience.worked(STEPS));
        later(1);
        assert!(!patience.worked(STEPS));
    }
}
