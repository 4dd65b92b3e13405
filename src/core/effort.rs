//! What a storage was asked for the sake of one call: requests, and how many of them were repeated.
//! Counted only while somebody watches the call, and by call, since calls run at the same time.

use crate::core::cell::{LocalCell, RefCell};
use crate::core::running;

thread_local! {
    static WATCHED: RefCell<Vec<Watched>> = const { RefCell::new(Vec::new()) };
}

/// What one call has asked of storages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Requests to a server, statements to a database.
    pub requests: u32,
    /// Requests that were sent again after a failure.
    pub retries: u32,
}

struct Watched {
    call: u32,
    meters: u32,
    effort: Effort,
}

/// Watches the current call from here on.
pub struct Meter {
    call: u32,
    before: Effort,
}

impl Meter {
    /// Begins to watch.
    pub fn begin() -> Meter {
        let call = running::current();
        WATCHED.with_borrow_mut(|watched| {
            let before = match watched.iter_mut().find(|one| one.call == call) {
                Some(one) => {
                    one.meters += 1;
                    one.effort
                }
                None => {
                    let effort = Effort::default();
                    watched.push(Watched {
                        call,
                        meters: 1,
                        effort,
                    });
                    effort
                }
            };
            Meter { call, before }
        })
    }

    /// What was asked since it began.
    pub fn effort(&self) -> Effort {
        let now = WATCHED.with_borrow(|watched| {
            let mine = watched.iter().find(|one| one.call == self.call);
            mine.map(|one| one.effort).unwrap_or_default()
        });
        Effort {
            requests: now.requests.saturating_sub(self.before.requests),
            retries: now.retries.saturating_sub(self.before.retries),
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        WATCHED.with_borrow_mut(|watched| {
            watched.retain_mut(|one| {
                one.meters -= u32::from(one.call == self.call);
                one.meters > 0
            });
        });
    }
}

/// Counts for the current call.
#[inline(never)]
fn count(requests: u32, retries: u32) {
    WATCHED.with_borrow_mut(|watched| {
        if watched.is_empty() {
            return;
        }
        let call = running::current();
        if let Some(one) = watched.iter_mut().find(|one| one.call == call) {
            one.effort.requests = one.effort.requests.saturating_add(requests);
            one.effort.retries = one.effort.retries.saturating_add(retries);
        }
    });
}

/// A request is sent.
pub fn requested() {
    count(1, 0);
}

/// Something is done again.
pub fn repeated() {
    count(0, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::running::{Call, within};

    #[test]
    fn each_call_has_its_own_count_and_nothing_is_left_behind() {
        let (one, other) = (Call::new(), Call::new());
        let mine = within(one, Meter::begin);
        let theirs = within(other, Meter::begin);
        within(one, requested);
        let inner = within(one, Meter::begin);
        within(one, || (requested(), repeated()));
        within(other, requested);
        let effort = |requests, retries| Effort { requests, retries };
        assert_eq!(mine.effort(), effort(2, 1));
        assert_eq!(inner.effort(), effort(1, 1));
        assert_eq!(theirs.effort(), effort(1, 0));
        drop((mine, inner));
        within(one, requested);
        drop(theirs);
        assert!(WATCHED.with_borrow(Vec::is_empty));
    }
}
