//! What several layers do with single files of a backend.

use bytes::Bytes;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Content, Edit, FilesUpdate, Replacement};

pub(super) use crate::side::{body, if_there, is_conflict};

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
