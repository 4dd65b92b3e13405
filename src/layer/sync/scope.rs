//! Which files are synced, and their listings.

use std::rc::Rc;

use super::Sync;
use super::plan::{Pair, Side};
use crate::core::error::Result;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::protocol::{
    Atomic, Backend, BackendExt, FileInfo, GlobQuery, GlobResult, SharedBackend,
};
use crate::search::glob::PathGlob;
use crate::search::ignore::Ignore;

/// Which paths are synced.
pub struct Range<'a> {
    sync: &'a Sync,
    patterns: Vec<PathGlob>,
    ignores: Vec<Ignore>,
    /// Whether rules around a side may hide a file.
    is_guarded: bool,
}

/// Whether there are rules around a backend.
fn is_guarded(at: &SharedBackend) -> bool {
    match at.atomic() {
        Atomic::Guarded(_) => true,
        Atomic::Inner(inner) => is_guarded(&inner),
        Atomic::Transaction(_)
        | Atomic::Immediate
        | Atomic::Together(_)
        | Atomic::Conditional
        | Atomic::Never => false,
    }
}

/// Whether the rules around a backend show a file.
fn shows(at: &SharedBackend, path: &VPath) -> bool {
    match at.atomic() {
        Atomic::Guarded(guard) => guard.shows(path, false) && shows(&guard.inner(), path),
        Atomic::Inner(inner) => shows(&inner, path),
        Atomic::Transaction(_)
        | Atomic::Immediate
        | Atomic::Together(_)
        | Atomic::Conditional
        | Atomic::Never => true,
    }
}

impl Range<'_> {
    /// Whether a path is synced. What is not is left as it is, on both sides and in what was agreed.
    pub fn has(&self, path: &VPath) -> bool {
        let is_asked =
            self.patterns.is_empty() || self.patterns.iter().any(|one| one.accepts(path));
        is_asked
            && !path.is_own()
            && !self
                .ignores
                .iter()
                .any(|rules| rules.ignores(path, &VPath::root()))
            && (!self.is_guarded
                || Side::BOTH
                    .iter()
                    .all(|side| shows(self.sync.at(*side), path)))
    }

    /// Whether all paths are synced but for the library's own.
    fn has_all(&self) -> bool {
        self.patterns.is_empty() && !self.is_guarded && self.sync.options.ignore.is_empty()
    }

    /// The error if the patterns took too much work.
    pub fn over(&self) -> Result<()> {
        self.ignores.iter().try_for_each(Ignore::over)
    }
}

/// The listed files, in order of their paths.
async fn files_of(at: &dyn Backend, patterns: &[Rc<str>]) -> Result<Vec<FileInfo>> {
    let root = VPath::root();
    let mut queries: Vec<GlobQuery> = patterns
        .iter()
        .map(|pattern| GlobQuery::new(pattern.trim_start_matches('/'), root.clone()))
        .collect();
    if queries.is_empty() {
        queries.push(GlobQuery::all(&root));
    }
    let mut files: Vec<FileInfo> = Vec::new();
    let mut is_in_order = queries.len() == 1;
    for mut query in queries {
        query.in_any_order = true;
        let found: GlobResult = at.glob(&query).await?;
        is_in_order &= found.by_path;
        files.extend(found.complete(&root)?);
    }
    files.retain(|info| !info.is_dir() && !info.path.is_own());
    if !is_in_order {
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        files.dedup_by(|later, first| later.path == first.path);
    }
    Ok(files)
}

/// The rules of the ignore files of a side.
async fn ignored(at: &dyn Backend, names: &[Rc<str>], files: &[FileInfo]) -> Result<Ignore> {
    let mut rules = Ignore::default();
    let pace = Pace::new(clock::now, timer::pause);
    let is_one = |path: &VPath| names.iter().any(|name| **name == *path.name());
    let mut paths: Vec<VPath> = match names {
        [] => return Ok(rules),
        _ => files
            .iter()
            .map(|info| info.path.clone())
            .filter(is_one)
            .collect(),
    };
    order::sort_by_key(&mut paths, |path| path.segments().count());
    for (path, body) in paths.iter().zip(at.download(&paths).await) {
        match body {
            Ok(body) => rules.add(&path.parent(), &body, &pace).await,
            Err(error) if error.is_no_file() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rules)
}

impl Sync {
    /// Lists a side, in order of paths.
    pub(super) async fn list(&self, side: Side) -> Result<Vec<FileInfo>> {
        // Ignore files are looked for everywhere: one above decides about what is below.
        let wide: &[Rc<str>] = match self.options.ignore.is_empty() {
            true => &self.options.paths,
            false => &[],
        };
        files_of(&**self.at(side), wide).await
    }

    /// Which paths are synced, but for those that are ignored.
    pub(super) fn range_of_paths(&self) -> Result<Range<'_>> {
        let patterns = self.options.paths.iter().map(|one| PathGlob::parse(one));
        Ok(Range {
            sync: self,
            patterns: patterns.collect::<Result<Vec<PathGlob>>>()?,
            ignores: Vec::new(),
            is_guarded: Side::BOTH.iter().any(|side| is_guarded(self.at(*side))),
        })
    }

    /// Which paths are synced; of the listed files those stay.
    pub(super) async fn range_of(&self, files: &mut Pair<Vec<FileInfo>>) -> Result<Range<'_>> {
        let mut range = self.range_of_paths()?;
        if range.has_all() {
            return Ok(range);
        }
        for side in Side::BOTH {
            let rules = ignored(&**self.at(side), &self.options.ignore, files.of(side));
            range.ignores.push(rules.await?);
        }
        for side in Side::BOTH {
            files.of_mut(side).retain(|info| range.has(&info.path));
        }
        Ok(range)
    }
}
