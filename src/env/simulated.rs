//! The host of the simulator: a clock, a timer and random numbers that it decides. Compiled only
//! with the feature `simulation`, which no package has.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::time::Time;

/// What a simulated host decides.
pub trait Host {
    /// The current time.
    fn now(&self) -> Time;
    /// Resolves after the given time.
    fn sleep(&self, wait: Duration) -> LocalBoxFuture<'static, ()>;
    /// A number from 0 (inclusive) to 1 (exclusive).
    fn unit(&self) -> f64;
}

thread_local! {
    static HOST: RefCell<Option<Rc<dyn Host>>> = const { RefCell::new(None) };
}

/// Sets the host of this thread; with `None` it is the real one again.
pub fn set(host: Option<Rc<dyn Host>>) {
    HOST.with_borrow_mut(|held| *held = host);
}

/// The simulated host of this thread.
pub(super) fn host() -> Option<Rc<dyn Host>> {
    HOST.with_borrow(Clone::clone)
}
