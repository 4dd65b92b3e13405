//! `permissions`: hides what may not be read, and protects what may not be written.
//!
//! Some checks are stricter than a rule for the path alone:
//! - `edit`, `write` and `delete` also need read permission, because their results reveal whether
//!   the file exists and, for `edit`, its content. `uploadFiles` reveals nothing and needs only
//!   write permission.
//! - A delete is refused while anything below is denied, visible or not.

use std::collections::HashSet;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::forward::{fill, forward};
use super::rules::Beneath;
use super::skip_hidden::veiled;
use super::{Mode, NoShell, Rules, Touch, denied, denied_beneath};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::layer::winnow;
use crate::protocol::{
    Backend, Content, DeleteResult, Edit, EditResult, FileInfo, GlobQuery, GlobResult, GrepQuery,
    GrepResult, Page, RawFile, ReadResult, SharedBackend, Shell, WriteResult,
};

pub(super) struct Permissions {
    inner: SharedBackend,
    raw: SharedBackend,
    /// `raw` without what is hidden, for when searching all of it fails.
    visible: SharedBackend,
    rules: Rules,
    no_shell: Option<NoShell>,
}

impl Permissions {
    pub(super) fn new(
        inner: SharedBackend,
        raw: SharedBackend,
        visible: SharedBackend,
        rules: Rules,
        allow_execute: bool,
    ) -> Permissions {
        let no_shell = NoShell::guard(&inner, "path rules (permissions)", allow_execute);
        Permissions {
            inner,
            raw,
            visible,
            rules,
            no_shell,
        }
    }

    fn check(&self, touch: Touch, path: &VPath) -> Result<()> {
        if self.rules.denies(touch, path) {
            return Err(denied(touch, path));
        }
        Ok(())
    }

    /// For changes whose result reveals something about the file.
    fn check_both(&self, path: &VPath) -> Result<()> {
        self.check(Touch::Write, path)?;
        // The message is that of the requested operation.
        self.check(Touch::Read, path)
            .map_err(|_| denied(Touch::Write, path))
    }

    /// Whether a directory may be searched: not if a rule denies it. If only the default denies it,
    /// allowed files below may be found.
    fn check_search(&self, path: &VPath) -> Result<()> {
        let decision = self.rules.decide(Touch::Read, path);
        let closed = decision.mode == Mode::Deny
            && (decision.rule.is_some()
                || self.rules.beneath(Touch::Read, path) == Beneath::Closed);
        if closed {
            return Err(denied(Touch::Read, path));
        }
        Ok(())
    }

    fn shows(&self, path: &VPath) -> bool {
        !self.rules.denies(Touch::Read, path)
    }

    /// Whether a directory is listed: `None` if that depends on its files.
    fn shows_directory(&self, path: &VPath) -> Option<bool> {
        let decision = self.rules.decide(Touch::Read, path);
        if decision.mode == Mode::Deny && decision.rule.is_some() {
            return Some(false);
        }
        match self.rules.beneath(Touch::Read, path) {
            Beneath::Open => Some(true),
            Beneath::Closed => Some(false),
            Beneath::Mixed => None,
        }
    }

    async fn listed(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        self.check_search(path)?;
        let infos = self.inner.ls(path).await?;
        if self.rules.beneath(Touch::Read, path) == Beneath::Open {
            return Ok(infos);
        }
        let unsure = infos
            .iter()
            .any(|info| info.is_dir() && self.shows_directory(&info.path).is_none());
        let below = if unsure {
            Some(Below::of(self, path).await?)
        } else {
            None
        };
        let mut kept = infos;
        kept.retain(|info| {
            if !info.is_dir() {
                return self.shows(&info.path);
            }
            self.shows_directory(&info.path).unwrap_or_else(|| {
                below
                    .as_ref()
                    .is_some_and(|below| below.shows(self, &info.path))
            })
        });
        Ok(kept)
    }

    async fn check_delete(&self, path: &VPath) -> Result<()> {
        self.check_both(path)?;
        let open = |touch| self.rules.beneath(touch, path) == Beneath::Open;
        if open(Touch::Read) && open(Touch::Write) {
            return Ok(());
        }
        let files = winnow::files_beneath(&*self.raw, path).await;
        for info in files.map_err(|error| veiled(&error, path))? {
            if self.check_both(&info.path).is_err() {
                return Err(denied_beneath(path));
            }
        }
        Ok(())
    }
}

/// Which subdirectories of a directory contain files, and which contain a visible one.
struct Below {
    filled: HashSet<VPath>,
    shown: HashSet<VPath>,
    /// Whether `filled` is known; if not, a directory without a visible file is not shown.
    is_complete: bool,
}

impl Below {
    async fn of(permissions: &Permissions, dir: &VPath) -> Result<Below> {
        let query = GlobQuery {
            pattern: "**".into(),
            path: dir.clone(),
        };
        let (found, is_complete) = match permissions.raw.glob(&query).await {
            Ok(found) => (found, true),
            Err(_) => (permissions.visible.glob(&query).await?, false),
        };
        let mut below = Below {
            filled: HashSet::new(),
            shown: HashSet::new(),
            is_complete,
        };
        for info in &found.files {
            let first = info
                .path
                .relative_to(dir)
                .and_then(|rest| rest.split_once('/'))
                .and_then(|(first, _)| dir.join(first).ok());
            let Some(child) = first else { continue };
            if permissions.shows(&info.path) {
                below.shown.insert(child.clone());
            }
            below.filled.insert(child);
        }
        Ok(below)
    }

    fn shows(&self, permissions: &Permissions, dir: &VPath) -> bool {
        self.shown.contains(dir)
            || (self.is_complete && !self.filled.contains(dir) && permissions.shows(dir))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Permissions {
    forward!(capability);

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move { self.listed(path).await.map_err(|e| e.during("ls")) })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        match self.check(Touch::Read, path) {
            Ok(()) => self.inner.read(path, page),
            Err(error) => crate::core::future::done(Err(error.during("read"))),
        }
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        match self.check(Touch::Read, path) {
            Ok(()) => self.inner.read_raw(path),
            Err(error) => crate::core::future::done(Err(error.during("readRaw"))),
        }
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(async move {
            self.check_search(&query.path)
                .map_err(|e| e.during("grep"))?;
            if self.rules.beneath(Touch::Read, &query.path) == Beneath::Open
                && self.shows(&query.path)
            {
                return self.inner.grep(query).await;
            }
            let judge =
                async |paths: &[VPath]| Ok(paths.iter().map(|path| self.shows(path)).collect());
            winnow::grep(&*self.inner, query, judge).await
        })
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            self.check_search(&query.path)
                .map_err(|e| e.during("glob"))?;
            let mut found = self.inner.glob(query).await?;
            found.files.retain(|info| self.shows(&info.path));
            Ok(found)
        })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        match self.check_both(path) {
            Ok(()) => self.inner.write(path, content),
            Err(error) => crate::core::future::done(Err(error.during("write"))),
        }
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        match self.check_both(path) {
            Ok(()) => self.inner.edit(path, edit),
            Err(error) => crate::core::future::done(Err(error.during("edit"))),
        }
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let checked = self.check_delete(path).await;
            checked.map_err(|e| e.during("delete"))?;
            let mut deleted = self.inner.delete(path, unchanged).await?;
            if let Some(update) = &mut deleted.files_update {
                update.retain(|(path, _)| self.shows(path));
            }
            Ok(deleted)
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let refused: Vec<Option<Error>> = files
                .iter()
                .map(|(path, _)| {
                    let checked = self.check(Touch::Write, path);
                    checked.err().map(|e| e.during("uploadFiles"))
                })
                .collect();
            let allowed = files
                .into_iter()
                .zip(&refused)
                .filter_map(|(file, refused)| refused.is_none().then_some(file))
                .collect();
            fill(refused, self.inner.upload(allowed).await)
        })
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            let refused: Vec<Option<Error>> = paths
                .iter()
                .map(|path| {
                    let checked = self.check(Touch::Read, path);
                    checked.err().map(|e| e.during("downloadFiles"))
                })
                .collect();
            let allowed: Vec<VPath> = paths
                .iter()
                .zip(&refused)
                .filter(|(_, refused)| refused.is_none())
                .map(|(path, _)| path.clone())
                .collect();
            fill(refused, self.inner.download(&allowed).await)
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        NoShell::shown(&self.no_shell, &self.inner)
    }
}
