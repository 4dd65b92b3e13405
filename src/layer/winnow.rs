//! Filters hidden matches out of search results. The result is exact: a hidden match does not count
//! towards `maxCount` and does not affect `truncated`. The composite hides files below a mount, a
//! policy hides files that may not be read; both use this module.

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, GrepQuery, GrepResult, Matches};

/// Growth factor of the limit when hidden matches used up the previous one.
const WIDER: usize = 32;

/// Runs a search and keeps the files that `judge` accepts. `judge` is called once per result with
/// all files that have a match, and returns one verdict per file.
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
    // One more than requested shows whether there are more matches.
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

/// The rows of the accepted files.
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
