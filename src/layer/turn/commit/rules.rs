//! Rules judge a change before any of it is made: they see it on an overlay, and what they let through is
//! made below them.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::super::overlay::{Overlay, TurnOptions};
use super::Author;
use super::plan::in_order;
use crate::core::error::{Error, Result};
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::layer::kit::{is_conflict, replace};
use crate::protocol::{Atomic, Backend, Guard, Replacement, SharedBackend};

/// What rules say of a change.
pub(super) enum Judgement {
    /// These files may be changed, to what the rules make of them.
    Passed(Vec<Replacement>),
    /// These files hold something else than is to be replaced.
    Differ(Vec<VPath>),
}

impl Author {
    /// Lets the rules of `at` judge a change.
    pub(super) async fn under(
        &self,
        at: &dyn Backend,
        guard: &dyn Guard,
        files: &[Replacement],
    ) -> Result<Judgement> {
        let options = TurnOptions { overwrite: true };
        // Whoever asks has looked for a commit that was broken off, or is finishing one.
        let scratch = Rc::new(Overlay::new(guard.inner(), None, &self.overlays, options));
        let mut differ = Vec::new();
        let mut refusal = None;
        let calls = async {
            let pace = Pace::new(clock::now, timer::pause);
            for file in in_order(files) {
                pace.called().await;
                match replace(at, file).await {
                    Ok(_) => {}
                    Err(error) if is_conflict(&error) => differ.push(file.path.clone()),
                    Err(error) => {
                        refusal = Some(error);
                        break;
                    }
                }
            }
        };
        guard.judging(scratch.clone(), Box::pin(calls)).await;
        if !differ.is_empty() || refusal.is_some() {
            // The rules have counted changes that are not made.
            guard.changed();
        }
        match refusal {
            Some(refusal) => Err(refusal),
            None if differ.is_empty() => Ok(Judgement::Passed(scratch.replacements().await?.0)),
            None => Ok(Judgement::Differ(differ)),
        }
    }

    /// What all rules make of a change, down to the backend below them; an error if they refuse it.
    pub(super) async fn judged(&self, files: Vec<Replacement>) -> Result<Vec<Replacement>> {
        self.judged_from(self.top.clone(), files).await
    }

    fn judged_from<'a>(
        &'a self,
        at: SharedBackend,
        files: Vec<Replacement>,
    ) -> LocalBoxFuture<'a, Result<Vec<Replacement>>> {
        Box::pin(async move {
            match at.atomic() {
                Atomic::Guarded(guard) => match self.under(&*at, guard, &files).await? {
                    Judgement::Passed(files) => {
                        let judged = self.judged_from(guard.inner(), files).await;
                        // What is changed now is changed below the rules.
                        guard.changed();
                        judged
                    }
                    Judgement::Differ(paths) => Err(match paths.first() {
                        Some(path) => Error::conflict(path),
                        None => Error::internal("Nothing differs"),
                    }),
                },
                Atomic::Inner(inner) => self.judged_from(inner, files).await,
                Atomic::Transaction(_)
                | Atomic::Immediate
                | Atomic::Together(_)
                | Atomic::Conditional
                | Atomic::Never => Ok(files),
            }
        })
    }
}
