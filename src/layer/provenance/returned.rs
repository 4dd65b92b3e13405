//! Contents that come back from elsewhere: from a history, a pin, a receipt or a turn that was kept.
//! What had a label when it left a file has it when it returns, whoever brings it: the book has the
//! digests of such contents. They are recorded before a change that replaces or deletes them.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::layer::provenance::book::{Book, Version};
use crate::layer::provenance::labels::Labels;
use crate::layer::provenance::{Provenance, Shared};
use crate::protocol::{Aboard, Operation, Origin, SharedBackend, files_beneath};

/// Contents with their labels.
pub(super) type Leaving = Vec<(Version, Labels)>;

impl Provenance {
    /// The same conversation over a backend.
    pub(super) fn same(&self, inner: &SharedBackend) -> Provenance {
        self.with(inner, &self.shared)
    }

    fn with(&self, inner: &SharedBackend, shared: &Rc<Shared>) -> Provenance {
        Provenance {
            inner: inner.clone(),
            shared: shared.clone(),
            taint: self.taint.clone(),
            is_earlier: false,
        }
    }

    /// The labels of a content that is about to be stored: those of the conversation, and those that it
    /// had before.
    pub(super) async fn incoming(&self, body: Option<&Bytes>) -> Result<Labels> {
        let mut labels = self.taint.labels();
        if let Some(body) = body.filter(|body| !body.is_empty()) {
            let book = self.load().await?;
            if book.has_contents() && !has(Bug::ContentUnjudged) {
                labels.merge(&book.content(Version::of(body)));
            }
        }
        Ok(labels)
    }

    /// What a labelled file holds, which a change is about to replace.
    pub(super) async fn leaving(&self, book: &Book, path: &VPath) -> Option<(Version, Labels)> {
        if !book.knows(path) {
            return None;
        }
        let version = self.version(path).await?;
        let labels = book.labels(path, Some(version));
        (!labels.is_empty()).then_some((version, labels))
    }

    /// The same for all files at and below a path.
    pub(super) async fn leaving_below(&self, book: &Book, path: &VPath) -> Result<Leaving> {
        let mut paths = book.below(path);
        if book.record(&VPath::root()).is_some() {
            // Every file may have the labels of a command.
            let files = files_beneath(&*self.inner, path).await?;
            paths = files.into_iter().map(|info| info.path).collect();
            paths.push(path.clone());
        }
        let mut leaving = Vec::new();
        for path in paths {
            leaving.extend(self.leaving(book, &path).await);
        }
        Ok(leaving)
    }
}

/// Records contents, if the book does not have them yet.
pub(super) fn remember(book: &mut Book, leaving: &[(Version, Labels)]) {
    for (version, labels) in leaving {
        book.remember(*version, labels);
    }
}

impl Origin for Provenance {
    fn carry(&self, cargo: Aboard) -> Aboard {
        self.taint.carry(cargo)
    }

    fn earlier(&self, at: SharedBackend) -> SharedBackend {
        if has(Bug::PinUntold) {
            return at;
        }
        let mut earlier = self.same(&at);
        earlier.is_earlier = true;
        Rc::new(earlier)
    }

    fn kept(&self, at: SharedBackend) -> SharedBackend {
        match &self.shared.kept {
            Some(kept) if !has(Bug::KeptUnlabelled) => Rc::new(self.with(&at, kept)),
            _ => at,
        }
    }

    fn keeps<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            let (taint, book) = (self.taint.now().labels(), self.load().await?);
            if taint.is_empty() && !book.has_contents() {
                return Ok(());
            }
            let kept = files.iter().map(|(_, body)| {
                let (version, mut labels) = (Version::of(body), taint.clone());
                labels.merge(&book.content(version));
                (version, labels)
            });
            let kept: Leaving = kept.filter(|(_, labels)| !labels.is_empty()).collect();
            if !kept.is_empty() {
                let note = |book: &mut Book| remember(book, &kept);
                self.shared.ledger.update(&note).await?;
            }
            Ok(())
        })
    }

    fn shows<'a>(&'a self, files: &'a [(VPath, Bytes)]) -> Pending<'a, ()> {
        Box::pin(async move {
            let (taint, book) = (self.taint.now(), self.load().await?);
            for (path, body) in files.iter().filter(|(_, body)| !body.is_empty()) {
                let mut labels = self.shared.fixed(path);
                if book.knows(path) || book.has_contents() {
                    let version = Version::of(body);
                    labels.merge(&book.labels(path, Some(version)));
                    labels.merge(&book.content(version));
                }
                taint.add(Operation::Read, path, &labels);
            }
            Ok(())
        })
    }
}
