//! Calls with several files, of which each has its own answer.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::boundary::operations::{DownloadArguments, OneOfBatch, UploadArguments};
use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::protocol::{BackendExt, Operation, SharedBackend, may_create, not_over_directories};
use crate::wasm::audits;
use crate::wasm::reply::Reply;

/// Those of a batch that go on, and for each path whether it is one of them: an invalid one gets its own
/// error.
fn sorted<T>(batch: impl IntoIterator<Item = Result<T>>) -> (Vec<Result<()>>, Vec<T>) {
    let (mut answers, mut accepted) = (Vec::new(), Vec::new());
    for item in batch {
        answers.push(item.map(|item| accepted.push(item)));
    }
    (answers, accepted)
}

/// Reports the files of a batch that are refused before any rule: one record with the first error.
fn report_refused<T>(handle: u32, operation: Operation, parsed: &[Result<T>]) {
    if let Some(error) = parsed.iter().find_map(|one| one.as_ref().err()) {
        audits::refused(handle, operation, error.code());
    }
}

/// `uploadFiles`.
pub fn upload(
    handle: u32,
    backend: SharedBackend,
    given: UploadArguments,
) -> LocalBoxFuture<'static, Reply> {
    let asked = given.files.into_iter().map(|file| {
        let path = file.path.0?;
        may_create(&*backend, &path)?;
        Ok((path, file.content))
    });
    let mut asked: Vec<Result<(VPath, Bytes)>> = asked.collect();
    report_refused(handle, Operation::UploadFiles, &asked);
    Box::pin(async move {
        if given.only_files {
            asked = not_over_directories(&*backend, asked).await;
        }
        let (parsed, files) = sorted(asked);
        let stored = match files.is_empty() && !parsed.is_empty() {
            true => Vec::new(),
            false => backend.upload(files).await,
        };
        let mut stored = stored.into_iter();
        let mut reply = Reply::ok();
        reply.len(parsed.len());
        for answer in parsed {
            let answer = answer.and_then(|()| {
                stored
                    .next()
                    .unwrap_or_else(|| Err(Error::internal("An upload was not answered")))
            });
            reply.bool(answer.is_ok());
            if let Err(error) = answer {
                reply.put_error(&error);
            }
        }
        reply
    })
}

/// `downloadFiles`.
pub fn download(
    handle: u32,
    backend: SharedBackend,
    given: DownloadArguments,
) -> LocalBoxFuture<'static, Reply> {
    let (parsed, paths) = sorted(given.paths.into_iter().map(|OneOfBatch(path)| path));
    report_refused(handle, Operation::DownloadFiles, &parsed);
    Box::pin(async move {
        let fetched = match paths.is_empty() && !parsed.is_empty() {
            true => Vec::new(),
            false => backend.download(&paths).await,
        };
        let mut fetched = fetched.into_iter();
        let mut reply = Reply::ok();
        reply.len(parsed.len());
        for answer in parsed {
            let answer: Result<Bytes> = answer.and_then(|()| {
                fetched
                    .next()
                    .unwrap_or_else(|| Err(Error::internal("A download was not answered")))
            });
            reply.bool(answer.is_ok());
            match answer {
                Ok(body) => reply.body(body),
                Err(error) => reply.put_error(&error),
            }
        }
        reply
    })
}
