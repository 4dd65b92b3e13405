//! What every backend, rule and layer is: a function from a [`Request`] to an [`Answer`]. Callers use
//! the methods of [`BackendExt`], which nobody can override, so each operation has one way to a
//! backend, and a layer cannot forget to pass one on.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::{
    Answer, Atomic, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions,
    ExecuteResult, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile,
    ReadResult, Request, Streamed, Transfer, WriteResult,
};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;

/// File operations for an agent. `docs/protocol.md` describes what each operation means.
///
/// Changes are atomic: after an `Err` the old content is unchanged, unless the error says
/// otherwise. Dropping the future cancels a call. What a backend need not have refuses by default.
pub trait Backend {
    /// What it guarantees.
    fn capability(&self) -> Capability;

    /// Answers a request with the answer of the same operation. An error of a batch is that of each
    /// of its files.
    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer>;

    /// The id of the machine or folder in which it runs commands; `None` if it runs none.
    fn shell(&self) -> Option<Rc<str>> {
        None
    }

    /// What it has for changes of several files at once.
    fn atomic(&self) -> Atomic<'_> {
        Atomic::Never
    }
}

/// A backend that several owners share.
pub type SharedBackend = Rc<dyn Backend>;

/// A call whose answer is taken out of an [`Answer`] when it is there.
pub struct Typed<'a, T> {
    answer: Pending<'a, Answer>,
    /// Number of files of a batch.
    files: usize,
    take: fn(Result<Answer>, usize) -> T,
}

impl<T> Future for Typed<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let (take, files) = (self.take, self.files);
        let polled = self.answer.as_mut().poll(context);
        polled.map(|answer| take(answer, files))
    }
}

/// Calls one operation and takes its answer.
macro_rules! typed {
    ($backend:ident, $kind:ident($($argument:expr),*)) => {
        Typed {
            answer: $backend.call(Request::$kind($($argument),*)),
            files: 1,
            take: |answer, _| match answer {
                Ok(Answer::$kind(answer)) => Ok(answer),
                Ok(_) => Err(mixed_up()),
                Err(error) => Err(error),
            },
        }
    };
}

/// Calls one operation of several files; each has an answer, whatever the backend returns.
macro_rules! batch {
    ($backend:ident, $kind:ident($argument:expr)) => {
        Typed {
            files: $argument.len(),
            answer: $backend.call(Request::$kind($argument)),
            take: |answer, files| match answer {
                Ok(Answer::$kind(answers)) => for_each(answers, files),
                Ok(_) => vec![Err(mixed_up()); files],
                Err(error) => vec![Err(error); files],
            },
        }
    };
}

fn mixed_up() -> Error {
    Error::internal("A backend answered another operation")
}

/// The error of a file of a batch that has no answer.
pub fn too_few() -> Error {
    Error::internal("A backend answered too few files")
}

/// As many answers as there are files.
fn for_each<T>(mut answers: Vec<Result<T>>, files: usize) -> Vec<Result<T>> {
    answers.resize_with(files, || Err(too_few()));
    answers
}

/// The answer of a batch of one file.
fn first<T>(answers: Vec<Result<T>>) -> Result<T> {
    answers.into_iter().next().unwrap_or_else(|| Err(too_few()))
}

/// The answer of an upload of one file.
fn stored(answer: Result<Answer>, _: usize) -> Result<()> {
    match answer {
        Ok(Answer::Upload(stored)) => first(stored),
        Ok(_) => Err(mixed_up()),
        Err(error) => Err(error),
    }
}

/// The operations of any backend. They are not inlined: a call of one is a few bytes of code, what it
/// does is some dozens.
pub trait BackendExt: Backend {
    /// One level of a directory, in [`FileInfo::listing_order`]. A missing directory counts as
    /// empty.
    #[inline(never)]
    fn ls<'a>(&'a self, path: &'a VPath) -> Typed<'a, Result<Vec<FileInfo>>> {
        typed!(self, Ls(path))
    }

    /// A page of text, or all of a binary file.
    #[inline(never)]
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Typed<'a, Result<ReadResult>> {
        typed!(self, Read(path, page))
    }

    /// The file as it is stored.
    #[inline(never)]
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Typed<'a, Result<RawFile>> {
        self.raw(path, None)
    }

    /// The same of a part of it, or of more if that is at hand.
    #[inline(never)]
    fn raw<'a>(&'a self, path: &'a VPath, range: Option<Range<u64>>) -> Typed<'a, Result<RawFile>> {
        typed!(self, ReadRaw(path, range))
    }

    /// Lines that contain a text, ordered by path, then line.
    #[inline(never)]
    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Typed<'a, Result<GrepResult>> {
        typed!(self, Grep(query))
    }

    /// Files by pattern, in [`FileInfo::newest_first`] order.
    #[inline(never)]
    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Typed<'a, Result<GlobResult>> {
        typed!(self, Glob(query))
    }

    /// Creates a file, or replaces it if the backend is configured to overwrite.
    #[inline(never)]
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Typed<'a, Result<WriteResult>> {
        typed!(self, Write(path, content))
    }

    /// Replaces text in a file.
    #[inline(never)]
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Typed<'a, Result<EditResult>> {
        typed!(self, Edit(path, edit))
    }

    /// Removes a file, or a directory with everything below it. With `unchanged`, only a file, and
    /// only if it still has these bytes; else `conflict`.
    #[inline(never)]
    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Typed<'a, Result<DeleteResult>> {
        typed!(self, Delete(path, unchanged))
    }

    /// Moves or copies a file, or a directory with everything below it. `already_exists` if the new
    /// path exists; a directory is never replaced and nothing is merged into it. If it fails, the
    /// error says which files are where; a file is never gone from both paths.
    #[inline(never)]
    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Typed<'a, Result<WriteResult>> {
        typed!(self, Transfer(asked))
    }

    /// Stores files unconditionally; one result each, in order.
    #[inline(never)]
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> Typed<'a, Vec<Result<()>>> {
        batch!(self, Upload(files))
    }

    /// Fetches whole files; one result each, in order.
    #[inline(never)]
    fn download<'a>(&'a self, paths: &'a [VPath]) -> Typed<'a, Vec<Result<Bytes>>> {
        batch!(self, Download(paths))
    }

    /// Fetches one whole file.
    #[inline(never)]
    fn fetch<'a>(&'a self, path: &'a VPath) -> Typed<'a, Result<Bytes>> {
        Typed {
            answer: self.call(Request::Download(std::slice::from_ref(path))),
            files: 1,
            take: |answer, _| match answer {
                Ok(Answer::Download(bodies)) => first(bodies),
                Ok(_) => Err(mixed_up()),
                Err(error) => Err(error),
            },
        }
    }

    /// Stores one file unconditionally.
    #[inline(never)]
    fn store<'a>(&'a self, path: &VPath, body: Bytes) -> Typed<'a, Result<()>> {
        Typed {
            answer: self.call(Request::Upload(vec![(path.clone(), body)])),
            files: 1,
            take: stored,
        }
    }

    /// Stores one file whose bytes come in parts.
    #[inline(never)]
    fn stream<'a>(&'a self, path: &'a VPath, file: &'a dyn Streamed) -> Typed<'a, Result<()>> {
        Typed {
            answer: self.call(Request::Stream(path, file)),
            files: 1,
            take: stored,
        }
    }

    /// Runs a command until it exits.
    #[inline(never)]
    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Typed<'a, Result<ExecuteResult>> {
        typed!(self, Execute(command, options))
    }
}

impl<B: Backend + ?Sized> BackendExt for B {}

/// A part of a file, clipped to its end, as bytes.
pub async fn read_part(backend: &dyn Backend, path: &VPath, range: Range<u64>) -> Result<RawFile> {
    let file = backend.raw(path, Some(range.clone())).await?;
    Ok(file.within(range))
}

/// Refuses to create a file whose name deceives who reads it, unless the backend allows that. Asked where
/// a caller names the file: what layers do by themselves, such as to undo a deletion, is not asked.
pub fn may_create(backend: &dyn Backend, path: &VPath) -> Result<()> {
    match path.deception() {
        Some(why) if !backend.capability().names.deceptive => Err(Error::from(why)),
        _ => Ok(()),
    }
}

/// The answer of an operation, from its result.
pub fn answer<'a, T: 'a>(
    result: impl Future<Output = Result<T>> + 'a,
    kind: fn(T) -> Answer,
) -> Pending<'a, Answer> {
    Box::pin(async move { result.await.map(kind) })
}

/// The answer of a batch, from the results of its files.
pub fn whole<'a, T: 'a>(
    results: impl Future<Output = T> + 'a,
    kind: fn(T) -> Answer,
) -> Pending<'a, Answer> {
    Box::pin(async move { Ok(kind(results.await)) })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::core::future::done;
    use crate::core::testing::now;

    /// Answers every request with the same.
    struct Always(fn() -> Result<Answer>);

    impl Backend for Always {
        fn capability(&self) -> Capability {
            panic!("nobody asks")
        }

        fn call<'a>(&'a self, _: Request<'a>) -> Pending<'a, Answer> {
            done((self.0)())
        }
    }

    /// What each of two files has: its content, or the code of its error.
    fn downloaded(answer: fn() -> Result<Answer>) -> Vec<std::result::Result<Bytes, &'static str>> {
        let paths = [VPath::root(), VPath::root()];
        let bodies = now(Always(answer).download(&paths)).into_iter();
        bodies
            .map(|body| body.map_err(|error| error.code()))
            .collect()
    }

    #[test]
    fn every_file_of_a_batch_has_one_answer() {
        let body = Bytes::from_static(b"one");
        let none = downloaded(|| Ok(Answer::Download(Vec::new())));
        assert_eq!(none, vec![Err("internal"); 2]);
        let one = downloaded(|| Ok(Answer::Download(vec![Ok(Bytes::from_static(b"one"))])));
        assert_eq!(one, vec![Ok(body.clone()), Err("internal")]);
        let many = downloaded(|| Ok(Answer::Download(vec![Ok(Bytes::new()); 5])));
        assert_eq!(many, vec![Ok(Bytes::new()); 2]);
        let failed = downloaded(|| Err(Error::not_found(&VPath::root())));
        assert_eq!(failed, vec![Err("not_found"); 2]);
    }

    #[test]
    fn an_answer_of_another_operation_is_an_error() {
        let other = || Ok(Answer::Ls(Vec::new()));
        assert_eq!(downloaded(other), vec![Err("internal"); 2]);
        let path = VPath::root();
        assert!(now(Always(other).read_raw(&path)).is_err());
    }
}
