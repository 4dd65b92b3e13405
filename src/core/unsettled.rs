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
use crate::core::running;

/// How long a change waits for earlier work that was given up, if its caller sets no limit.
const PATIENCE: Duration = Duration::from_secs(30);

/// The host's timer.
pub type Sleep = fn(Duration) -> LocalBoxFuture<'static, ()>;

thread_local! {
    static LEFT: RefCell<Vec<(u32, Unsettled)>> = const { RefCell::new(Vec::new()) };
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
        left.retain(|(_, work)| !work.is_settled());
        let work = match left.iter().find(|(of, _)| *of == call) {
            Some((_, work)) => work.clone(),
            None => {
                let work = Unsettled::default();
                left.push((call, work.clone()));
                work
            }
        };
        work.0.borrow_mut().pieces += 1;
        Piece(work)
    })
}

/// What the current call has left behind.
pub fn of_this_call() -> Option<Unsettled> {
    let call = running::current();
    LEFT.with_borrow(|left| {
        let (_, work) = left.iter().find(|(of, _)| *of == call)?;
        (!work.is_settled()).then(|| work.clone())
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
