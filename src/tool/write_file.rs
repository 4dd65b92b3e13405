//! `write_file`: creates a file; if the backend overwrites, also replaces one that was read before.

use bytes::Bytes;

use crate::core::error::{Kind, Result};
use crate::core::file;
use crate::protocol::{Backend, BackendExt, Content, may_create};
use crate::tool::input::{Input, Name};
use crate::tool::render::{counted, size};
use crate::tool::seen::Standing;
use crate::tool::{Answer, ToolSet};

const CONTENT: Name = Name {
    real: "content",
    aliases: &["text", "contents", "file_text"],
};

/// Writes `content` to `file_path`.
pub async fn run(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    may_create(backend, &path)?;
    let content = Bytes::from(input.text(&CONTENT)?.to_owned());
    let _turn = set.turns.turn(&path).await;
    let mut unread = None;
    if set.options.read_before_edit {
        match set.whole(backend, &path).await {
            Ok(Some(body)) => match set.seen.borrow().standing(&path, &body) {
                Standing::Unread => {
                    return Ok(Answer::failure(format!(
                        "Error: {path} already exists and has not been read. Read it with read_file, \
                         then change it with edit_file, or write to a new path."
                    )));
                }
                Standing::Changed => {
                    return Ok(Answer::failure(format!(
                        "Error: {path} has changed since it was read. Read it again with read_file, \
                         then repeat the change."
                    )));
                }
                Standing::Current => {}
            },
            Ok(None) => {}
            Err(error) if error.kind() == Kind::NotFound => {}
            // A file that was not seen is not replaced because the question failed.
            Err(error) if error.is_no_answer() => return Err(error),
            // The write itself reports the best error, and replaces nothing that was not seen.
            Err(error) => unread = Some(error),
        }
    }
    let body = file::decode_content(&path, content.clone())?;
    let written = match unread {
        None => backend.write(&path, Content::Text(content)).await?,
        Some(unread) => match backend.write(&path, Content::New(body.clone(), None)).await {
            Err(error) if error.kind() == Kind::Unsupported => return Err(unread),
            written => written?,
        },
    };
    set.seen.borrow_mut().note(&path, &body);
    let lines = if file::is_binary_name(&path) {
        String::new()
    } else {
        let newlines = memchr::memchr_iter(b'\n', &body).count();
        let open = usize::from(!body.is_empty() && body.last() != Some(&b'\n'));
        format!(
            "{}, ",
            counted(newlines.saturating_add(open), "line", "lines")
        )
    };
    let text = format!("Wrote {path} ({lines}{}).", size(body.len() as u64));
    Ok(Answer::text(text).with_update(written.files_update))
}
