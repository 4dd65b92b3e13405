//! `ls`: one directory, up to a limit, with a note about how to see the rest.

use crate::core::error::Result;
use crate::protocol::{Backend, BackendExt, EntryInfo, FileInfo};
use crate::tool::input::Input;
use crate::tool::render::{counted, size};
use crate::tool::{Answer, OWN_CAP};

/// Maximum number of entries shown.
const MOST: usize = 1_000;

/// Lists `path`.
pub async fn run(backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.path()?;
    let entries = backend.ls(&path).await?;
    if entries.is_empty() {
        return Ok(Answer::text(format!(
            "{path} has no files, or does not exist."
        )));
    }
    let rows = entries.iter().map(|info| match info.entry {
        EntryInfo::Directory => info.shown_path(),
        EntryInfo::File {
            size: Some(bytes), ..
        } => format!("{} ({})", info.path, size(bytes)),
        EntryInfo::File { size: None, .. } => info.path.as_str().to_owned(),
    });
    Ok(Answer::text(capped(
        rows,
        entries.len(),
        "narrow it with glob, e.g. pattern '*.md', or list a directory inside",
    )))
}

/// Only the paths, for `glob`.
pub fn paths(files: &[FileInfo]) -> impl Iterator<Item = String> {
    files.iter().map(FileInfo::shown_path)
}

/// Adds how many files ignore files left out of a search.
pub fn note_ignored(text: &mut String, ignored: usize) {
    if ignored > 0 {
        let count = counted(ignored, "file is", "files are");
        text.push_str(&format!(
            "\n[{count} ignored; name the path to search there]"
        ));
    }
}

/// The rows up to the limit, and a note about the omitted ones.
pub fn capped(rows: impl Iterator<Item = String>, total: usize, how: &str) -> String {
    let mut out = String::new();
    let mut shown = 0usize;
    for row in rows.take(MOST) {
        if out.len().saturating_add(row.len()) > OWN_CAP {
            break;
        }
        if shown > 0 {
            out.push('\n');
        }
        out.push_str(&row);
        shown = shown.saturating_add(1);
    }
    let left = total.saturating_sub(shown);
    if left > 0 {
        let more = counted(left, "more is", "more are");
        out.push_str(&format!("\n[{more} not shown: {how}]"));
    }
    out
}
