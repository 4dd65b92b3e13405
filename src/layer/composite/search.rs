//! Searches over several backends, with results as if all files were in one flat tree. A backend
//! gets a narrowed pattern only if that certainly finds everything the outer pattern matches.
//! Otherwise it returns all its files there, and their outer paths are filtered here.
//!
//! A mount whose root a rule closes shows nothing to a search from above. Any other failure of a
//! mount fails the search, and the error names the mount.

use std::rc::Rc;

use futures_util::stream::{self, Stream, StreamExt};

use super::{Composite, Mount};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::env::clock;
use crate::layer::winnow;
use crate::protocol::{
    BackendExt, EntryInfo, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, GrepStats,
    MAX_ANSWER_BYTES, Matches, Only, Row, Sieve, Sift, State,
};
use crate::search::glob::{NameFilter, Pattern};
use crate::search::grep::Matcher;
use crate::search::patience::Patience;

/// How many backends are searched in parallel.
const PARALLEL: usize = 8;

/// One backend's part of a search.
struct Part<'a> {
    mount: &'a Mount,
    /// The directory to search, within the backend.
    inner: VPath,
}

impl Composite {
    /// The backends with files at or below `path`, the owner of `path` first.
    fn parts<'a>(&'a self, path: &'a VPath) -> Result<Vec<Part<'a>>> {
        let owner = self.owner(path);
        let mut parts = vec![Part {
            mount: owner,
            inner: owner.inward(path)?,
        }];
        parts.extend(self.beneath(path).map(|mount| Part {
            mount,
            inner: VPath::root(),
        }));
        Ok(parts)
    }

    /// The outer path of a file in a mount, if it is visible.
    fn visible(&self, mount: &Mount, inner: &VPath) -> Option<VPath> {
        let outer = mount.outward(inner)?;
        let is_seen = std::ptr::eq(self.owner(&outer), mount) || has(Bug::ShadowShown);
        is_seen.then_some(outer)
    }

    pub(super) async fn list_level(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let place = self.place(path)?;
        let listed = place.mount.backend.ls(&place.inner).await;
        let listed = listed.map_err(|error| place.mount.error(error))?;
        if self.mounts.is_empty() {
            return Ok(listed);
        }
        let mut infos: Vec<FileInfo> = listed
            .into_iter()
            .filter_map(|info| {
                Some(FileInfo {
                    path: self.visible(place.mount, &info.path)?,
                    entry: info.entry,
                })
            })
            .collect();
        for mount in self.beneath(path) {
            let name = mount
                .prefix
                .relative_to(path)
                .and_then(|rest| rest.split('/').next());
            let Some(name) = name else { continue };
            infos.push(FileInfo {
                path: path.join(name)?,
                entry: EntryInfo::Directory,
            });
        }
        order::sort_by(&mut infos, FileInfo::listing_order);
        infos.dedup_by(|a, b| a.path == b.path && a.is_dir() == b.is_dir());
        Ok(infos)
    }

    pub(super) async fn glob_all(&self, query: &GlobQuery) -> Result<GlobResult> {
        let pattern = Pattern::parse(query)?;
        let scope = pattern.scope();
        let dir = pattern.scope().literal_dir();
        // A relative pattern is valid unchanged for the owner of `path`.
        let relative = scope.root == query.path && !may_be_anchored(&query.pattern);
        let key = scope.key_prefix();
        let mut asked = Vec::new();
        let base = if relative { &query.path } else { &dir };
        for (at, part) in self.parts(base)?.into_iter().enumerate() {
            let prefix = part.mount.prefix.dir_prefix();
            if at > 0 && !(prefix.starts_with(&key) || key.starts_with(&prefix)) {
                continue;
            }
            let as_given = (relative && at == 0) || is_deep_name(&query.pattern);
            let pattern = if as_given {
                query.pattern.clone()
            } else {
                "**".into()
            };
            // An anchored pattern passed on unchanged would be relative to the mount's root.
            asked.push((part.mount, GlobQuery::new(pattern, part.inner)));
        }
        let asked = asked
            .into_iter()
            .map(|(mount, query)| async move { (mount, mount.backend.glob(&query).await) });
        let answers: Vec<(&Mount, Result<GlobResult>)> = in_parallel(asked).collect().await;
        let mut merged = GlobResult::default();
        for (at, (mount, answer)) in answers.into_iter().enumerate() {
            let found = match answer {
                Err(error) if at > 0 && error.is_by_rule() => continue,
                answer => answer.map_err(|error| named(mount, error))?,
            };
            merged.truncated |= found.truncated;
            merged.ignored = merged.ignored.saturating_add(found.ignored);
            merged
                .files
                .extend(found.files.into_iter().filter_map(|info| {
                    let path = self.visible(mount, &info.path)?;
                    (!info.is_dir() && pattern.accepts(&path)).then_some(FileInfo {
                        path,
                        entry: info.entry,
                    })
                }));
        }
        pattern.over()?;
        order::sort_by(&mut merged.files, FileInfo::newest_first);
        merged.files.dedup_by(|a, b| a.path == b.path);
        Ok(merged)
    }

    pub(super) async fn grep_all(&self, query: &GrepQuery) -> Result<GrepResult> {
        // Refused here, and not by the first backend that fails.
        Matcher::new(query, Patience::until(None, clock::now))?;
        let filter = match &query.glob {
            Some(glob) => Some(NameFilter::parse(glob, &query.path)?),
            None => None,
        };
        let parts = self.parts(&query.path)?;
        let asked = parts.into_iter().enumerate().map(|(at, part)| {
            let filter = filter.as_ref();
            async move {
                let mount = part.mount;
                let answer = self.grep_part(query, filter, at > 0, part).await;
                (at == 0, mount, answer)
            }
        });
        let mut answers = Box::pin(in_parallel(asked));
        let mut results = Vec::new();
        let mut truncated = false;
        let mut stats = None;
        let mut ignored = 0usize;
        let mut cost = 0usize;
        while let Some((is_owner, mount, answer)) = answers.next().await {
            let found = match answer {
                Err(error) if !is_owner && error.is_by_rule() => continue,
                answer => answer.map_err(|error| named(mount, error))?,
            };
            truncated |= found.truncated;
            ignored = ignored.saturating_add(found.ignored);
            stats = GrepStats::sum(stats, found.stats);
            if found.matches.rows.is_empty() {
                continue;
            }
            cost = cost.saturating_add(found.matches.cost());
            results.push(found.matches);
            // Does not wait for the remaining results: all together would be too large.
            if cost >= MAX_ANSWER_BYTES {
                truncated = true;
                break;
            }
        }
        drop(answers);
        let judged = filter.as_ref().map_or(Ok(()), NameFilter::over);
        judged?;
        let mut matches = merged(results);
        truncated |= matches.cut;
        truncated |= matches.cap(query.max_count);
        Ok(GrepResult {
            matches,
            truncated,
            ignored,
            stats,
        })
    }

    async fn grep_part(
        &self,
        query: &GrepQuery,
        filter: Option<&NameFilter>,
        is_beneath: bool,
        part: Part<'_>,
    ) -> Result<GrepResult> {
        let mount = part.mount;
        // A filter is relative to `path`, or to the root: both differ inside a mount.
        let means_the_same = query.glob.as_deref().is_none_or(|glob| {
            !glob.contains('/')
                || is_deep_name(glob)
                || (!is_beneath && (mount.is_default() || !may_be_anchored(glob)))
        });
        let mut own = query.clone();
        own.path = part.inner;
        let deeper = self
            .beneath(&mount.prefix)
            .map(|mount| mount.prefix.clone())
            .collect::<Vec<_>>();
        if query.sieve.is_some() || (query.stats && !deeper.is_empty()) {
            own.sieve = Some(Sieve(Rc::new(Outer {
                prefix: mount.prefix.clone(),
                deeper,
                sieve: query.sieve.clone(),
            })));
        }
        if !means_the_same {
            own.glob = None;
        }
        let hides = !means_the_same
            || self
                .beneath(&mount.prefix)
                .any(|deeper| deeper.prefix.is_under(&query.path));
        let mut found = if hides {
            let judge = async |paths: &[VPath]| {
                Ok(paths
                    .iter()
                    .map(|inner| {
                        self.visible(mount, inner).is_some_and(|outer| {
                            means_the_same || filter.is_none_or(|filter| filter.accepts(&outer))
                        })
                    })
                    .collect())
            };
            winnow::grep(&*mount.backend, &own, judge).await?
        } else {
            mount.backend.grep(&own).await?
        };
        if !mount.is_default() {
            for path in &mut found.matches.paths {
                *path = mount.outward(path).ok_or_else(|| {
                    Error::new(
                        Kind::InvalidPath,
                        "A matching file's path is over 1024 bytes here; search below the mount",
                    )
                })?;
            }
        }
        Ok(found)
    }
}

/// A sieve for paths of the composite, where a mount asks it about its own.
struct Outer {
    prefix: VPath,
    /// Mounts that cover files of this one.
    deeper: Vec<VPath>,
    sieve: Option<Sieve>,
}

impl Outer {
    fn path(&self, inner: &VPath) -> Option<VPath> {
        let path = match self.prefix.is_root() {
            true => inner.clone(),
            false => inner.rebase(&VPath::root(), &self.prefix)?,
        };
        let covered = self.deeper.iter().any(|prefix| path.is_under(prefix));
        (!covered).then_some(path)
    }
}

impl Sift for Outer {
    fn admits(&self, inner: &VPath, state: &State<'_>) -> bool {
        match (self.path(inner), &self.sieve) {
            (Some(path), Some(sieve)) => sieve.admits(&path, state),
            (Some(_), None) => true,
            // A path that is too long fails the search later, if it matches.
            (None, _) => inner.rebase(&VPath::root(), &self.prefix).is_none(),
        }
    }

    fn read(&self, inner: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        if let (Some(path), Some(sieve)) = (self.path(inner), &self.sieve) {
            sieve.read(&path, state, body, is_text);
        }
    }

    fn tells(&self, inner: &VPath) -> bool {
        match (self.path(inner), &self.sieve) {
            (Some(path), Some(sieve)) => sieve.tells(&path),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    fn splits(&self) -> Vec<VPath> {
        let outer = self.sieve.as_ref().map(|sieve| sieve.splits());
        let inward = |path: VPath| match self.prefix.is_root() {
            true => Some(path),
            false => path.rebase(&self.prefix, &VPath::root()),
        };
        let outer = outer.unwrap_or_default();
        outer.into_iter().filter_map(inward).collect()
    }

    fn only(&self) -> Option<Rc<Only>> {
        let outer = self.sieve.as_ref()?.only()?;
        if self.prefix.is_root() {
            return Some(outer);
        }
        let root = VPath::root();
        let files = outer.files.iter();
        let trees = outer
            .trees
            .iter()
            .filter_map(|tree| match self.prefix.is_under(tree) {
                true => Some(root.clone()),
                false => tree.rebase(&self.prefix, &root),
            });
        Some(Rc::new(Only {
            files: files
                .filter_map(|path| path.rebase(&self.prefix, &root))
                .collect(),
            trees: trees.collect(),
        }))
    }

    fn skipped(&self, inner: &VPath, state: &State<'_>) {
        if let (Some(path), Some(sieve)) = (self.path(inner), &self.sieve) {
            sieve.skipped(&path, state);
        }
    }

    fn hides(&self) -> bool {
        self.sieve.as_ref().is_some_and(|sieve| sieve.hides())
    }

    fn counts(&self) -> bool {
        self.sieve.as_ref().is_some_and(|sieve| sieve.counts())
    }
}

/// Runs futures in parallel; the results are in their order. A single one is awaited directly, since
/// `buffered` would poll the task twice for each of its wakes.
fn in_parallel<F: Future>(
    futures: impl ExactSizeIterator<Item = F>,
) -> impl Stream<Item = F::Output> {
    if futures.len() == 1 {
        stream::iter(futures).then(|future| future).left_stream()
    } else {
        stream::iter(futures).buffered(PARALLEL).right_stream()
    }
}

/// Whether some alternative of the pattern may begin with `/` and be relative to the root. Braces,
/// parentheses and a `!` can hide that, so any of them at the beginning counts as such.
fn may_be_anchored(pattern: &str) -> bool {
    pattern.starts_with(['/', '\\', '{', '(', '@', '!']) || pattern.starts_with("?(")
}

/// `**/` followed by a pattern for one name: it matches the same files from any directory above.
fn is_deep_name(pattern: &str) -> bool {
    pattern
        .strip_prefix("**/")
        .is_some_and(|name| !name.is_empty() && !name.contains('/') && name != "." && name != "..")
}

/// The failure of one mount fails the search and names the mount. Errors about the query itself do
/// not name one.
fn named(mount: &Mount, error: Error) -> Error {
    let error = mount.error(error);
    if mount.is_default() || matches!(error.kind(), Kind::InvalidPattern | Kind::InvalidArgument) {
        return error;
    }
    let prefix = mount.prefix.dir_prefix();
    let mut named = Error::new(
        error.kind(),
        format!("The mount '{prefix}' failed: {error}"),
    );
    if let Some(wait) = error.wait() {
        named = named.retry_after(wait);
    }
    if let Some(cause) = error.cause() {
        named = named.caused_by(cause.clone());
    }
    named
}

/// Merges the matches of several searches in order of path. Each file is in only one of them.
fn merged(mut results: Vec<Matches>) -> Matches {
    match results.len() {
        0 => return Matches::default(),
        1 => return results.pop().unwrap_or_default(),
        _ => {}
    }
    let mut groups: Vec<(&VPath, &Matches, &[Row])> = Vec::new();
    for matches in &results {
        for rows in matches.rows.chunk_by(|a, b| a.file == b.file) {
            let file = rows.first().map_or(0, |row| row.file as usize);
            if let Some(path) = matches.paths.get(file) {
                groups.push((path, matches, rows));
            }
        }
    }
    order::sort_by(&mut groups, |a, b| a.0.cmp(b.0));
    let mut out = Matches::default();
    for (path, matches, rows) in groups {
        if out.is_full() {
            out.cut = true;
            break;
        }
        out.append_file(path.clone(), matches, rows);
    }
    out
}
