//! Somebody keeps a copy of a journal of this process, and puts it back while the commit is taken back.

use super::store::single;
use super::*;
use crate::core::cell::RefCell;
use crate::core::error::Kind;
use crate::core::future::done;
use crate::protocol::{Answer, Request};

const JOURNAL: &str = "/.kitbag/turns/journal";

/// Whoever watches the journal: when it says that the files are changed, one of them is; when it says that
/// they are changed back, an older form of it is there again, and the process fails at its next step.
struct Watched {
    inner: SharedBackend,
    /// The forms that the journal had.
    forms: RefCell<Vec<String>>,
    /// Which of them is put back.
    back: usize,
    fails: Cell<bool>,
}

impl Watched {
    fn meddle(&self) {
        let Some(form) = body(&*self.inner, JOURNAL) else {
            return;
        };
        let mut forms = self.forms.borrow_mut();
        if forms.last() == Some(&form) {
            return;
        }
        forms.push(form);
        match forms.len() {
            2 => put(&*self.inner, "/b", "changed"),
            3 => {
                put(&*self.inner, JOURNAL, &forms[self.back]);
                // What differed is as the commit expects it.
                put(&*self.inner, "/b", "old");
                self.fails.set(true);
            }
            _ => {}
        }
    }
}

impl Backend for Watched {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn atomic(&self) -> crate::protocol::Atomic<'_> {
        crate::protocol::Atomic::Conditional
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if self.fails.take() {
            return done(Err(Error::new(Kind::Unavailable, "The process is stuck")));
        }
        Box::pin(async move {
            let answer = self.inner.call(request).await;
            self.meddle();
            answer
        })
    }
}

#[test]
fn a_journal_that_is_taken_back_is_never_carried_out_again() {
    for back in [0, 1] {
        let watched = Rc::new(Watched {
            inner: single(),
            forms: RefCell::default(),
            back,
            fails: Cell::new(false),
        });
        put(&*watched.inner, "/a", "old");
        put(&*watched.inner, "/b", "old");
        let base: SharedBackend = watched.clone();
        let turn = begin(&base);
        put(&turn, "/a", "new");
        put(&turn, "/b", "new");
        let error = block_on(turn.commit()).expect_err("it fails");
        assert!(error.to_string().contains("stuck"), "{error}");
        assert_eq!(watched.forms.borrow().len(), 3);
        assert_eq!(body(&*watched.inner, "/a").as_deref(), Some("new"));
        // Whoever comes next takes the commit back.
        assert_eq!(body(&begin(&base), "/a").as_deref(), Some("old"));
        assert_eq!(body(&*watched.inner, "/b").as_deref(), Some("old"));
        assert_eq!(body(&*watched.inner, JOURNAL), None);
        // Later the copy is one of unknown origin.
        let forms = watched.forms.borrow();
        assert!(forms[1].contains("applying") && forms[2].contains("undoing"));
    }
}
