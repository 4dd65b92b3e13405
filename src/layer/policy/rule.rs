//! A rule as one function over [`Request`], and the backend that it makes of another one. The match
//! over requests has no wildcard where an operation could get past a rule, so a new operation breaks
//! the build until each rule handles it.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions,
    ExecuteResult, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Guard, Page, RawFile,
    ReadResult, Request, SharedBackend, Shell, Transfer, WriteResult, perform, unsupported,
};

/// The backend below a rule. Between two rules a request is passed on as it is, without the methods
/// of [`Backend`].
#[derive(Clone)]
pub(super) struct Next {
    backend: SharedBackend,
    rule: Option<Rc<Ruled>>,
}

impl Next {
    /// A backend that is not a rule.
    pub(super) fn backend(backend: SharedBackend) -> Next {
        Next {
            backend,
            rule: None,
        }
    }

    /// Puts a rule around its backend.
    pub(super) fn rule(rule: impl Rule + 'static) -> Next {
        let ruled = Rc::new(Ruled(Box::new(rule)));
        Next {
            backend: ruled.clone(),
            rule: Some(ruled),
        }
    }

    /// Whether it is the same as another one.
    pub(super) fn is(&self, other: &Next) -> bool {
        Rc::ptr_eq(&self.backend, &other.backend)
    }

    fn guard(&self) -> Option<&dyn Guard> {
        self.rule.as_ref().and_then(|ruled| ruled.0.guard())
    }

    /// The backend with all rules so far.
    pub(super) fn shared(&self) -> SharedBackend {
        self.backend.clone()
    }

    /// Passes a request on.
    pub(super) fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match &self.rule {
            Some(ruled) => ruled.0.call(request),
            None => perform(&*self.backend, request),
        }
    }
}

impl std::ops::Deref for Next {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        &*self.backend
    }
}

/// One rule around a backend.
pub(super) trait Rule {
    /// The backend that it guards.
    fn inner(&self) -> &Next;

    /// Refuses a request, or passes it on, changed or not. An error for a batch is that of each of
    /// its files.
    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer>;

    /// What the backend guarantees under the rule.
    fn capability(&self) -> Capability {
        self.inner().capability()
    }

    /// What is below all rules.
    fn guard(&self) -> Option<&dyn Guard> {
        self.inner().guard()
    }
}

/// A backend under a rule.
pub(super) struct Ruled(Box<dyn Rule>);

/// Takes the answer of the requested operation.
macro_rules! answered {
    ($self:ident, $kind:ident($($argument:expr),*)) => {
        Box::pin(async move {
            match $self.0.call(Request::$kind($($argument),*)).await? {
                Answer::$kind(answer) => Ok(answer),
                _ => Err(mixed_up()),
            }
        })
    };
}

fn mixed_up() -> Error {
    Error::internal("A rule answered another operation")
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Ruled {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        answered!(self, Ls(path))
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        answered!(self, Read(path, page))
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        answered!(self, ReadRaw(path))
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        answered!(self, Grep(query))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        answered!(self, Glob(query))
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        answered!(self, Write(path, content))
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        answered!(self, Edit(path, edit))
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        answered!(self, Delete(path, unchanged))
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        answered!(self, Transfer(asked))
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let count = files.len();
            match self.0.call(Request::Upload(files)).await {
                Ok(Answer::Upload(answers)) => answers,
                Ok(_) => vec![Err(mixed_up()); count],
                Err(error) => vec![Err(error); count],
            }
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            match self.0.call(Request::Download(paths)).await {
                Ok(Answer::Download(answers)) => answers,
                Ok(_) => vec![Err(mixed_up()); paths.len()],
                Err(error) => vec![Err(error); paths.len()],
            }
        })
    }

    fn part<'a>(&'a self, _: &'a VPath, _: Range<u64>) -> Pending<'a, Bytes> {
        done(Err(unsupported("part")))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.0.inner().shell().map(|_| self as &dyn Shell)
    }

    fn atomic(&self) -> Atomic<'_> {
        match &self.0.guard() {
            Some(guard) => Atomic::Guarded(*guard),
            None => Atomic::Never,
        }
    }
}

impl Shell for Ruled {
    fn id(&self) -> Rc<str> {
        self.0
            .inner()
            .shell()
            .map_or_else(|| Rc::from(""), Shell::id)
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        answered!(self, Execute(command, options))
    }
}

/// The error of a command under rules about files, which a command would bypass.
pub(super) fn shell_refused(rule: &'static str) -> Error {
    Error::new(
        Kind::PermissionDenied,
        format!(
            "execute is refused under a policy with {rule}: a shell ignores it. \
             An operator who accepts that sets allowExecute: true."
        ),
    )
    .decided_by("allowExecute")
}

/// Merges the errors of refused files of a batch with the answers for the others, in order.
pub(super) fn fill<T>(
    refused: Vec<Option<Error>>,
    answers: impl IntoIterator<Item = Result<T>>,
) -> Vec<Result<T>> {
    let mut answers = answers.into_iter();
    refused
        .into_iter()
        .map(|refusal| match refusal {
            Some(error) => Err(error),
            None => answers
                .next()
                .unwrap_or_else(|| Err(Error::internal("A backend answered too few files"))),
        })
        .collect()
}

/// Uploads the files that pass a check.
pub(super) async fn upload_checked(
    inner: &dyn Backend,
    files: Vec<(VPath, Bytes)>,
    mut check: impl FnMut(&VPath) -> Result<()>,
) -> Answer {
    let (mut refused, mut allowed) = (Vec::new(), Vec::new());
    for (path, body) in files {
        let refusal = check(&path).err();
        if refusal.is_none() {
            allowed.push((path, body));
        }
        refused.push(refusal);
    }
    Answer::Upload(fill(refused, inner.upload(allowed).await))
}

/// Downloads the files that pass a check.
pub(super) async fn download_checked(
    inner: &dyn Backend,
    paths: &[VPath],
    mut check: impl FnMut(&VPath) -> Result<()>,
) -> Answer {
    let (mut refused, mut allowed) = (Vec::new(), Vec::new());
    for path in paths {
        let refusal = check(path).err();
        if refusal.is_none() {
            allowed.push(path.clone());
        }
        refused.push(refusal);
    }
    Answer::Download(fill(refused, inner.download(&allowed).await))
}
