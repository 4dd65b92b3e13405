//! How a layer that keeps contents elsewhere, as a history or a kept turn does, tells the layers below
//! it of what comes back from there. Labels of contents would be lost on that way. It is a part of
//! `Capability`, since every wrapper passes that on.

use std::fmt;
use std::rc::Rc;

use bytes::Bytes;

use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::SharedBackend;

/// A layer that must know of contents that do not come from the files themselves.
pub trait Origin {
    /// A backend with earlier contents of the files, such as those of a pin, as this layer reads it.
    fn earlier(&self, at: SharedBackend) -> SharedBackend;

    /// A backend in which changes are kept that are not made yet, as this layer uses it.
    fn kept(&self, at: SharedBackend) -> SharedBackend;

    /// The caller is about to store these contents beside the files, for changes of these files that may be
    /// broken off.
    fn keeps<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()>;

    /// The caller is about to be shown earlier contents of files.
    fn shows<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()>;
}

/// All such layers below a backend.
#[derive(Clone, Default)]
pub struct Origins(Vec<Rc<dyn Origin>>);

impl Origins {
    /// Adds one.
    pub fn push(&mut self, origin: Rc<dyn Origin>) {
        self.0.push(origin);
    }

    /// Adds those of another backend.
    pub fn extend(&mut self, others: Origins) {
        self.0.extend(others.0);
    }

    /// See [`Origin::earlier`].
    pub fn earlier(&self, at: SharedBackend) -> SharedBackend {
        self.0.iter().fold(at, |at, origin| origin.earlier(at))
    }

    /// See [`Origin::kept`].
    pub fn kept(&self, at: SharedBackend) -> SharedBackend {
        self.0.iter().fold(at, |at, origin| origin.kept(at))
    }

    /// See [`Origin::shows`].
    pub fn shows<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            for origin in &self.0 {
                origin.shows(files).await?;
            }
            Ok(())
        })
    }

    /// See [`Origin::keeps`].
    pub fn keeps<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            for origin in &self.0 {
                origin.keeps(files).await?;
            }
            Ok(())
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} origins", self.0.len())
    }
}

/// They say nothing of what a backend guarantees.
impl PartialEq for Origins {
    fn eq(&self, other: &Origins) -> bool {
        self.0.len() == other.0.len()
    }
}

impl Eq for Origins {}
