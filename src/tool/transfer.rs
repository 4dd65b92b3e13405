//! `move_file`, `copy_file`, `append_file`: off unless they are named. No content passes through the
//! model. A file that would be replaced must have been read, as by `write_file`; an append needs no
//! read, since it loses nothing.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::protocol::{Backend, BackendExt, Edit, Transfer, may_create};
use crate::tool::input::{Input, Name, plain};
use crate::tool::seen::Standing;
use crate::tool::{Answer, ToolSet};

const FROM: Name = Name {
    real: "from",
    aliases: &["source", "source_path", "old_path", "file_path", "src"],
};

const TO: Name = Name {
    real: "to",
    aliases: &[
        "destination",
        "destination_path",
        "new_path",
        "dest",
        "target",
    ],
};

const CONTENT: Name = Name {
    real: "content",
    aliases: &["text", "contents"],
};

/// Moves or copies `from` to `to`.
pub async fn run(
    set: &ToolSet,
    backend: &dyn Backend,
    input: &Input,
    keeps: bool,
) -> Result<Answer> {
    let mut asked = Transfer {
        from: input.path_of(&FROM)?,
        to: input.path_of(&TO)?,
        keeps,
        overwrite: input.flag(&plain("overwrite"))?,
    };
    may_create(backend, &asked.to)?;
    let _turns = set.turns.turns([&asked.from, &asked.to]).await;
    let target = match asked.overwrite && set.options.read_before_edit {
        true => match set.whole(backend, &asked.to).await {
            // A file that was not seen is not replaced because the question failed.
            Err(error) if error.is_no_answer() => return Err(error),
            Ok(body) => body,
            Err(error) => {
                // Nor one that cannot be read: the move says that it is there.
                asked.overwrite = error.kind() == Kind::NotFound;
                None
            }
        },
        false => None,
    };
    if let Some(body) = target
        && set.seen.borrow().standing(&asked.to, &body) != Standing::Current
    {
        return Ok(Answer::failure(format!(
            "Error: {} would be replaced, and was not read or has changed since. Read it with \
             read_file first. Nothing was changed.",
            asked.to
        )));
    }
    let done = backend.transfer(&asked).await?;
    set.seen.borrow_mut().transfer(&asked);
    let verb = if keeps { "Copied" } else { "Moved" };
    let text = format!("{verb} {} to {}.", asked.from, asked.to);
    Ok(Answer::text(text).with_update(done.files_update))
}

/// Adds `content` to the end of `file_path`.
pub async fn append(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    let edit = Edit {
        old: Bytes::new(),
        new: Bytes::from(input.text(&CONTENT)?.to_owned()),
        replace_all: false,
        whole: false,
        appends: true,
    };
    let _turn = set.turns.turn(&path).await;
    let before = match set.options.read_before_edit {
        true => set.whole(backend, &path).await.ok().flatten(),
        false => None,
    };
    let done = backend
        .edit(&path, &edit)
        .await
        .map_err(|error| match error.kind() {
            Kind::NotFound => Error::at(
                Kind::NotFound,
                "File '",
                &path,
                "' not found. Create it with write_file.",
            ),
            _ => error,
        })?;
    if let Some(before) = before {
        let mut seen = set.seen.borrow_mut();
        if seen.standing(&path, &before) == Standing::Current {
            seen.note(&path, &[&before[..], &edit.new[..]].concat());
        }
    }
    let text = format!("Added {} characters to {path}.", edit_units(&edit.new));
    Ok(Answer::text(text).with_update(done.files_update))
}

fn edit_units(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}
