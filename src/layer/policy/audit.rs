//! `audit`: one record per operation, after it, including refused ones. A record never contains
//! content, a pattern, a command or an error message, because any of these may contain a secret.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::Seams;
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::{
    Backend, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions, ExecuteResult,
    FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult,
    SharedBackend, Shell, WriteResult,
};

/// The outcome of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the operation began.
    pub time: Time,
    /// Its JavaScript name.
    pub operation: &'static str,
    /// The file or directory; the first path of a batch; `None` for a command.
    pub path: Option<VPath>,
    /// All files of a batch; empty for any other operation.
    pub paths: Vec<VPath>,
    /// Size of the content read or written, of matches, or of a command's output.
    pub bytes: u64,
    /// `ok`, or the error code; the first error of a batch.
    pub code: &'static str,
    /// How long the operation took.
    pub duration: Duration,
}

/// Receives each record. It cannot change the result for the caller.
pub type OnAudit = Rc<dyn Fn(&Record)>;

/// What is known before an operation.
pub(super) struct Begun {
    time: Time,
    operation: &'static str,
    paths: Vec<VPath>,
    is_batch: bool,
}

impl Begun {
    pub(super) fn one(seams: &Seams, operation: &'static str, path: Option<&VPath>) -> Begun {
        Begun {
            time: (seams.now)(),
            operation,
            paths: path.cloned().into_iter().collect(),
            is_batch: false,
        }
    }

    pub(super) fn batch(seams: &Seams, operation: &'static str, paths: Vec<VPath>) -> Begun {
        Begun {
            time: (seams.now)(),
            operation,
            paths,
            is_batch: true,
        }
    }

    pub(super) fn ended(self, seams: &Seams, bytes: usize, error: Option<&Error>) -> Record {
        let micros = (seams.now)().micros().saturating_sub(self.time.micros());
        Record {
            time: self.time,
            operation: self.operation,
            path: self.paths.first().cloned(),
            paths: if self.is_batch {
                self.paths
            } else {
                Vec::new()
            },
            bytes: bytes as u64,
            code: error.map_or("ok", Error::code),
            duration: Duration::from_micros(u64::try_from(micros).unwrap_or(0)),
        }
    }
}

/// Writes a record for a cancelled call as well.
struct Watch<'a> {
    audit: &'a Audit,
    begun: Option<Begun>,
}

impl Watch<'_> {
    fn ended<T>(mut self, answer: &Result<T>, bytes: impl FnOnce(&T) -> usize) {
        let bytes = answer.as_ref().map_or(0, bytes);
        self.tell(bytes, answer.as_ref().err());
    }

    fn tell(&mut self, bytes: usize, error: Option<&Error>) {
        if let Some(begun) = self.begun.take() {
            (self.audit.on_audit)(&begun.ended(&self.audit.seams, bytes, error));
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.begun.is_some() {
            let given_up = Error::new(crate::core::error::Kind::Timeout, "The call was given up");
            self.tell(0, Some(&given_up));
        }
    }
}

pub(super) struct Audit {
    inner: SharedBackend,
    on_audit: OnAudit,
    seams: Seams,
}

impl Audit {
    pub(super) fn new(inner: SharedBackend, on_audit: OnAudit, seams: Seams) -> Audit {
        Audit {
            inner,
            on_audit,
            seams,
        }
    }

    fn watch(&self, operation: &'static str, path: Option<&VPath>) -> Watch<'_> {
        Watch {
            audit: self,
            begun: Some(Begun::one(&self.seams, operation, path)),
        }
    }

    fn watch_batch(&self, operation: &'static str, paths: Vec<VPath>) -> Watch<'_> {
        Watch {
            audit: self,
            begun: Some(Begun::batch(&self.seams, operation, paths)),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Audit {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move {
            let watch = self.watch("ls", Some(path));
            let answer = self.inner.ls(path).await;
            watch.ended(&answer, |_| 0);
            answer
        })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(async move {
            let watch = self.watch("read", Some(path));
            let answer = self.inner.read(path, page).await;
            watch.ended(&answer, |read| read.content.len());
            answer
        })
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(async move {
            let watch = self.watch("readRaw", Some(path));
            let answer = self.inner.read_raw(path).await;
            watch.ended(&answer, |file| file.body.len());
            answer
        })
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(async move {
            let watch = self.watch("grep", Some(&query.path));
            let answer = self.inner.grep(query).await;
            watch.ended(&answer, |found| found.matches.text.len());
            answer
        })
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            let watch = self.watch("glob", Some(&query.path));
            let answer = self.inner.glob(query).await;
            watch.ended(&answer, |_| 0);
            answer
        })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let watch = self.watch("write", Some(path));
            let size = content.bytes().len();
            let answer = self.inner.write(path, content).await;
            watch.ended(&answer, |_| size);
            answer
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            let watch = self.watch("edit", Some(path));
            let answer = self.inner.edit(path, edit).await;
            watch.ended(&answer, |_| edit.new.len());
            answer
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let watch = self.watch("delete", Some(path));
            let answer = self.inner.delete(path, unchanged).await;
            watch.ended(&answer, |_| 0);
            answer
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let paths = files.iter().map(|(path, _)| path.clone()).collect();
            let sizes: Vec<usize> = files.iter().map(|(_, body)| body.len()).collect();
            let mut watch = self.watch_batch("uploadFiles", paths);
            let answers = self.inner.upload(files).await;
            let stored = answers.iter().zip(sizes);
            let bytes = stored
                .filter(|(answer, _)| answer.is_ok())
                .map(|(_, size)| size);
            watch.tell(bytes.sum(), answers.iter().find_map(|a| a.as_ref().err()));
            answers
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            let mut watch = self.watch_batch("downloadFiles", paths.to_vec());
            let answers = self.inner.download(paths).await;
            let bytes = answers.iter().flatten().map(Bytes::len).sum();
            watch.tell(bytes, answers.iter().find_map(|a| a.as_ref().err()));
            answers
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell().map(|_| self as &dyn Shell)
    }
}

impl Shell for Audit {
    fn id(&self) -> Rc<str> {
        self.inner.shell().map_or_else(|| Rc::from(""), Shell::id)
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        Box::pin(async move {
            let watch = self.watch("execute", None);
            let answer = match self.inner.shell() {
                Some(shell) => shell.execute(command, options).await,
                None => Err(crate::protocol::unsupported("execute")),
            };
            watch.ended(&answer, |ran| ran.output.len());
            answer
        })
    }
}
