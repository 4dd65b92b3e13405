//! `delete`: a file, or a directory with everything below it.

use crate::core::error::Result;
use crate::protocol::{Backend, BackendExt};
use crate::tool::Answer;
use crate::tool::input::Input;

/// Deletes `file_path`.
pub async fn run(backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    let deleted = backend.delete(&path, None).await?;
    Ok(Answer::text(format!("Deleted {path}.")).with_update(deleted.files_update))
}
