//! Calls with several files, of which each has its own answer.

use futures_util::future::LocalBoxFuture;

use crate::boundary::operations::{DownloadArguments, OneOfBatch, UploadArguments, UploadedFile};
use crate::core::error::{Error, Result};
use crate::protocol::{BackendExt, Operation, SharedBackend, may_create, too_few};
use crate::wasm::audits;
use crate::wasm::reply::Reply;

/// Reports the files of a batch that are refused here, before their rules: one record with the first error.
fn report_refused(handle: u32, operation: Operation, parsed: &[Result<()>]) {
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
    Box::pin(async move {
        let (mut parsed, mut files) = (Vec::new(), Vec::new());
        for UploadedFile { path, content } in given.files {
            let mut path = path
                .0
                .and_then(|path| may_create(&*backend, &path).map(|()| path));
            // A storage without real directories keeps a file beside a directory of its name.
            if let (true, Ok(directory)) = (given.only_files, &path) {
                match backend.ls(directory).await {
                    Ok(below) if below.is_empty() => {}
                    Ok(_) => path = Err(Error::is_directory(directory)),
                    Err(error) => path = Err(error),
                }
            }
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
fn answers<T>(
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
