//! Who changes files, and over which backend.

use std::rc::Rc;

use super::Overlays;
use crate::protocol::SharedBackend;

/// Whose rules judge a change, and finish one that was broken off.
#[derive(Clone)]
pub(super) struct Finisher {
    pub(super) by: Rc<str>,
    pub(super) top: SharedBackend,
    pub(super) overlays: Overlays,
}
