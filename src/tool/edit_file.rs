//! `edit_file`: replaces text in a file that was read before. Errors contain what a model needs to
//! correct its call: the nearest lines, or the numbers of the lines that match.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::visible::visible;
use crate::protocol::{Backend, BackendExt, Edit, EditResult};
use crate::search::replace;
use crate::tool::input::{Input, Name};
use crate::tool::nearest::{nearest, places};
use crate::tool::render::counted;
use crate::tool::seen::Standing;
use crate::tool::{Answer, ToolSet};

const OLD: Name = Name {
    real: "old_string",
    aliases: &["old_str", "oldString", "old_text"],
};

const NEW: Name = Name {
    real: "new_string",
    aliases: &["new_str", "newString", "new_text"],
};

const ALL: Name = Name {
    real: "replace_all",
    aliases: &["replaceAll"],
};

/// Maximum number of line numbers listed for an ambiguous edit.
const PLACES: usize = 20;

/// Replaces `old_string` with `new_string`.
pub async fn run(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    let edit = Edit {
        old: Bytes::from(input.text(&OLD)?.to_owned()),
        new: Bytes::from(input.text(&NEW)?.to_owned()),
        replace_all: input.flag(&ALL)?,
        whole: false,
        appends: false,
    };
    if edit.old == edit.new && !edit.old.is_empty() {
        return Ok(Answer::failure(
            "Error: old_string and new_string are the same; nothing was changed.",
        ));
    }
    // Without this lock, parallel calls would take each other's changes for changes by another
    // writer.
    let _turn = set.turns.turn(&path).await;
    let mut before = None;
    if set.options.read_before_edit {
        before = match set.whole(backend, &path).await {
            Err(error) if error.kind() == Kind::NotFound => return Err(Error::not_found(&path)),
            other => other?,
        };
        if let Some(body) = &before
            && let Some(refusal) = stale(set, &path, body)
        {
            return Ok(refusal);
        }
    }
    match backend.edit(&path, &edit).await {
        Ok(edited) => {
            note(set, &path, before.as_ref(), &edit);
            let text = receipt(&path, &edit, &edited);
            Ok(Answer::text(text).with_update(edited.files_update))
        }
        Err(error) if matches!(error.kind(), Kind::NoMatch | Kind::AmbiguousEdit) => {
            let body = match before {
                Some(body) => Some(body),
                None => set.whole(backend, &path).await.unwrap_or_default(),
            };
            Ok(help(&path, &edit, &error, body))
        }
        Err(error) => Err(error),
    }
}

fn stale(set: &ToolSet, path: &VPath, body: &[u8]) -> Option<Answer> {
    let why = match set.seen.borrow().standing(path, body) {
        Standing::Current => return None,
        Standing::Unread => "has not been read yet. Read it with read_file",
        Standing::Changed => "has changed since it was read. Read it again with read_file",
    };
    let path = visible(path.as_str());
    Some(Answer::failure(format!(
        "Error: {path} {why}, then repeat the edit. Nothing was changed."
    )))
}

/// Records the content after the edit, computed without another read. If another writer changed the
/// file in between, the next edit asks for a new read, which is correct.
fn note(set: &ToolSet, path: &VPath, before: Option<&Bytes>, edit: &Edit) {
    let Some(before) = before else { return };
    if let Ok((after, _)) = replace::replace(before, &edit.old, &edit.new, edit.replace_all) {
        set.seen.borrow_mut().note(path, &after);
    }
}

fn receipt(path: &VPath, edit: &Edit, edited: &EditResult) -> String {
    let path = visible(path.as_str());
    if edit.old.is_empty() {
        return format!("Filled {path}.");
    }
    let count = counted(edited.occurrences, "occurrence", "occurrences");
    let endings = if edited.crlf {
        " Its lines end with \\r\\n, which was kept."
    } else {
        ""
    };
    format!("Edited {path}: replaced {count}.{endings}")
}

fn help(path: &VPath, edit: &Edit, error: &Error, body: Option<Bytes>) -> Answer {
    let body = body.unwrap_or_default();
    let path = visible(path.as_str());
    if error.kind() == Kind::AmbiguousEdit {
        let lines = places(&body, &edit.old, PLACES.saturating_add(1));
        let mut shown: Vec<String> = lines.iter().take(PLACES).map(usize::to_string).collect();
        if lines.len() > PLACES {
            shown.push(String::from("…"));
        }
        let count = memchr::memmem::find_iter(&body, &*edit.old).count();
        let occurs = if shown.is_empty() {
            String::from("occurs more than once")
        } else {
            format!("occurs {count} times (lines {})", shown.join(", "))
        };
        return Answer::failure(format!(
            "Error: old_string {occurs} in {path}. Nothing was changed. Add lines around it to \
             make it unique, or set replace_all to true."
        ));
    }
    let near = nearest(
        &String::from_utf8_lossy(&body),
        &String::from_utf8_lossy(&edit.old),
    );
    let mut text = format!("Error: old_string does not occur in {path}. Nothing was changed.");
    if near.is_empty() {
        text.push_str(" No line is like it: read the file again, or look in another one.");
    } else {
        text.push_str(&format!(
            " The nearest lines are:\n{}\nCopy the text exactly as it stands there.",
            near.join("\n")
        ));
    }
    Answer::failure(text)
}
