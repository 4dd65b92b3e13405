//! `audit`: one record per operation, after it, including refused ones. A record never contains
//! content, a pattern, a command or an error message, because any of these may contain a secret.

use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use super::Seams;
use super::rule::Rule;
use crate::core::effort::{self, Effort};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::{Answer, Operation, Request, SharedBackend};

/// The outcome of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the operation began.
    pub time: Time,
    /// Its JavaScript name.
    pub operation: &'static str,
    /// The tool or the method that was called, if its name is another one.
    pub called: Option<&'static str>,
    /// The file or directory; the first path of a batch; `None` for a command.
    pub path: Option<VPath>,
    /// All files of a batch, the old and the new path of a move or copy; empty for any other
    /// operation.
    pub paths: Vec<VPath>,
    /// Size of the content read or written, of matches, or of a command's output.
    pub bytes: u64,
    /// `ok`, or the error code; the first error of a batch.
    pub code: &'static str,
    /// The option of the policy that refused it, or the name of its rule, if one did.
    pub rule: Option<Rc<str>>,
    /// How long the operation took.
    pub duration: Duration,
    /// What storages were asked for it.
    pub effort: Effort,
}

/// Receives each record. It cannot change the result for the caller.
pub type OnAudit = Rc<dyn Fn(&Record)>;

/// What is known before an operation.
pub(super) struct Begun {
    time: Time,
    operation: Operation,
    called: Option<&'static str>,
    paths: Vec<VPath>,
    sizes: Vec<usize>,
    effort: Effort,
}

impl Begun {
    pub(super) fn now(seams: &Seams, request: &Request<'_>) -> Begun {
        Begun {
            time: (seams.now)(),
            operation: request.operation(),
            called: request.operation().called(),
            paths: request.paths(),
            sizes: request.sizes(),
            effort: Effort::default(),
        }
    }

    pub(super) fn ended(self, seams: &Seams, answer: &Result<Answer>) -> Record {
        let micros = (seams.now)().micros().saturating_sub(self.time.micros());
        let error = match answer {
            Ok(answer) => answer.error(),
            Err(error) => Some(error),
        };
        Record {
            time: self.time,
            operation: self.operation.name(),
            called: self.called,
            path: self.paths.first().cloned(),
            bytes: answer.as_ref().map_or(0, |one| one.bytes(&self.sizes)) as u64,
            paths: match self.operation {
                Operation::UploadFiles
                | Operation::DownloadFiles
                | Operation::Move
                | Operation::Copy => self.paths,
                Operation::Ls
                | Operation::Read
                | Operation::ReadRaw
                | Operation::Grep
                | Operation::Glob
                | Operation::Write
                | Operation::Edit
                | Operation::Delete
                | Operation::Execute
                | Operation::Append => Vec::new(),
            },
            code: error.map_or("ok", Error::code),
            rule: error.and_then(Error::rule).map(Rc::from),
            duration: Duration::from_micros(u64::try_from(micros).unwrap_or(0)),
            effort: self.effort,
        }
    }
}

/// Writes a record for a cancelled call as well.
struct Watch<'a> {
    audit: &'a Audit,
    begun: Option<Begun>,
}

impl Watch<'_> {
    fn ended(&mut self, answer: &Result<Answer>) {
        if let Some(begun) = self.begun.take() {
            (self.audit.on_audit)(&begun.ended(&self.audit.seams, answer));
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.begun.is_some() {
            let cancelled = Error::new(Kind::Timeout, "The call was cancelled");
            self.ended(&Err(cancelled));
        }
    }
}

pub(super) struct Audit {
    pub(super) inner: SharedBackend,
    pub(super) on_audit: OnAudit,
    pub(super) seams: Seams,
}

impl Rule for Audit {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        Box::pin(async move {
            let mut watch = Watch {
                audit: self,
                begun: Some(Begun::now(&self.seams, &request)),
            };
            let mut inner = self.inner.call(request);
            let answer = poll_fn(|context| {
                let before = effort::until_now();
                let polled = inner.as_mut().poll(context);
                if let Some(begun) = &mut watch.begun {
                    begun.effort.add_since(before);
                }
                polled
            })
            .await;
            watch.ended(&answer);
            answer
        })
    }
}
