//! What a rule is: a backend around another one. A ruling needs no future of its own: a rule passes
//! a request on as a tail call, refuses it with a ready answer, or takes it over. The match over
//! requests has no wildcard, so a new operation breaks the build until each rule handles it.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, Guard, Listings, Request, SharedBackend,
    too_few,
};

/// One rule around a backend.
pub(super) trait Rule {
    /// The backend that it guards.
    fn inner(&self) -> &SharedBackend;

    /// Refuses a request, or passes it on, changed or not.
    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer>;

    /// What the backend guarantees under the rule.
    fn capability(&self) -> Capability {
        self.inner().capability()
    }

    /// What is below all rules.
    fn guard(&self) -> Option<&dyn Guard> {
        if let Atomic::Guarded(guard) = self.inner().atomic() {
            return Some(guard);
        }
        None
    }
}

/// A part of a file is refused under rules: they judge whole files.
impl<R: Rule> Backend for R {
    fn capability(&self) -> Capability {
        Capability {
            listings: Listings::Ruled,
            ..Rule::capability(self)
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        Rule::call(self, request)
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner().shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        match self.guard() {
            Some(guard) => Atomic::Guarded(guard),
            None => Atomic::Never,
        }
    }
}

/// Passes a request on if a check has passed.
pub(super) fn checked<'a>(
    check: Result<()>,
    inner: &'a SharedBackend,
    request: Request<'a>,
) -> Pending<'a, Answer> {
    match check {
        Ok(()) => inner.call(request),
        Err(error) => done(Err(error)),
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
pub(super) fn fill<T>(refused: Vec<Option<Error>>, answers: Vec<Result<T>>) -> Vec<Result<T>> {
    let mut answers = answers.into_iter();
    let refused = refused.into_iter();
    refused
        .map(|refusal| match refusal {
            Some(error) => Err(error),
            None => answers.next().unwrap_or_else(|| Err(too_few())),
        })
        .collect()
}

/// Uploads the files that pass a check.
pub(super) fn upload_checked<'a>(
    inner: &'a SharedBackend,
    files: Vec<(VPath, Bytes)>,
    mut check: impl FnMut(&VPath) -> Result<()>,
) -> Pending<'a, Answer> {
    let refused: Vec<Option<Error>> = files.iter().map(|(path, _)| check(path).err()).collect();
    if refused.iter().all(Option::is_none) {
        return inner.call(Request::Upload(files));
    }
    let allowed = files.into_iter().zip(&refused);
    let allowed = allowed.filter(|(_, refusal)| refusal.is_none());
    let allowed = allowed.map(|(file, _)| file).collect();
    Box::pin(async move { Ok(Answer::Upload(fill(refused, inner.upload(allowed).await))) })
}

/// Downloads the files that pass a check.
pub(super) fn download_checked<'a>(
    inner: &'a SharedBackend,
    paths: &'a [VPath],
    mut check: impl FnMut(&VPath) -> Result<()>,
) -> Pending<'a, Answer> {
    let refused: Vec<Option<Error>> = paths.iter().map(|path| check(path).err()).collect();
    if refused.iter().all(Option::is_none) {
        return inner.call(Request::Download(paths));
    }
    let allowed = paths.iter().zip(&refused);
    let allowed = allowed.filter(|(_, refusal)| refusal.is_none());
    let allowed: Vec<VPath> = allowed.map(|(path, _)| path.clone()).collect();
    Box::pin(async move {
        Ok(Answer::Download(fill(
            refused,
            inner.download(&allowed).await,
        )))
    })
}
