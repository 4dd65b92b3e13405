//! Deletes. The delete of a directory above mounts calls every backend below it, one after the
//! other; if one fails, the error reports what was already deleted.

use std::fmt::Write;

use bytes::Bytes;

use super::{Composite, Mount};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, DeleteResult, Directories, FilesUpdate};

/// One backend's part of a delete.
struct Target<'a> {
    mount: &'a Mount,
    inner: VPath,
    /// The deleted path, as callers see it.
    shown: String,
}

impl Composite {
    /// Removes one file if it still has these bytes.
    pub(super) async fn delete_unchanged(
        &self,
        path: &VPath,
        body: &Bytes,
    ) -> Result<DeleteResult> {
        let place = self.place(path)?;
        if place.inner.is_root() {
            return Err(Error::nothing_there(path));
        }
        let answer = place.mount.backend.delete(&place.inner, Some(body)).await;
        match answer {
            Ok(DeleteResult { files_update }) => Ok(DeleteResult {
                files_update: place.mount.update(files_update),
            }),
            Err(error) => Err(place.mount.error(error)),
        }
    }

    pub(super) async fn delete_all(&self, path: &VPath) -> Result<DeleteResult> {
        let place = self.place(path)?;
        let mut targets = vec![Target {
            mount: place.mount,
            shown: path.as_str().to_owned(),
            inner: place.inner,
        }];
        targets.extend(self.beneath(path).map(|mount| Target {
            mount,
            inner: VPath::root(),
            shown: mount.prefix.dir_prefix(),
        }));
        let several = targets.len() > 1;
        if several {
            // Checked before anything is deleted.
            for target in &targets {
                if !target.mount.backend.capability().writable {
                    return Err(Error::at(
                        Kind::PermissionDenied,
                        "Cannot delete '",
                        path,
                        format!(
                            "': the backend of '{}' is read-only. Nothing was deleted.",
                            target.shown
                        ),
                    ));
                }
            }
        }
        let mut done: Vec<&str> = Vec::new();
        let mut update: Option<FilesUpdate> = None;
        for (at, target) in targets.iter().enumerate() {
            let backend = &*target.mount.backend;
            let answer = if target.inner.is_root() {
                delete_everything(backend).await
            } else {
                backend.delete(&target.inner, None).await
            };
            match answer {
                Ok(DeleteResult { files_update }) => {
                    done.push(&target.shown);
                    if let Some(more) = target.mount.update(files_update) {
                        update.get_or_insert_default().extend(more);
                    }
                }
                Err(error) if error.kind() == Kind::NotFound => {}
                Err(error) => {
                    let error = target.mount.error(error);
                    if !several {
                        return Err(error);
                    }
                    let left: Vec<&str> = targets
                        .iter()
                        .skip(at + 1)
                        .map(|target| target.shown.as_str())
                        .collect();
                    return Err(half_way(path, &done, &target.shown, &left, &error));
                }
            }
        }
        if done.is_empty() {
            return Err(Error::nothing_there(path));
        }
        Ok(DeleteResult {
            files_update: update,
        })
    }
}

/// Deletes everything in a backend. Most accept the root for that; if a backend refuses the root as
/// a path, or because it is a directory, its entries are deleted one by one. A real directory is
/// there even if it is empty, as it is for a delete below the root.
async fn delete_everything(backend: &dyn Backend) -> Result<DeleteResult> {
    let root = VPath::root();
    match backend.delete(&root, None).await {
        Err(error) if matches!(error.kind(), Kind::InvalidPath | Kind::IsDirectory) => {}
        answer => return answer,
    }
    let mut entries: Vec<VPath> = backend
        .ls(&root)
        .await?
        .into_iter()
        .map(|info| info.path)
        .collect();
    entries.dedup();
    let mut any = backend.capability().directories == Directories::Real;
    let mut update: Option<FilesUpdate> = None;
    for entry in entries {
        match backend.delete(&entry, None).await {
            Ok(DeleteResult { files_update }) => {
                any = true;
                if let Some(more) = files_update {
                    update.get_or_insert_default().extend(more);
                }
            }
            Err(error) if error.kind() == Kind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    if any {
        Ok(DeleteResult {
            files_update: update,
        })
    } else {
        Err(Error::nothing_there(&root))
    }
}

fn half_way(path: &VPath, done: &[&str], failed: &str, left: &[&str], error: &Error) -> Error {
    let mut after = String::from("' was deleted only in part.");
    let list = |out: &mut String, what: &str, names: &[&str]| {
        if !names.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(out, " {what}: {}.", names.join(", "));
        }
    };
    if done.is_empty() {
        after = String::from("' was not deleted.");
    }
    list(&mut after, "Removed", done);
    list(&mut after, "Not tried", left);
    let _ = write!(after, " Failed: {failed}: {error}");
    let mut half = Error::at(error.kind(), "Error: '", path, after);
    if let Some(cause) = error.cause() {
        half = half.caused_by(cause.clone());
    }
    half
}
