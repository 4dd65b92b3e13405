//! Listings and searches of the base of an overlay, without the files that the overlay changes.

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::winnow;
use crate::protocol::{
    Backend, BackendExt, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult,
};

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
    info.is_dir() || hidden.binary_search(&info.path).is_err()
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
    hidden.binary_search(path).is_ok()
}
