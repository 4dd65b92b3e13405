//! `delete`: a file, or a directory with all beneath it.

use crate::error::Result;
use crate::protocol::Backend;
use crate::tool::input::Input;
use crate::tool::{Answer, ToolSet};

/// Deletes `file_path`.
pub async fn run(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    let deleted = backend.delete(&path).await?;
    set.seen.borrow_mut().forget(&path);
    Ok(Answer::text(format!("Deleted {path}.")).with_update(deleted.files_update))
}
