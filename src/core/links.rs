//! Whether the current call may follow symbolic links. A rule judges the path that it is given. If
//! the storage followed a link, the rule would have judged one place, and the bytes would be in
//! another. So a policy with rules about paths runs the calls below it with links refused, and a
//! storage that has links asks here each time it calls its host.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::core::running;

/// Whether links are refused in the part of a call that runs now.
pub fn refused() -> bool {
    running::links_refused()
}

/// The same future; everything that it does is done with links refused.
pub fn refusing<F: Future + Unpin>(future: F) -> Refusing<F> {
    Refusing(future)
}

/// A future that runs with links refused.
pub struct Refusing<F>(F);

impl<F: Future + Unpin> Future for Refusing<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let before = running::refuse_links(true);
        let polled = Pin::new(&mut self.0).poll(context);
        running::refuse_links(before);
        polled
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::core::running::{Call, within};
    use crate::core::testing::{now, waits};

    #[test]
    fn links_are_refused_only_within_the_wrapped_future() {
        within(Call::new(), || {
            assert!(!refused());
            let inner = refusing(Box::pin(async { refused() }));
            let seen = now(async { (refused(), inner.await, refused()) });
            assert_eq!(seen, (false, true, false));
        });
    }

    #[test]
    fn a_call_begun_after_a_trap_does_not_inherit_the_refusal() {
        within(Call::new(), || {
            let trapped = refusing(Box::pin(async { panic!("as a trap ends a call") }));
            let trap = std::panic::AssertUnwindSafe(|| waits(trapped));
            let outcome: std::thread::Result<bool> = std::panic::catch_unwind(trap);
            assert!(outcome.is_err());
        });
        within(Call::new(), || assert!(!refused()));
    }
}
