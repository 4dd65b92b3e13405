//! Permission rules with mode `ask`: the host decides. A timeout and an error count as a refusal.
//!
//! A search asks once for the search root, and once for each file with a match that is guarded by
//! another rule, because its lines would be returned. `ls` and `glob` return only names and ask
//! only for the directory. A recursive delete asks once and names the guarded files below.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, LocalBoxFuture, select};

use super::rule::{Rule, fill};
use super::rules::{Beneath, Decision};
use super::skip_hidden::veiled;
use super::{Mode, Rules, Seams, Touch};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::layer::winnow;
use crate::protocol::{
    Answer, BackendExt, GrepQuery, GrepResult, Operation, Request, SharedBackend, Transfer, answer,
    files_beneath, whole,
};

/// Maximum number of characters of a preview.
const SHOWN: usize = 2000;

/// A request for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The operation.
    pub operation: &'static str,
    /// Its path.
    pub path: VPath,
    /// The text that would be written, replaced or deleted, shortened; empty for a read.
    pub preview: String,
    /// The name of the rule that asks, if it has one.
    pub rule: Option<Rc<str>>,
}

/// Asks for approval; an error counts as a refusal.
pub type OnAsk = Rc<dyn Fn(Question) -> LocalBoxFuture<'static, Result<bool>>>;

/// The approval callback and its timeout.
#[derive(Clone)]
pub struct Asking {
    /// The callback.
    pub on_ask: OnAsk,
    /// No answer within this time counts as a refusal.
    pub timeout: Duration,
}

pub(super) struct Ask {
    pub(super) inner: SharedBackend,
    pub(super) raw: SharedBackend,
    pub(super) rules: Rules,
    pub(super) asking: Asking,
    pub(super) seams: Seams,
}

impl Ask {
    async fn put(&self, question: Question) -> Result<()> {
        let (operation, path) = (question.operation, question.path.clone());
        let rule = question.rule.clone();
        let refuse = |why: &'static str| {
            let by = match &rule {
                Some(rule) => format!("{why} (rule '{rule}')"),
                None => why.into(),
            };
            Error::at(
                Kind::PermissionDenied,
                format!("Error: permission denied for {operation} on "),
                &path,
                by,
            )
            .by_rule()
            .decided_by(match &rule {
                Some(rule) => Cow::Owned(rule.to_string()),
                None => Cow::Borrowed("onAsk"),
            })
        };
        let asked = (self.asking.on_ask)(question);
        match select(asked, (self.seams.sleep)(self.asking.timeout)).await {
            Either::Left((Ok(true), _)) => Ok(()),
            Either::Left((Ok(false), _)) => Err(refuse(": it was asked for and not allowed")),
            Either::Left((Err(error), _)) => {
                let refusal = refuse(": it had to be asked for, and asking failed");
                Err(match error.cause() {
                    Some(cause) => refusal.caused_by(cause.clone()),
                    None => refusal,
                })
            }
            Either::Right(_) => Err(refuse(": it was asked for, and nobody answered in time")),
        }
    }

    fn asks(&self, touch: Touch, path: &VPath) -> Option<Decision> {
        Some(self.rules.decide(touch, path)).filter(|decision| decision.mode == Mode::Ask)
    }

    /// The same for a change. It tells whether there was a file, so a rule for reads asks, too.
    fn asks_change(&self, path: &VPath) -> Option<Decision> {
        let mut both = [Touch::Write, Touch::Read].into_iter();
        both.find_map(|touch| self.asks(touch, path))
    }

    /// Asks as a decision says, if it does.
    async fn asked(
        &self,
        decision: Option<Decision>,
        operation: &'static str,
        path: &VPath,
        preview: String,
    ) -> Result<()> {
        let Some(decision) = decision else {
            return Ok(());
        };
        self.put(Question {
            operation,
            path: path.clone(),
            preview,
            rule: self.rules.name_of(decision),
        })
        .await
    }

    /// Passes a request on, after asking if a decision says so.
    fn unless_asked<'a>(
        &'a self,
        decision: Option<Decision>,
        operation: &'static str,
        path: &'a VPath,
        preview: String,
        request: Request<'a>,
    ) -> Pending<'a, Answer> {
        if decision.is_none() {
            return self.inner.call(request);
        }
        Box::pin(async move {
            self.asked(decision, operation, path, preview).await?;
            self.inner.call(request).await
        })
    }

    fn reads<'a>(
        &'a self,
        operation: &'static str,
        path: &'a VPath,
        request: Request<'a>,
    ) -> Pending<'a, Answer> {
        let asks = self.asks(Touch::Read, path);
        self.unless_asked(asks, operation, path, String::new(), request)
    }

    async fn reading(&self, operation: Operation, path: &VPath) -> Result<()> {
        let asks = self.asks(Touch::Read, path);
        self.asked(asks, operation.name(), path, String::new())
            .await
    }

    async fn uploading(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let operation = Operation::UploadFiles.name();
        let (mut refused, mut allowed) = (Vec::new(), Vec::new());
        for (path, body) in files {
            let asks = self.asks_change(&path);
            let preview = asks.map(|_| shortened(&body)).unwrap_or_default();
            let asked = self.asked(asks, operation, &path, preview).await;
            if asked.is_ok() {
                allowed.push((path, body));
            }
            refused.push(asked.err());
        }
        fill(refused, self.inner.upload(allowed).await)
    }

    async fn downloading(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let (mut refused, mut allowed) = (Vec::new(), Vec::new());
        for path in paths {
            let asked = self.reading(Operation::DownloadFiles, path).await;
            if asked.is_ok() {
                allowed.push(path.clone());
            }
            refused.push(asked.err());
        }
        fill(refused, self.inner.download(&allowed).await)
    }

    async fn deleting(&self, path: &VPath) -> Result<()> {
        let mut guarded: Vec<VPath> = Vec::new();
        let mut rule = None;
        if let Some(decision) = self.asks_change(path) {
            rule = self.rules.name_of(decision);
            guarded.push(path.clone());
        }
        // If everything below is denied, no file below can need approval.
        if self.rules.beneath(Touch::Write, path) != Beneath::Closed {
            let files = files_beneath(&*self.raw, path).await;
            for info in files.map_err(|error| veiled(&error, path))? {
                if let Some(decision) = self.asks_change(&info.path) {
                    rule = rule.or_else(|| self.rules.name_of(decision));
                    guarded.push(info.path);
                }
            }
        }
        if guarded.is_empty() {
            return Ok(());
        }
        order::sort(&mut guarded);
        self.put(Question {
            operation: "delete",
            path: path.clone(),
            preview: listed(guarded.iter().map(VPath::as_str)),
            rule,
        })
        .await
    }

    /// One question for all files; it names those that a rule guards, at either path.
    async fn transferring(&self, asked: &Transfer) -> Result<()> {
        let mut rule = None;
        let mut guards = |touch, path: &VPath| {
            let decision = self.asks(touch, path);
            rule = rule.take().or_else(|| self.rules.name_of(decision?));
            decision.is_some()
        };
        let mut guarded = Vec::new();
        let files = asked.files(&*self.raw).await;
        for info in files.map_err(|error| veiled(&error, &asked.from))? {
            let to = asked.target(&info.path)?;
            if guards(Touch::Read, &info.path)
                || (!asked.keeps && guards(Touch::Write, &info.path))
                || guards(Touch::Write, &to)
                || guards(Touch::Read, &to)
            {
                guarded.push(format!("{} -> {}", info.path.as_str(), to.as_str()));
            }
        }
        if guarded.is_empty() {
            return Ok(());
        }
        self.put(Question {
            operation: asked.operation().name(),
            path: asked.from.clone(),
            preview: listed(guarded.iter().map(String::as_str)),
            rule,
        })
        .await
    }

    async fn searching(&self, query: &GrepQuery) -> Result<GrepResult> {
        self.reading(Operation::Grep, &query.path).await?;
        let granted = self.asks(Touch::Read, &query.path);
        let mut answers: Sorted<VPath, bool> = Sorted::new();
        let judge = async |paths: &[VPath]| {
            let mut verdict = Vec::with_capacity(paths.len());
            for path in paths {
                let asks = self.asks(Touch::Read, path);
                if asks.is_none() || asks == granted {
                    verdict.push(true);
                    continue;
                }
                let known = answers.get(path).copied();
                let allowed = match known {
                    Some(allowed) => allowed,
                    None => self.reading(Operation::Grep, path).await.is_ok(),
                };
                answers.insert(path.clone(), allowed);
                verdict.push(allowed);
            }
            Ok(verdict)
        };
        winnow::grep(&*self.inner, query, judge).await
    }
}

/// A list, a line each, shortened.
fn listed<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> String {
    let mut preview = String::new();
    let count = all.len();
    for (at, one) in all.enumerate() {
        if preview.len() > SHOWN {
            preview.push_str(&format!("and {} more", count - at));
            break;
        }
        preview.push_str(one);
        preview.push('\n');
    }
    preview
}

fn shortened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.chars().nth(SHOWN).is_none() {
        return text.into_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

impl Rule for Ask {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        let operation = request.operation().name();
        match request {
            Request::Ls(path) | Request::Read(path, _) | Request::ReadRaw(path, _) => {
                self.reads(operation, path, request)
            }
            Request::Glob(query) => self.reads(operation, &query.path, request),
            Request::Grep(query) => answer(self.searching(query), Answer::Grep),
            Request::Write(path, ref content) => {
                let asks = self.asks_change(path);
                let preview = asks.map(|_| shortened(content.bytes()));
                self.unless_asked(asks, operation, path, preview.unwrap_or_default(), request)
            }
            Request::Edit(path, edit) => {
                let asks = self.asks_change(path);
                let preview = asks.map(|_| match edit.appends {
                    true => shortened(&edit.new),
                    false => format!("- {}\n+ {}", shortened(&edit.old), shortened(&edit.new)),
                });
                self.unless_asked(asks, operation, path, preview.unwrap_or_default(), request)
            }
            Request::Delete(path, _) => Box::pin(async move {
                self.deleting(path).await?;
                self.inner.call(request).await
            }),
            Request::Transfer(asked) => Box::pin(async move {
                self.transferring(asked).await?;
                self.inner.call(request).await
            }),
            Request::Upload(_) | Request::Stream(..) if has(Bug::UploadUnasked) => {
                self.inner.call(request)
            }
            Request::Upload(files) => whole(self.uploading(files), Answer::Upload),
            Request::Stream(path, file) => {
                let asks = self.asks_change(path);
                // Its bytes are not there yet.
                let preview = asks.map(|_| format!("{} bytes", file.parts().size()));
                self.unless_asked(asks, operation, path, preview.unwrap_or_default(), request)
            }
            Request::Download(paths) => whole(self.downloading(paths), Answer::Download),
            // Path rules refuse a shell already.
            Request::Execute(..) => self.inner.call(request),
        }
    }
}
