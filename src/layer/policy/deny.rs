//! `denyPrefixes`: no write, edit, delete or upload at or below certain directories. Prefixes match
//! whole segments: `/ab` is not under `/a`.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::forward::{fill, forward};
use super::skip_hidden::veiled;
use super::{NoShell, Touch, denied, denied_beneath};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::layer::winnow;
use crate::protocol::{
    Backend, Content, DeleteResult, Edit, EditResult, Page, SharedBackend, Shell, WriteResult,
};

pub(super) struct Deny {
    inner: SharedBackend,
    raw: SharedBackend,
    /// Whether a rule hides files, so that the error of a check must not name any.
    hides: bool,
    prefixes: Vec<VPath>,
    no_shell: Option<NoShell>,
}

impl Deny {
    pub(super) fn new(
        inner: SharedBackend,
        raw: SharedBackend,
        hides: bool,
        prefixes: Vec<VPath>,
        allow_execute: bool,
    ) -> Deny {
        let no_shell = NoShell::guard(&inner, "path rules (denyPrefixes)", allow_execute);
        Deny {
            inner,
            raw,
            hides,
            prefixes,
            no_shell,
        }
    }

    fn check(&self, path: &VPath) -> Result<()> {
        if self.prefixes.iter().any(|prefix| path.is_under(prefix)) {
            return Err(denied(Touch::Write, path));
        }
        Ok(())
    }

    /// A directory above a protected one may be deleted only if the protected one is empty.
    async fn check_beneath(&self, path: &VPath) -> Result<()> {
        for prefix in &self.prefixes {
            if !prefix.is_under(path) {
                continue;
            }
            let holds = !winnow::files_beneath(&*self.raw, prefix).await?.is_empty()
                || !self.raw.ls(prefix).await?.is_empty()
                || exists(&*self.raw, prefix).await?;
            if holds {
                return Err(denied_beneath(path));
            }
        }
        Ok(())
    }
}

/// Whether there is a file at exactly that path.
async fn exists(backend: &dyn Backend, path: &VPath) -> Result<bool> {
    let page = Page {
        offset: 0,
        limit: 0,
    };
    match backend.read(path, page).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == crate::core::error::Kind::NotFound => Ok(false),
        Err(error) if error.kind() == crate::core::error::Kind::IsDirectory => Ok(false),
        Err(error) => Err(error),
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Deny {
    forward!(capability, ls, read, read_raw, grep, glob, download);

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            self.check(path).map_err(|e| e.during("write"))?;
            self.inner.write(path, content).await
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            self.check(path).map_err(|e| e.during("edit"))?;
            self.inner.edit(path, edit).await
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            self.check(path).map_err(|e| e.during("delete"))?;
            let beneath = self.check_beneath(path).await;
            let beneath = beneath.map_err(|error| match self.hides && !error.is_by_rule() {
                true => veiled(&error, path),
                false => error,
            });
            beneath.map_err(|e| e.during("delete"))?;
            self.inner.delete(path, unchanged).await
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(async move {
            let refused: Vec<Option<Error>> = files
                .iter()
                .map(|(path, _)| self.check(path).err().map(|e| e.during("uploadFiles")))
                .collect();
            let allowed = files
                .into_iter()
                .zip(&refused)
                .filter_map(|(file, refused)| refused.is_none().then_some(file))
                .collect();
            fill(refused, self.inner.upload(allowed).await)
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        NoShell::shown(&self.no_shell, &self.inner)
    }
}
