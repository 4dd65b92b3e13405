//! `glob`: files by name, newest first, up to a limit.

use std::rc::Rc;

use crate::core::error::Result;
use crate::protocol::{Backend, BackendExt, GlobQuery};
use crate::tool::Answer;
use crate::tool::input::{Input, PATH, plain};
use crate::tool::ls::{capped, note_ignored, paths};

/// Finds files by `pattern`.
pub async fn run(backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let query = GlobQuery::new(
        Rc::from(input.text(&plain("pattern"))?),
        match input.optional_text(&PATH)? {
            Some(_) => input.path()?,
            None => crate::core::path::VPath::root(),
        },
    );
    let found = backend.glob(&query).await?;
    if found.files.is_empty() {
        let hint = if query.pattern.contains('/') || query.pattern.contains("**") {
            ""
        } else {
            " A pattern without '/' looks only directly in that directory; begin it with '**/' to search deeper."
        };
        let mut text = format!(
            "No file matches '{}' in {}.{hint}",
            query.pattern, query.path
        );
        note_ignored(&mut text, found.ignored);
        return Ok(Answer::text(text));
    }
    let how = "use a narrower pattern or path";
    let mut text = capped(paths(&found.files), found.files.len(), how);
    if found.truncated {
        text.push_str(&format!("\n[The search stopped early: {how}]"));
    }
    note_ignored(&mut text, found.ignored);
    Ok(Answer::text(text))
}
