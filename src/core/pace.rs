//! Pauses in long work. An engine that is given much says how far it is, and the pace lets the host do
//! other work after each few milliseconds: a signal or a timer can end the call then, and a page draws
//! its frames. A call that may not wait, such as one of a `StateBackend`, never pauses.

use std::cell::Cell;

use futures_util::future::LocalBoxFuture;

use super::running;
use super::time::Time;

/// Microseconds of work between two pauses: a third of a frame of a page, because the last part of a
/// slice and what the host does besides take time, too.
const SLICE: i64 = 5_000;

/// Items of work between two looks at the clock. An item is a line, or about 64 bytes.
pub const ITEMS: usize = 2_048;

/// Items of work at once, such as one long path, that are a slice by themselves. The clock, which is asked
/// only after them, does not know when they began.
const MUCH: usize = 16 * ITEMS;

/// Items that a call of a backend is about, with what its host collects after it.
pub const CALL: usize = 512;

/// Bytes that are about one item.
const ITEM_BYTES: usize = 64;

/// When the work began that the next pause ends, once the clock was asked.
#[derive(Default)]
pub struct Slice(Cell<Option<Time>>);

impl Slice {
    /// Another slice of work begins. The clock is asked for its start with the first look, so that
    /// little work does not ask at all.
    pub fn end(&self) {
        self.0.set(None);
    }

    /// Another slice of work begins at this time.
    fn begin(&self, now: Time) {
        self.0.set(Some(now));
    }

    /// Work goes on, or begins, at this time. Returns whether the slice is long enough for a pause.
    pub fn look(&self, now: Time) -> bool {
        let since = self.0.get().unwrap_or(now);
        // A clock that was set back begins a slice.
        let since = since.min(now);
        self.0.set(Some(since));
        now.micros().saturating_sub(since.micros()) >= SLICE
    }
}

/// The pauses of one call.
pub struct Pace {
    now: fn() -> Time,
    /// How to pause; `None` if the call may not wait.
    pause: Option<fn() -> LocalBoxFuture<'static, ()>>,
    slice: Slice,
    items: Cell<usize>,
}

impl Pace {
    /// The pace of the current call.
    pub fn new(now: fn() -> Time, pause: fn() -> LocalBoxFuture<'static, ()>) -> Pace {
        Pace {
            pause: running::may_wait().then_some(pause),
            ..Pace::steady(now)
        }
    }

    /// One without pauses.
    fn steady(now: fn() -> Time) -> Pace {
        Pace {
            now,
            pause: None,
            slice: Slice::default(),
            items: Cell::new(0),
        }
    }

    /// Records work, and pauses if one is due.
    pub async fn worked(&self, items: usize) {
        if let Some(pause) = self.due(items) {
            pause.await;
            self.slice.begin((self.now)());
        }
    }

    /// Records work with so many bytes, and pauses if one is due.
    pub async fn read(&self, bytes: usize) {
        self.worked(bytes / ITEM_BYTES).await;
    }

    /// Records a call of a backend, which may answer at once, and pauses if that is due.
    pub async fn called(&self) {
        self.worked(CALL).await;
    }

    fn due(&self, items: usize) -> Option<LocalBoxFuture<'static, ()>> {
        let items = self.items.get().saturating_add(items);
        self.items.set(items);
        match items < ITEMS {
            true => None,
            false => self.look(),
        }
    }

    /// Apart, because it is seldom called from many places.
    #[inline(never)]
    fn look(&self) -> Option<LocalBoxFuture<'static, ()>> {
        let items = self.items.take();
        let pause = self.pause?;
        (items >= MUCH || self.slice.look((self.now)())).then(pause)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A pace for tests of engines: no call is running, so it does not pause.
    pub(crate) fn steady() -> Pace {
        Pace::steady(Time::default)
    }

    thread_local! {
        static NOW: Cell<i64> = const { Cell::new(0) };
        static PAUSES: Cell<usize> = const { Cell::new(0) };
    }

    /// A millisecond goes by with each look.
    fn clock() -> Time {
        NOW.set(NOW.get() + 1_000);
        Time::from_micros(NOW.get())
    }

    fn pause() -> LocalBoxFuture<'static, ()> {
        PAUSES.set(PAUSES.get() + 1);
        Box::pin(std::future::ready(()))
    }

    fn pauses(pace: &Pace) -> usize {
        PAUSES.set(0);
        for _ in 0..60 {
            crate::core::testing::now(pace.worked(ITEMS));
        }
        PAUSES.get()
    }

    #[test]
    fn work_pauses_after_each_slice_if_the_call_may_wait() {
        let call = |waits: bool| running::Call {
            waits,
            ..running::Call::new()
        };
        let paced = |waits| running::within(call(waits), || pauses(&Pace::new(clock, pause)));
        assert_eq!(paced(true), 11);
        assert_eq!(paced(false), 0);
        assert_eq!(pauses(&Pace::new(clock, pause)), 0, "no call is running");
    }

    #[test]
    fn much_work_at_once_is_a_slice_whatever_the_clock_says() {
        let pace = Pace {
            pause: Some(pause),
            ..Pace::steady(Time::default)
        };
        PAUSES.set(0);
        crate::core::testing::now(pace.worked(MUCH - 1));
        assert_eq!(PAUSES.get(), 0, "no time has passed");
        crate::core::testing::now(pace.worked(MUCH));
        assert_eq!(PAUSES.get(), 1);
    }

    #[test]
    fn a_clock_that_is_set_back_begins_a_slice() {
        let slice = Slice::default();
        let at = |millis: i64| Time::from_micros(millis * 1_000);
        assert!(!slice.look(at(100)));
        assert!(!slice.look(at(10)));
        assert!(!slice.look(at(14)));
        assert!(slice.look(at(15)));
        slice.end();
        assert!(!slice.look(at(40)));
    }

    #[test]
    fn bytes_count_as_items() {
        let pace = Pace {
            pause: Some(pause),
            ..Pace::steady(clock)
        };
        PAUSES.set(0);
        for _ in 0..12 {
            crate::core::testing::now(pace.read(ITEMS * ITEM_BYTES / 2));
        }
        assert_eq!(PAUSES.get(), 1);
    }
}
