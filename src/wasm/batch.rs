//! Calls with several files, of which each has its own answer.

use futures_util::future::LocalBoxFuture;

use crate::boundary::operations::{DownloadArguments, OneOfBatch, UploadArguments, UploadedFile};
use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Operation, SharedBackend, may_create, too_few};
use crate::wasm::audits;
use crate::wasm::reply::Reply;

/// Reports the files of a batch that are refused here, before their rules: one record with the first error.
pub fn report_refused<T>(handle: u32, operation: Operation, parsed: &[Result<T>]) {
    if let Some(error) = parsed.iter().find_map(|one| one.as_ref().err()) {
        audits::refused(handle, operation, error.code());
    }
}

/// The path of a file to store, if it may have one there.
pub async fn allowed(backend: &dyn Backend, path: OneOfBatch, only_files: bool) -> Result<VPath> {
    let path = path.0?;
    may_create(backend, &path)?;
    // A storage without real directories keeps a file beside a directory of its name.
    if only_files && !backend.ls(&path).await?.is_empty() {
        return Err(Error::is_directory(&path));
    }
    Ok(path)
}

/// `uploadFiles`.
pub fn upload(
    handle: u32,
    backend: SharedBackend,
    given: UploadArguments,
) -> LocalBoxFuture<'static, Reply> {
    Box::pin(async move {
        let (mut parsed, mut files) = (Vec::new(), Vec::new());
        for UploadedFile { path, content } in given.files {
            let path = allowed(&*backend, path, given.only_files).await;
            parsed.push(path.map(|path| files.push((path, content))));
        }
        report_refused(handle, Operation::UploadFiles, &parsed);
        let stored = match files.is_empty() && !parsed.is_empty() {
            true => Vec::new(),
            false => backend.upload(files).await,
        };
        answers(parsed, stored, |_, ()| ())
    })
}

/// `downloadFiles`.
pub fn download(
    handle: u32,
    backend: SharedBackend,
    given: DownloadArguments,
) -> LocalBoxFuture<'static, Reply> {
    Box::pin(async move {
        let (mut parsed, mut paths) = (Vec::new(), Vec::new());
        for OneOfBatch(path) in given.paths {
            parsed.push(path.map(|path| paths.push(path)));
        }
        report_refused(handle, Operation::DownloadFiles, &parsed);
        let fetched = match paths.is_empty() && !parsed.is_empty() {
            true => Vec::new(),
            false => backend.download(&paths).await,
        };
        answers(parsed, fetched, Reply::body)
    })
}

/// Packs the answer of each file: why it was refused, or what the backend answered.
pub fn answers<T>(
    parsed: Vec<Result<()>>,
    answered: Vec<Result<T>>,
    pack: impl Fn(&mut Reply, T),
) -> Reply {
    let mut answered = answered.into_iter();
    let mut reply = Reply::ok();
    reply.len(parsed.len());
    for one in parsed {
        let one = one.and_then(|()| answered.next().unwrap_or_else(|| Err(too_few())));
        reply.bool(one.is_ok());
        match one {
            Ok(value) => pack(&mut reply, value),
            Err(error) => reply.put_error(&error),
        }
    }
    reply
}
