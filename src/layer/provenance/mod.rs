//! Provenance: labels for files, such as `untrusted`, and rules about where labelled content may go.
//! Reading labelled bytes taints the conversation, and what a tainted conversation writes carries the
//! labels. It is a record and a gate; it does not judge content.
//!
//! One [`Provenance`] is one conversation. All conversations over the same files share the rules and
//! the book of labels. What a call reads is looked up in the book as it was before the call and as
//! it is after it, so that no change of another conversation in between can hide a label. What a
//! call writes is recorded before it is written; if it is broken off, the labels stay.
//!
//! A sync carries contents between trees without a conversation (`carried`).

mod book;
mod carried;
mod change;
mod gate;
mod labels;
mod ledger;
mod returned;
mod shell;
mod sound;
mod taint;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::links::refusing;
use crate::core::lock::Mutex;
use crate::core::path::VPath;
use crate::layer::folding::Folding;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, GrepQuery, GrepResult, Listings, Operation,
    Page, RawFile, ReadResult, Request, SharedBackend, answer, whole,
};

use book::{Book, Version};
use gate::Gate;
use ledger::Ledger;

pub use gate::{AskFlow, FlowQuestion, OnFlow, Sleep};
pub use labels::{Flow, LabelRule, Labels, Patterns, Then};
pub use ledger::LabelFile;
pub use sound::{label, patterns, seen};
pub use taint::Taint;

pub use crate::protocol::Seen;

/// Rules, and where labels are kept.
pub struct Options {
    /// Which paths have labels.
    pub labels: Vec<LabelRule>,
    /// Where labelled content may not go by itself.
    pub flows: Vec<Flow>,
    /// Who decides where a flow asks.
    pub ask: Option<AskFlow>,
    /// Where labels of written files are kept; in memory if absent.
    pub file: Option<LabelFile>,
}

/// What the conversations over the same files share.
struct Shared {
    rules: Vec<LabelRule>,
    gate: Gate,
    ledger: Ledger,
    /// The same for what conversations keep elsewhere, such as turns: labels only, since nothing there
    /// is a file that a rule could name.
    kept: Option<Rc<Shared>>,
    /// Held by a change that records labels, from its record until its content is stored. Never held
    /// while a person is asked or a command runs.
    changes: Mutex<()>,
    /// Held while a command runs that may write labelled content.
    commands: Mutex<()>,
}

/// A backend as one conversation sees it.
pub struct Provenance {
    inner: SharedBackend,
    shared: Rc<Shared>,
    taint: Rc<Taint>,
    /// Whether these are earlier contents, which have labels beside those of their paths.
    is_earlier: bool,
}

impl Provenance {
    /// The first conversation over a backend.
    pub fn new(inner: SharedBackend, options: Options) -> Provenance {
        let Options {
            labels,
            flows,
            ask,
            file,
        } = options;
        let mut all = Labels::default();
        for label in labels.iter().map(|rule| &rule.label) {
            all.add(label);
        }
        for flow in &flows {
            all.add(&flow.from);
        }
        let folding = Rc::new(Folding::of(inner.clone()));
        let kept = Shared {
            rules: Vec::new(),
            gate: Gate {
                flows: Vec::new(),
                ask: None,
                folding: folding.clone(),
            },
            ledger: Ledger::new(
                file.as_ref().map(LabelFile::beside),
                all.clone(),
                folding.clone(),
            ),
            kept: None,
            changes: Mutex::default(),
            commands: Mutex::default(),
        };
        let shared = Shared {
            rules: labels,
            ledger: Ledger::new(file, all, folding.clone()),
            gate: Gate {
                flows,
                ask,
                folding,
            },
            kept: Some(Rc::new(kept)),
            changes: Mutex::default(),
            commands: Mutex::default(),
        };
        Provenance {
            inner,
            shared: Rc::new(shared),
            taint: Rc::new(Taint::new(Vec::new())),
            is_earlier: false,
        }
    }

    /// Another conversation over the same files, which has read this.
    pub fn conversation(&self, seen: Vec<Seen>) -> Provenance {
        Provenance {
            inner: self.inner.clone(),
            shared: self.shared.clone(),
            taint: Rc::new(Taint::new(seen)),
            is_earlier: false,
        }
    }

    /// What the conversation has read.
    pub fn taint(&self) -> &Taint {
        &self.taint
    }

    /// The labels of a file as it is now.
    pub fn labels<'a>(&'a self, path: &'a VPath) -> Pending<'a, Labels> {
        Box::pin(async move {
            let book = self.shared.ledger.load().await?;
            let mut labels = self.shared.fixed(path);
            labels.merge(&self.recorded(&book, path).await);
            Ok(labels)
        })
    }

    /// A person has decided that the files at and below a path are what they should be: they lose
    /// the labels that they got by being written.
    pub fn trust<'a>(&'a self, path: &'a VPath) -> Pending<'a, ()> {
        Box::pin(async move {
            let _held = self.shared.changes.lock().await;
            let labelled = self.leaving_below(&*self.load().await?, path).await?;
            let forget = |book: &mut Book| {
                for (version, _) in &labelled {
                    book.forget_content(*version);
                }
                book.forget(path);
                if path.is_root() {
                    book.forget_root();
                    book.forget_contents();
                }
            };
            self.shared.ledger.update(&forget).await?;
            match &self.shared.kept {
                Some(kept) if path.is_root() => kept.ledger.update(&forget).await.map(|_| ()),
                _ => Ok(()),
            }
        })
    }

    /// The version of a file; `None` if it cannot be read.
    async fn version(&self, path: &VPath) -> Option<Version> {
        let body = refusing(self.inner.fetch(path)).await.ok()?;
        Some(Version::of(&body))
    }

    /// The labels that a file got by being written.
    async fn recorded(&self, book: &Book, path: &VPath) -> Labels {
        match book.knows(path) {
            true => book.labels(path, self.version(path).await),
            false => Labels::default(),
        }
    }

    /// Taints the conversation with the labels of a file, of which these bytes or some bytes were
    /// read after `before` was loaded.
    async fn observe(
        &self,
        operation: Operation,
        before: &Book,
        after: &Book,
        path: &VPath,
        body: Option<&Bytes>,
    ) {
        if body.is_some_and(Bytes::is_empty) {
            return;
        }
        let mut labels = self.shared.fixed(path);
        if before.knows(path) || after.knows(path) {
            let version = match body {
                Some(body) => Some(Version::of(body)),
                None => self.version(path).await,
            };
            labels.merge(&before.labels(path, version));
            labels.merge(&after.labels(path, version));
        }
        if self.is_earlier && after.has_contents() {
            let version = match body {
                Some(body) => Some(Version::of(body)),
                None => self.version(path).await,
            };
            labels.merge(&version.map(|at| after.content(at)).unwrap_or_default());
        }
        self.taint.add(operation, path, &labels);
    }

    async fn load(&self) -> Result<Rc<Book>> {
        self.shared.ledger.load().await
    }
}

impl Shared {
    /// The labels that a path has by the rules.
    fn fixed(&self, path: &VPath) -> Labels {
        let mut labels = Labels::default();
        for rule in &self.rules {
            if rule.paths.accept(path, &self.gate.folding) {
                labels.add(&rule.label);
            }
        }
        labels
    }
}

impl Provenance {
    async fn paged(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let before = self.load().await?;
        let read = refusing(self.inner.read(path, page)).await?;
        if !read.content.is_empty() {
            let after = self.load().await?;
            self.observe(Operation::Read, &before, &after, path, None)
                .await;
        }
        Ok(read)
    }

    async fn stored(&self, path: &VPath, range: Option<Range<u64>>) -> Result<RawFile> {
        let before = self.load().await?;
        let is_asked = range.as_ref().is_some_and(Range::is_empty);
        let file = refusing(self.inner.raw(path, range)).await?;
        if is_asked {
            self.asked(path).await?;
        }
        if file.body.is_empty() {
            return Ok(file);
        }
        let after = self.load().await?;
        // The label of a content is that of the whole of it.
        let body = file.section.is_none().then_some(&file.body);
        self.observe(Operation::ReadRaw, &before, &after, path, body)
            .await;
        Ok(file)
    }

    async fn searched(&self, query: &GrepQuery) -> Result<GrepResult> {
        let before = self.load().await?;
        let found = refusing(self.inner.grep(query)).await?;
        let after = self.load().await?;
        for path in &found.matches.paths {
            self.observe(Operation::Grep, &before, &after, path, None)
                .await;
        }
        Ok(found)
    }

    async fn fetched(&self, paths: &[VPath]) -> Result<Vec<Result<Bytes>>> {
        let before = self.load().await?;
        let bodies = refusing(self.inner.download(paths)).await;
        let after = self.load().await?;
        for (path, body) in paths.iter().zip(&bodies) {
            if let Ok(body) = body
                && !has(Bug::DownloadUntold)
            {
                let operation = Operation::DownloadFiles;
                self.observe(operation, &before, &after, path, Some(body))
                    .await;
            }
        }
        Ok(bodies)
    }
}

/// Nothing is read below a symbolic link: rules judge a path, so it must be where the bytes are.
#[deny(clippy::missing_trait_methods)]
impl Backend for Provenance {
    fn capability(&self) -> Capability {
        let mut capability = self.inner.capability();
        capability.listings = Listings::Ruled;
        capability.origins.push(Rc::new(self.same(&self.inner)));
        capability
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        if let Some(cargo) = self.taint.cargo() {
            return Box::pin(self.carried(cargo, request));
        }
        match request {
            Request::Ls(_) | Request::Glob(_) => Box::pin(refusing(self.inner.call(request))),
            Request::Read(path, page) => answer(self.paged(path, page), Answer::Read),
            Request::ReadRaw(path, range) => answer(self.stored(path, range), Answer::ReadRaw),
            Request::Grep(query) => answer(self.searched(query), Answer::Grep),
            Request::Write(path, content) => answer(self.written(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edited(path, edit), Answer::Edit),
            Request::Delete(path, unchanged) => {
                answer(self.deleted(path, unchanged), Answer::Delete)
            }
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.uploaded(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Download(paths) => answer(self.fetched(paths), Answer::Download),
            Request::Execute(command, options) => {
                answer(self.ran(command, options), Answer::Execute)
            }
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    /// Several files are changed one by one, so that each change is judged and recorded.
    fn atomic(&self) -> Atomic<'_> {
        Atomic::Never
    }
}
