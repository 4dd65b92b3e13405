//! What several layers do with single files of a backend.

use bytes::Bytes;

use crate::core::error::{Kind, Result};
use crate::core::file::Mode;
use crate::core::future::{PARALLEL, Pending, bounded};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Content, Edit, FilesUpdate, Replacement, too_few};

pub(super) use crate::side::{body, if_there, is_conflict};

/// The content of a file, and its permission bits if they are kept.
pub(super) type Held = (Bytes, Option<Mode>);

/// Contents of several files. Permission bits come with single files only, so these are read one by one
/// where a backend keeps them.
pub(super) async fn held(at: &dyn Backend, paths: &[VPath]) -> Vec<Result<Held>> {
    if !at.capability().keeps_modes {
        let bodies = at.download(paths).await.into_iter();
        return bodies.map(|body| body.map(|body| (body, None))).collect();
    }
    let reads = paths.iter().map(|path| -> Pending<'_, Held> {
        Box::pin(async move {
            let file = at.read_raw(path).await?;
            Ok((file.body, file.mode))
        })
    });
    bounded(PARALLEL, reads).await
}

/// One of them, if it is there.
pub(super) async fn held_at(at: &dyn Backend, path: &VPath) -> Result<Option<Held>> {
    let found = held(at, std::slice::from_ref(path))
        .await
        .into_iter()
        .next();
    if_there(found.unwrap_or_else(|| Err(too_few())))
}

/// Replaces one file, if it holds what is expected.
pub(super) async fn replace(at: &dyn Backend, file: &Replacement) -> Result<Option<FilesUpdate>> {
    let path = &file.path;
    match (&file.before, &file.after) {
        (None, None) => Ok(None),
        (None, Some(after)) => {
            let written = at.write(path, Content::New(after.clone(), file.mode)).await;
            written.map(|done| done.files_update)
        }
        (Some(before), Some(after)) => {
            let edit = Edit {
                old: before.clone(),
                new: after.clone(),
                replace_all: false,
                whole: true,
                appends: false,
            };
            at.edit(path, &edit).await.map(|done| done.files_update)
        }
        (Some(before), None) => {
            let deleted = at.delete(path, Some(before)).await;
            deleted.map(|done| done.files_update)
        }
    }
}

/// Stores or deletes a file, whatever it holds.
pub(super) async fn put(at: &dyn Backend, file: &Replacement) -> Result<Option<FilesUpdate>> {
    let path = &file.path;
    // Only a file that is created takes permission bits.
    if let (None, Some(after), Some(_)) = (&file.before, &file.after, file.mode) {
        match at.write(path, Content::New(after.clone(), file.mode)).await {
            Err(error) if matches!(error.kind(), Kind::AlreadyExists | Kind::Unsupported) => {}
            answer => return answer.map(|written| written.files_update),
        }
    }
    match &file.after {
        Some(after) => at.store(path, after.clone()).await.map(|()| None),
        None => {
            let deleted = at.delete(path, None).await;
            deleted.map(|done| done.files_update)
        }
    }
}
