//! Listings and searches of what is below a turn, without the files that it covers.

use super::is_reserved;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::winnow;
use crate::protocol::{Backend, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult};

/// The directory above that of the journal.
const JOURNAL_ABOVE: &str = "/.kitbag";

/// A directory, without files that are hidden.
pub(super) async fn ls(
    base: &dyn Backend,
    path: &VPath,
    hidden: &[VPath],
) -> Result<Vec<FileInfo>> {
    let mut infos = base.ls(path).await?;
    infos.retain(|info| shown(info, hidden));
    Ok(infos)
}

fn shown(info: &FileInfo, hidden: &[VPath]) -> bool {
    !is_reserved(&info.path) && (info.is_dir() || hidden.binary_search(&info.path).is_err())
}

/// Whether it is the directory of the journal, which comes and goes with each commit.
pub(super) fn has_journal(info: &FileInfo) -> bool {
    info.is_dir() && info.path.as_str() == JOURNAL_ABOVE
}

/// A search by name below, without files that are hidden.
pub(super) async fn glob(
    base: &dyn Backend,
    query: &GlobQuery,
    hidden: &[VPath],
) -> Result<GlobResult> {
    let mut found = base.glob(query).await?;
    found.files.retain(|info| !is_hidden(&info.path, hidden));
    Ok(found)
}

/// A search by content below, without files that are hidden.
pub(super) async fn grep(
    base: &dyn Backend,
    query: &GrepQuery,
    hidden: &[VPath],
) -> Result<GrepResult> {
    let judge = async |paths: &[VPath]| {
        let verdicts = paths.iter().map(|path| !is_hidden(path, hidden));
        Ok(verdicts.collect())
    };
    winnow::grep(base, query, judge).await
}

fn is_hidden(path: &VPath, hidden: &[VPath]) -> bool {
    is_reserved(path) || hidden.binary_search(path).is_ok()
}
