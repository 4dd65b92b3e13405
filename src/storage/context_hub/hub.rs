//! A repo that can be pulled and committed to, as the storage sees it.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::future::Pending;

/// The content of a repo, as pulled.
#[derive(Clone, Debug, Default)]
pub struct Pulled {
    /// File texts by key, without a leading `/`.
    pub files: Vec<(String, Bytes)>,
    /// Keys of entries that are links to other repos.
    pub links: Vec<String>,
    /// The commit, if the repo has one.
    pub commit: Option<Rc<str>>,
}

/// The changes of one commit: texts by key, `None` for a deletion.
pub type Changes = Vec<(String, Option<Bytes>)>;

/// A repo that can be pulled and committed to.
pub trait Hub {
    /// Pulls the newest commit; empty if the repo does not exist.
    fn pull(&self) -> Pending<'_, Pulled>;

    /// Commits on top of `parent` and returns the new commit if it is known. Fails with `conflict`
    /// if `parent` is no longer the newest commit.
    fn push<'a>(
        &'a self,
        changes: &'a Changes,
        parent: Option<Rc<str>>,
    ) -> Pending<'a, Option<Rc<str>>>;
}
