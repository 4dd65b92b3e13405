//! Searches that fail because of something hidden. A search in a directory also reaches files that
//! a rule hides. If it fails, it is repeated for the visible files and directories only: a hidden
//! file that cannot be read must not fail the search, and its error must not show its name. If the
//! error may still be about something hidden, it is replaced by one that names only the directory
//! that was asked for.
//!
//! Likewise a read of a directory says that it is one only if something in it is visible.
//!
//! This is below all other rules, so that a repeated search counts once and asks once.

use super::rule::Rule;
use super::rules::{Beneath, Rules, Touch};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::layer::winnow;
use crate::protocol::{
    Answer, BackendExt, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, ReadResult,
    Request, SharedBackend, answer,
};
use crate::search::glob::{NameFilter, Pattern};

pub(super) struct SkipHidden {
    inner: SharedBackend,
    rules: Rules,
}

/// The error that stands for one which may be about something hidden.
pub(super) fn veiled(error: &Error, path: &VPath) -> Error {
    let is_plain = matches!(
        error.kind(),
        Kind::Timeout | Kind::RateLimited | Kind::TooLarge | Kind::Internal
    );
    let kind = match is_plain {
        true => error.kind(),
        false => Kind::Unavailable,
    };
    let veiled = Error::at(
        kind,
        "The backend failed beneath '",
        path,
        "'; the details may not be shown here",
    );
    match error.wait() {
        Some(wait) => veiled.retry_after(wait),
        None => veiled,
    }
}

impl SkipHidden {
    pub(super) fn new(inner: SharedBackend, rules: Rules) -> SkipHidden {
        SkipHidden { inner, rules }
    }

    fn shows(&self, path: &VPath) -> bool {
        !self.rules.denies(Touch::Read, path)
    }

    /// Whether everything at and below `path` may be read.
    fn is_open(&self, path: &VPath) -> bool {
        self.shows(path) && self.rules.beneath(Touch::Read, path) == Beneath::Open
    }

    /// Whether an error at `path` is passed on as it is: errors about the request itself, and
    /// errors where nothing is hidden.
    fn is_clear(&self, error: &Error, path: &VPath) -> bool {
        matches!(error.kind(), Kind::InvalidPattern | Kind::InvalidArgument) || self.is_open(path)
    }

    /// The visible files below a directory, and directories in which all files are visible, in
    /// order of path.
    async fn visible(&self, top: &VPath, error: &Error) -> Result<Vec<FileInfo>> {
        let mut places: Vec<FileInfo> = Vec::new();
        let mut waiting = vec![top.clone()];
        let mut found_any = false;
        while let Some(dir) = waiting.pop() {
            let listed = self.inner.ls(&dir).await;
            for info in listed.map_err(|error| veiled(&error, top))? {
                found_any = true;
                if !info.is_dir() {
                    if self.shows(&info.path) {
                        places.push(info);
                    }
                } else if self.is_open(&info.path) {
                    places.push(info);
                } else if self.rules.beneath(Touch::Read, &info.path) != Beneath::Closed {
                    waiting.push(info.path);
                }
            }
        }
        if !found_any {
            // Not a directory: the error is about this path.
            return Err(match self.shows(top) && error.path() == Some(top) {
                true => error.clone(),
                false => veiled(error, top),
            });
        }
        order::sort_by(&mut places, |a, b| a.shown_path().cmp(&b.shown_path()));
        Ok(places)
    }

    async fn grep_visible(&self, query: &GrepQuery, error: &Error) -> Result<GrepResult> {
        let filter = match &query.glob {
            Some(glob) => Some(NameFilter::parse(glob, &query.path)?),
            None => None,
        };
        let accepts = |path: &VPath| filter.as_ref().is_none_or(|filter| filter.accepts(path));
        let mut out = GrepResult::default();
        let mut one = query.clone();
        one.glob = None;
        for place in self.visible(&query.path, error).await? {
            let is_dir = place.is_dir();
            if !is_dir && !accepts(&place.path) {
                continue;
            }
            one.path = place.path;
            let judge = async |paths: &[VPath]| Ok(paths.iter().map(accepts).collect());
            one.max_count = query
                .max_count
                .map(|max| max.saturating_sub(out.matches.count()));
            let found = if is_dir {
                winnow::grep(&*self.inner, &one, judge).await?
            } else {
                self.inner.grep(&one).await?
            };
            out.truncated |= found.truncated;
            for rows in found.matches.rows.chunk_by(|a, b| a.file == b.file) {
                let file = rows.first().map_or(0, |row| row.file as usize);
                if let Some(path) = found.matches.paths.get(file) {
                    out.matches.append_file(path.clone(), &found.matches, rows);
                }
            }
            if out.truncated || out.matches.is_full() {
                out.truncated = true;
                break;
            }
        }
        filter.as_ref().map_or(Ok(()), NameFilter::over)?;
        Ok(out)
    }

    async fn glob_visible(&self, query: &GlobQuery, error: Error) -> Result<GlobResult> {
        let pattern = Pattern::parse(query)?;
        // An anchored pattern searches from the root, whatever the path is.
        let root = &pattern.scope().root;
        if self.is_clear(&error, root) {
            return Err(error);
        }
        let mut out = GlobResult::default();
        for place in self.visible(root, &error).await? {
            if place.is_dir() {
                let found = self.inner.glob(&GlobQuery::all(&place.path)).await?;
                out.truncated |= found.truncated;
                out.files.extend(found.files);
            } else {
                out.files.push(place);
            }
        }
        out.files.retain(|info| pattern.accepts(&info.path));
        pattern.over()?;
        order::sort_by(&mut out.files, FileInfo::newest_first);
        Ok(out)
    }
}

impl SkipHidden {
    async fn ls(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let listed = self.inner.ls(path).await;
        listed.map_err(|error| match self.is_clear(&error, path) {
            true => error,
            false => veiled(&error, path),
        })
    }

    /// A directory in which everything is hidden is not there.
    async fn read(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        match self.inner.read(path, page).await {
            Err(error) if error.kind() == Kind::IsDirectory && !self.is_open(path) => {
                let listed = self.ls(path).await?;
                let mut listed = listed.iter();
                let shown = |info: &FileInfo| match info.is_dir() {
                    true => self.rules.beneath(Touch::Read, &info.path) != Beneath::Closed,
                    false => self.shows(&info.path),
                };
                Err(match listed.any(shown) {
                    true => error,
                    false => Error::not_found(path),
                })
            }
            answer => answer,
        }
    }

    async fn grep(&self, query: &GrepQuery) -> Result<GrepResult> {
        match self.inner.grep(query).await {
            Err(error) if !self.is_clear(&error, &query.path) => {
                self.grep_visible(query, &error).await
            }
            answer => answer,
        }
    }

    async fn glob(&self, query: &GlobQuery) -> Result<GlobResult> {
        match self.inner.glob(query).await {
            Err(error) => self.glob_visible(query, error).await,
            found => found,
        }
    }
}

impl Rule for SkipHidden {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.ls(path), Answer::Ls),
            Request::Grep(query) => answer(self.grep(query), Answer::Grep),
            Request::Glob(query) => answer(self.glob(query), Answer::Glob),
            Request::Read(path, page) => answer(self.read(path, page), Answer::Read),
            Request::ReadRaw(..)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }
}
