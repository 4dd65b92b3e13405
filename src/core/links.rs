//! Whether the current call may follow symbolic links. A rule judges the path that it is given. If
//! the storage followed a link, the rule would have judged one place, and the bytes would be in
//! another. So a policy with rules about paths runs the calls below it with links refused, and a
//! storage that has links asks here each time it calls its host.

use std::future::poll_fn;

use futures_util::future::LocalBoxFuture;

use crate::core::running;

/// Whether links are refused in the part of a call that runs now.
pub fn refused() -> bool {
    running::links_refused()
}

/// The same future; everything that it does is done with links refused.
pub fn refusing<'a, T: 'a>(mut future: LocalBoxFuture<'a, T>) -> LocalBoxFuture<'a, T> {
    Box::pin(poll_fn(move |context| {
        running::refusing_links(|| future.as_mut().poll(context))
    }))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::core::running::{Call, within};

    #[test]
    fn links_are_refused_only_within_the_wrapped_future() {
        within(Call::new(), || {
            assert!(!refused());
            let inner = refusing(Box::pin(async { refused() }));
            let seen = async { (refused(), inner.await, refused()) }.now_or_never();
            assert_eq!(seen, Some((false, true, false)));
        });
    }

    #[test]
    fn a_call_begun_after_a_trap_does_not_inherit_the_refusal() {
        within(Call::new(), || {
            let trap = std::panic::AssertUnwindSafe(|| {
                running::refusing_links(|| panic!("as a trap ends a call"));
            });
            assert!(std::panic::catch_unwind(trap).is_err());
        });
        within(Call::new(), || assert!(!refused()));
    }
}
