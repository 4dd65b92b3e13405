//! The creation of a file that must not be there, on any backend.

use bytes::Bytes;

use crate::core::error::{Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Content, SharedBackend};

/// Creates a file; `false` if there is one. A foreign backend that has no condition for it is asked
/// first, so there somebody else can come in between.
pub(super) async fn create(at: &SharedBackend, path: &VPath, body: &Bytes) -> Result<bool> {
    match at.write(path, Content::New(body.clone())).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == Kind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == Kind::Unsupported => {
            match at
                .download(std::slice::from_ref(path))
                .await
                .into_iter()
                .next()
            {
                Some(Ok(_)) => return Ok(false),
                Some(Err(error)) if !error.is_no_file() => return Err(error),
                _ => {}
            }
            let answers = at.upload(vec![(path.clone(), body.clone())]).await;
            answers.into_iter().collect::<Result<()>>().map(|()| true)
        }
        Err(error) => Err(error),
    }
}
