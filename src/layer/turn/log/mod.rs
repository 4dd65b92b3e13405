//! The log of a turn that is kept beyond its process. The turn reaches it only through [`Recorder`], so
//! that its code is in the chunk that makes one, and not in that of turns.

mod entry;
mod recorder;
mod store;
mod watch;

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::overlay::{Listener, Overlay};
use crate::core::error::Result;
use crate::core::future::Pending;

pub(super) use recorder::LogRecorder;
pub use recorder::kept;
pub(super) use watch::Watch;

/// Records what happens in an overlay.
pub(super) trait Recorder: Listener {
    /// Reads what was recorded, once.
    fn load<'a>(&'a self, overlay: &'a Overlay) -> Pending<'a, ()>;

    /// Records what was read, and with `changes` what was changed. If that fails, the changes are gone.
    fn record<'a>(&'a self, overlay: &'a Overlay, changes: bool) -> Pending<'a, ()>;

    /// Records that a commit begins.
    fn committing<'a>(&'a self, overlay: &'a Overlay) -> Pending<'a, ()>;

    /// Deletes what was recorded of an overlay that was cleared. If that fails, it is done later.
    fn cleared(&self) -> LocalBoxFuture<'_, ()>;

    /// Keeps a note with the turn, in the place of the one before.
    fn note(&self, note: Rc<str>) -> Pending<'_, ()>;

    /// The note that is kept with the turn.
    fn noted(&self) -> Pending<'_, Option<Rc<str>>>;

    /// Tells of the overlay's changes.
    fn watch(&self) -> &Watch;
}

/// The answer of a call that was recorded, or was not.
pub(super) fn recorded<T>(answer: Result<T>, record: Result<()>) -> Result<T> {
    match record {
        Err(error) if answer.is_ok() => Err(error),
        _ => answer,
    }
}
