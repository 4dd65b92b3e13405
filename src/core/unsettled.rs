//! Work of the host that goes on after its call was given up. Dropping a call's future does not stop
//! what the host has begun: a `put` that was cancelled can still happen, over a newer one. So such
//! work is recorded here with its call, and what the call had locked stays closed to later changes
//! until the work has ended ([`queue`](crate::core::queue)).

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, select};

use crate::core::cell::{LocalCell, RefCell};
use crate::core::running::{self, Call, within};

/// How long a change waits for earlier work that was given up, if its caller sets no limit.
const PATIENCE: Duration = Duration::from_secs(30);

/// The host's timer.
pub type Sleep = fn(Duration) -> LocalBoxFuture<'static, ()>;

thread_local! {
    static LEFT: RefCell<Vec<Left>> = const { RefCell::new(Vec::new()) };
}

/// What a call has left behind.
struct Left {
    call: u32,
    /// Whether the storage refuses it once something newer is there.
    conditional: bool,
    work: Unsettled,
}

/// The unsettled work of one call.
#[derive(Clone, Default)]
pub struct Unsettled(Rc<RefCell<Waiting>>);

#[derive(Default)]
struct Waiting {
    pieces: usize,
    wakers: Vec<Waker>,
}

/// One piece of unsettled work.
pub struct Piece(Unsettled);

/// Records a piece of work that the current call leaves behind.
pub fn leave() -> Piece {
    let call = running::current();
    LEFT.with_borrow_mut(|left| {
        left.retain(|one| !one.work.is_settled());
        let same = |one: &&Left| one.call == call && !one.conditional;
        let work = match left.iter().find(same) {
            Some(one) => one.work.clone(),
            None => {
                let work = Unsettled::default();
                left.push(Left {
                    call,
                    conditional: false,
                    work: work.clone(),
                });
                work
            }
        };
        work.0.borrow_mut().pieces += 1;
        Piece(work)
    })
}

/// What the current call has left behind, if it may happen over a newer change.
pub fn of_this_call() -> Option<Unsettled> {
    let mut found = None;
    each_of_this_call(&mut |conditional, work| {
        if !conditional {
            found = Some(work.clone());
        }
    });
    found
}

/// All that the current call has left behind, each with whether it has a condition that the storage
/// checks.
pub fn each_of_this_call(visit: &mut dyn FnMut(bool, &Unsettled)) {
    let call = running::current();
    LEFT.with_borrow(|left| {
        for one in left {
            if one.call == call && !one.work.is_settled() {
                visit(one.conditional, &one.work);
            }
        }
    });
}

/// Gives up work with a condition that the storage checks, and returns what of it is left behind.
pub fn give_up_conditional(give_up: impl FnOnce()) -> Option<Unsettled> {
    let (call, own) = (running::current(), Call::new());
    within(own, give_up);
    LEFT.with_borrow_mut(|left| {
        let one = left.iter_mut().find(|one| one.call == own.number)?;
        one.call = call;
        one.conditional = true;
        Some(one.work.clone())
    })
}

impl Piece {
    /// The work has ended, whether well or not.
    pub fn settle(self) {
        let mut waiting = self.0.0.borrow_mut();
        waiting.pieces = waiting.pieces.saturating_sub(1);
        if waiting.pieces > 0 {
            return;
        }
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        for waker in wakers {
            waker.wake();
        }
    }
}

impl Unsettled {
    /// Whether all of it has ended.
    pub fn is_settled(&self) -> bool {
        self.0.borrow().pieces == 0
    }

    async fn settled(&self) {
        poll_fn(|context| {
            let mut waiting = self.0.borrow_mut();
            if waiting.pieces == 0 {
                return Poll::Ready(());
            }
            waiting.wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until all of it has ended; `false` if that takes too long.
    pub async fn wait(&self, sleep: Sleep) -> bool {
        select(pin!(self.settled()), sleep(PATIENCE)).await;
        self.is_settled()
    }
}
