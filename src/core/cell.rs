//! A `RefCell` whose borrows end with a trap. A trap runs no destructors, so an ordinary borrow
//! would never be released, and every later call would panic with "already borrowed". Here a borrow
//! records the number of traps at the time it was taken. A borrow from before the last trap is
//! released, because no code that was on the stack then will continue.
//!
//! If a trap interrupts a mutation, the value may be inconsistent: [`RefCell::is_torn`] reports
//! this, and the owner of the cell refuses further calls. A value that can be rebuilt, such as a
//! cache, is rebuilt instead ([`RefCell::renewable`]).
//!
//! A borrow must not be held across an `await`: a future on the heap can continue after a trap.

use std::cell::{Cell, UnsafeCell};
use std::fmt::{Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

use crate::core::running;

/// Value of `borrows` while the cell is borrowed mutably.
const CHANGING: isize = -1;

/// A value whose borrows are checked at run time.
pub struct RefCell<T> {
    state: State,
    fresh: Option<fn() -> T>,
    value: UnsafeCell<T>,
}

/// What is the same for values of all types, so that it is compiled once.
struct State {
    /// Number of readers, or [`CHANGING`].
    borrows: Cell<isize>,
    /// Number of traps at the time of the last borrow.
    traps: Cell<u32>,
    torn: Cell<bool>,
}

impl State {
    /// Releases borrows from before the last trap. Returns whether it interrupted a mutation.
    #[inline(never)]
    fn is_interrupted(&self) -> bool {
        let traps = running::traps();
        self.traps.replace(traps) != traps && self.borrows.replace(0) == CHANGING
    }

    /// Begins a borrow, unless another one excludes it.
    #[inline(never)]
    fn begins(&self, changes: bool) -> bool {
        let next = match self.borrows.get() {
            0 if changes => CHANGING,
            CHANGING => return false,
            _ if changes => return false,
            readers => readers + 1,
        };
        self.borrows.set(next);
        true
    }

    /// Ends a borrow that began after so many traps.
    #[inline(never)]
    fn end(&self, traps: u32) {
        // A borrow from before a trap was already released.
        if self.traps.get() == traps {
            let left = self.borrows.get();
            self.borrows
                .set(if left == CHANGING { 0 } else { left - 1 });
        }
    }
}

/// A shared borrow.
pub struct Ref<'a, T> {
    cell: &'a RefCell<T>,
    traps: u32,
}

/// A mutable borrow.
pub struct RefMut<'a, T> {
    cell: &'a RefCell<T>,
    traps: u32,
}

impl<T> RefCell<T> {
    /// A cell that contains `value`.
    pub const fn new(value: T) -> RefCell<T> {
        RefCell {
            state: State {
                borrows: Cell::new(0),
                traps: Cell::new(0),
                torn: Cell::new(false),
            },
            fresh: None,
            value: UnsafeCell::new(value),
        }
    }

    /// A cell whose value is rebuilt with `fresh` if a trap interrupts a mutation.
    pub fn renewable(fresh: fn() -> T) -> RefCell<T> {
        RefCell {
            fresh: Some(fresh),
            ..RefCell::new(fresh())
        }
    }

    /// Stores a value and returns the previous one.
    pub fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.borrow_mut(), value)
    }
}

impl<T: Default> RefCell<T> {
    /// Takes the value and leaves the default.
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

impl<T> RefCell<T> {
    /// Releases borrows from before the last trap.
    fn settle(&self) {
        if self.state.is_interrupted() {
            self.mend();
        }
    }

    #[cold]
    #[inline(never)]
    fn mend(&self) {
        match self.fresh {
            Some(fresh) => *self.borrow_mut() = fresh(),
            None => self.state.torn.set(true),
        }
    }

    /// Whether a trap interrupted a mutation, so that the value may be inconsistent.
    pub fn is_torn(&self) -> bool {
        self.settle();
        self.state.torn.get()
    }

    /// Borrows the value for reading.
    #[expect(clippy::panic, reason = "as std's own: a defect of the caller")]
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        match self.try_borrow() {
            Some(value) => value,
            None => panic!("already mutably borrowed"),
        }
    }

    /// Borrows the value for reading, unless it is borrowed mutably.
    pub fn try_borrow(&self) -> Option<Ref<'_, T>> {
        self.settle();
        self.state.begins(false).then(|| Ref {
            cell: self,
            traps: self.state.traps.get(),
        })
    }

    /// Borrows the value mutably.
    #[expect(clippy::panic, reason = "as std's own: a defect of the caller")]
    #[track_caller]
    pub fn borrow_mut(&self) -> RefMut<'_, T> {
        self.settle();
        if !self.state.begins(true) {
            panic!("already borrowed");
        }
        RefMut {
            cell: self,
            traps: self.state.traps.get(),
        }
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: while this reader is counted, nobody can mutate the value. It is counted until it
        // is dropped, or until a trap ends the call that held it.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T> Drop for Ref<'_, T> {
    fn drop(&mut self) {
        self.cell.state.end(self.traps);
    }
}

impl<T> Deref for RefMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only borrow until it is dropped, or until a trap ends the call that
        // held it.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T> DerefMut for RefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.cell.value.get() }
    }
}

impl<T> Drop for RefMut<'_, T> {
    fn drop(&mut self) {
        self.cell.state.end(self.traps);
    }
}

impl<T: Default> Default for RefCell<T> {
    fn default() -> RefCell<T> {
        RefCell::new(T::default())
    }
}

impl<T: Debug> Debug for RefCell<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.try_borrow() {
            Some(value) => value.fmt(f),
            None => f.write_str("being changed"),
        }
    }
}

/// Access to a thread-local cell, as in the standard library.
pub trait LocalCell<T> {
    /// Reads the value.
    fn with_borrow<R>(&'static self, read: impl FnOnce(&T) -> R) -> R;
    /// Changes the value.
    fn with_borrow_mut<R>(&'static self, change: impl FnOnce(&mut T) -> R) -> R;
}

impl<T> LocalCell<T> for LocalKey<RefCell<T>> {
    fn with_borrow<R>(&'static self, read: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| read(&cell.borrow()))
    }

    fn with_borrow_mut<R>(&'static self, change: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| change(&mut cell.borrow_mut()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_a_trap_ended_leaves_nothing_behind() {
        let cell = RefCell::new(1);
        std::mem::forget(cell.borrow());
        std::mem::forget(cell.borrow());
        running::trapped(0, true);
        *cell.borrow_mut() += 1;
        assert_eq!(*cell.borrow(), 2);
        assert!(!cell.is_torn());
    }

    #[test]
    fn a_change_that_a_trap_ended_is_told() {
        let cell = RefCell::new(1);
        std::mem::forget(cell.borrow_mut());
        running::trapped(0, true);
        assert!(cell.is_torn() && cell.is_torn());
        assert_eq!(*cell.borrow(), 1);
    }

    #[test]
    fn a_renewable_value_is_made_anew_after_a_change_that_a_trap_ended() {
        let cell = RefCell::renewable(|| 7);
        *cell.borrow_mut() = 1;
        std::mem::forget(cell.borrow());
        running::trapped(0, true);
        assert_eq!(*cell.borrow(), 1, "a sound value is kept");
        std::mem::forget(cell.borrow_mut());
        running::trapped(0, true);
        assert_eq!(*cell.borrow(), 7);
        assert!(!cell.is_torn());
    }

    #[test]
    fn a_trap_further_down_the_stack_ends_no_borrow() {
        let cell = RefCell::new(1);
        let reader = cell.borrow();
        running::trapped(0, false);
        assert_eq!(*reader, 1);
        assert!(
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(cell.borrow_mut())))
                .is_err()
        );
        drop(reader);
        *cell.borrow_mut() = 2;
    }

    #[test]
    fn a_borrow_from_before_a_trap_does_not_end_one_from_after_it() {
        let cell = RefCell::new(1);
        let old = cell.borrow();
        running::trapped(0, true);
        let new = cell.borrow_mut();
        drop(old);
        assert!(cell.try_borrow().is_none());
        drop(new);
        assert!(cell.try_borrow().is_some());
    }

    #[test]
    fn two_changes_at_once_are_a_defect() {
        let cell = RefCell::new(1);
        let _one = cell.borrow_mut();
        assert!(cell.try_borrow().is_none());
    }
}
