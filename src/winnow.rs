//! Taking away what must not show from a search's answer, exactly: a match that is hidden uses
//! up nothing of `maxCount` and leaves no trace in `truncated`. The router hides what lies under
//! a mount, a policy what may not be read; both ask here.

use crate::error::Result;
use crate::path::VPath;
use crate::protocol::{Backend, FileInfo, GlobQuery, GrepQuery, GrepResult, Matches};

/// How much wider each further question is, when hidden matches ate the last one's budget.
const WIDER: usize = 32;

/// Runs a search and keeps the files that `judge` keeps. It is shown each file with a match
/// once an answer, and says yes or no for each.
pub async fn grep(
    backend: &dyn Backend,
    query: &GrepQuery,
    mut judge: impl AsyncFnMut(&[VPath]) -> Result<Vec<bool>>,
) -> Result<GrepResult> {
    let Some(cap) = query.max_count else {
        let mut found = backend.grep(query).await?;
        let verdict = judge(&found.matches.paths).await?;
        found.matches = keep(found.matches, &verdict);
        return Ok(found);
    };
    let mut wider = query.clone();
    // One more than asked tells whether there is more.
    let mut budget = Some(cap.saturating_add(1));
    loop {
        wider.max_count = budget;
        let mut found = backend.grep(&wider).await?;
        let verdict = judge(&found.matches.paths).await?;
        let exhausted = !found.truncated;
        found.matches = keep(found.matches, &verdict);
        if found.matches.count() > cap {
            found.matches.keep_first(cap);
            found.truncated = true;
            return Ok(found);
        }
        if exhausted || budget.is_none() {
            return Ok(found);
        }
        budget = budget
            .and_then(|budget| budget.checked_mul(WIDER))
            .filter(|budget| *budget < 1 << 20);
    }
}

/// The rows of the files that are kept.
fn keep(matches: Matches, verdict: &[bool]) -> Matches {
    if verdict.iter().all(|kept| *kept) {
        return matches;
    }
    let mut out = Matches {
        cut: matches.cut,
        ..Matches::default()
    };
    for rows in matches.rows.chunk_by(|a, b| a.file == b.file) {
        let file = rows.first().map_or(0, |row| row.file as usize);
        if let (Some(true), Some(path)) = (verdict.get(file), matches.paths.get(file)) {
            out.append_file(path.clone(), &matches, rows);
        }
    }
    out
}

/// Every file beneath `dir`. A backend that shows only some of them is told as an error, since
/// a rule that judges all must see all.
pub async fn files_beneath(backend: &dyn Backend, dir: &VPath) -> Result<Vec<FileInfo>> {
    let query = GlobQuery {
        pattern: "**".into(),
        path: dir.clone(),
    };
    let found = backend.glob(&query).await?;
    if found.truncated {
        return Err(crate::error::Error::at(
            crate::error::Kind::Unavailable,
            "The backend does not show every file under '",
            dir,
            "', so no rule can be applied to all of them; take a smaller directory",
        ));
    }
    Ok(found.files)
}
