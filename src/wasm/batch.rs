//! Calls with several files, of which each has its own answer.

use std::any::Any;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::operations::{
    DownloadArguments, OneOfBatch, StreamArguments, UploadArguments, UploadedFile,
};
use crate::boundary::read;
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::links;
use crate::core::parts::Parts;
use crate::core::path::VPath;
use crate::env::host;
use crate::protocol::{Backend, BackendExt, Operation, SharedBackend, may_create, too_few};
use crate::storage::custom_values::refusal;
use crate::wasm::reply::{Reply, reply_done};
use crate::wasm::task::Begun;
use crate::wasm::{audits, handles, task};

/// Reports the files of a batch that are refused here, before their rules: one record with the first error.
fn report_refused<T>(handle: u32, operation: Operation, parsed: &[Result<T>]) {
    if let Some(error) = parsed.iter().find_map(|one| one.as_ref().err()) {
        audits::refused(handle, operation, error.code());
    }
}

/// The path of a file to store, if it may have one there.
async fn allowed(backend: &dyn Backend, path: OneOfBatch, only_files: bool) -> Result<VPath> {
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

/// `uploadFiles` of one file, whose bytes an object of JavaScript has.
#[wasm_bindgen]
pub fn upload_parts(handle: u32, len: usize, limit: f64, object: JsValue) -> Begun {
    let given = read::<StreamArguments>(len);
    let backend = handles::backend(handle);
    let refuses_links = handles::refuses_links(handle);
    reply_done();
    let uploaded = async move {
        let (given, backend) = (given?, backend?);
        let parts = ObjectParts {
            object,
            // Casts saturate.
            size: given.size as u64,
            most: given.most as u64,
        };
        let parsed = allowed(&*backend, given.path, given.only_files).await;
        report_refused(
            handle,
            Operation::UploadFiles,
            std::slice::from_ref(&parsed),
        );
        backend.stream(&parsed?, &parts).await
    };
    let replying = async move { answers(vec![Ok(())], vec![uploaded.await], |_, ()| ()) };
    let replying: LocalBoxFuture<'static, Reply> = match refuses_links {
        true => Box::pin(links::refusing(Box::pin(replying))),
        false => Box::pin(replying),
    };
    task::start_as(Some(Operation::UploadFiles.name()), limit, replying)
}

/// The bytes of a file, as an object of JavaScript gives them (`ts/core/parts.ts`).
struct ObjectParts {
    object: JsValue,
    size: u64,
    most: u64,
}

impl Parts for ObjectParts {
    fn size(&self) -> u64 {
        self.size
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn next(&self) -> Pending<'_, Option<Bytes>> {
        Box::pin(async move {
            let failed = || Error::internal("The parts of a file have no next()");
            let next = host::method(&self.object, "next").ok_or_else(failed)?;
            let part = host::call("next() failed", &next, &self.object, &[]).await;
            let part = part.map_err(|error| refusal(error, None))?;
            Ok(host::bytes_of(&part))
        })
    }

    fn object(&self) -> &dyn Any {
        &self.object
    }
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
