//! Who changes files, and over which backend.

use std::rc::Rc;

use super::super::overlay::Overlays;
use crate::protocol::SharedBackend;

/// Whose rules judge a change, and who finishes one that was broken off.
#[derive(Clone)]
pub(in crate::layer::turn) struct Author {
    pub(in crate::layer::turn) by: Rc<str>,
    pub(in crate::layer::turn) top: SharedBackend,
    pub(in crate::layer::turn) overlays: Overlays,
}
