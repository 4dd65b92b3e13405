//! What several layers do with single files of a backend.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Content, Edit, FilesUpdate, Replacement};

/// A file, if there is one.
pub(super) async fn body(at: &dyn Backend, path: &VPath) -> Result<Option<Bytes>> {
    if_there(at.fetch(path).await)
}

/// What there is; `None` if the error says that there is no file.
pub(super) fn if_there<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_no_file() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a file; `false` if there is one. A foreign backend that has no condition for it is asked
/// first, so there somebody else can come in between.
pub(super) async fn create(at: &dyn Backend, path: &VPath, file: &Bytes) -> Result<bool> {
    match at.write(path, Content::New(file.clone())).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == Kind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == Kind::Unsupported => match body(at, path).await? {
            Some(_) => Ok(false),
            None => at.store(path, file.clone()).await.map(|()| true),
        },
        Err(error) => Err(error),
    }
}

/// Replaces one file, if it holds what is expected.
pub(super) async fn replace(at: &dyn Backend, file: &Replacement) -> Result<Option<FilesUpdate>> {
    let path = &file.path;
    match (&file.before, &file.after) {
        (None, None) => Ok(None),
        (None, Some(after)) => {
            let written = at.write(path, Content::New(after.clone())).await;
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
pub(super) async fn put(
    at: &dyn Backend,
    path: &VPath,
    after: Option<&Bytes>,
) -> Result<Option<FilesUpdate>> {
    match after {
        Some(after) => at.store(path, after.clone()).await.map(|()| None),
        None => {
            let deleted = at.delete(path, None).await;
            deleted.map(|done| done.files_update)
        }
    }
}

/// Whether a conditional change found something else.
pub(super) fn is_conflict(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Conflict | Kind::AlreadyExists | Kind::NotFound
    )
}
