//! What is done with single files of a backend.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Content};

/// A file, if there is one.
pub async fn body(at: &dyn Backend, path: &VPath) -> Result<Option<Bytes>> {
    if_there(at.fetch(path).await)
}

/// What there is; `None` if the error says that there is no file.
pub fn if_there<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_no_file() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a file; `false` if there is one. A foreign backend that has no condition for it is asked
/// first, so there somebody else can come in between.
pub async fn create(at: &dyn Backend, path: &VPath, file: &Bytes) -> Result<bool> {
    match at.write(path, Content::New(file.clone(), None)).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == Kind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == Kind::Unsupported => match body(at, path).await? {
            Some(_) => Ok(false),
            None => at.store(path, file.clone()).await.map(|()| true),
        },
        Err(error) => Err(error),
    }
}

/// Whether a conditional change found something else.
pub fn is_conflict(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Conflict | Kind::AlreadyExists | Kind::NotFound
    )
}

/// Whether a file is gone, which was to be deleted.
pub fn none_is_fine<T>(answer: Result<T>) -> Result<()> {
    if_there(answer).map(drop)
}
