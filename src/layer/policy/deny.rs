//! `readOnlyPrefixes`: no write, edit, delete or upload at or below certain directories. Prefixes match
//! whole segments: `/ab` is not under `/a`.

use std::rc::Rc;

use super::denied_beneath;
use super::rule::{Rule, checked, shell_refused, upload_checked};
use super::skip_hidden::veiled;
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::layer::folding::Folding;
use crate::protocol::{
    Answer, BackendExt, Request, SharedBackend, Transfer, exists, files_beneath,
};

const UPLOADS: &str = "Uploads are not allowed under ";

pub(super) struct Deny {
    pub(super) inner: SharedBackend,
    pub(super) raw: SharedBackend,
    /// Whether a rule hides files, so that the error of a check must not name any.
    pub(super) hides: bool,
    pub(super) prefixes: Vec<VPath>,
    pub(super) folding: Rc<Folding>,
    pub(super) allow_execute: bool,
}

impl Deny {
    /// `refusal` is the beginning of the error, which the path follows.
    fn check(&self, path: &VPath, refusal: &'static str) -> Result<()> {
        if self
            .prefixes
            .iter()
            .any(|prefix| self.folding.is_under(path, prefix))
        {
            return Err(Error::at(Kind::PermissionDenied, refusal, path, "")
                .by_rule()
                .decided_by("readOnlyPrefixes"));
        }
        Ok(())
    }

    /// The error of a check, which must not name a hidden file.
    fn shown(&self, error: Error, path: &VPath) -> Error {
        match self.hides && !error.is_by_rule() {
            true => veiled(&error, path),
            false => error,
        }
    }

    /// Every file that would be written, and for a move the source as for a delete.
    async fn check_transfer(&self, asked: &Transfer) -> Result<()> {
        if !asked.keeps && !has(Bug::PrefixMoved) {
            self.check(&asked.from, "Moves are not allowed under ")?;
            self.check_beneath(&asked.from).await?;
        }
        let refusal = "Writes are not allowed under ";
        self.check(&asked.to, refusal)?;
        if self
            .prefixes
            .iter()
            .any(|prefix| self.folding.is_under(prefix, &asked.to))
        {
            for info in asked.files(&*self.raw).await? {
                self.check(&asked.target(&info.path)?, refusal)?;
            }
        }
        Ok(())
    }

    /// A directory above a protected one may be deleted only if the protected one is empty.
    async fn check_beneath(&self, path: &VPath) -> Result<()> {
        for prefix in &self.prefixes {
            if !self.folding.is_under(prefix, path) {
                continue;
            }
            let holds = !files_beneath(&*self.raw, prefix).await?.is_empty()
                || !self.raw.ls(prefix).await?.is_empty()
                || exists(&*self.raw, prefix).await?;
            if holds {
                return Err(denied_beneath("delete", path));
            }
        }
        Ok(())
    }
}

impl Rule for Deny {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, _) => {
                let check = self.check(path, "Writes are not allowed under ");
                checked(check, &self.inner, request)
            }
            Request::Edit(path, _) => {
                let check = self.check(path, "Edits are not allowed under ");
                checked(check, &self.inner, request)
            }
            Request::Delete(path, _) => Box::pin(async move {
                self.check(path, "Deletes are not allowed under ")?;
                let beneath = self.check_beneath(path).await;
                beneath.map_err(|error| self.shown(error, path))?;
                self.inner.call(request).await
            }),
            Request::Transfer(asked) => Box::pin(async move {
                let judged = self.check_transfer(asked).await;
                judged.map_err(|error| self.shown(error, &asked.from))?;
                self.inner.call(request).await
            }),
            Request::Upload(files) => {
                upload_checked(&self.inner, files, |path| self.check(path, UPLOADS))
            }
            Request::Stream(path, _) => checked(self.check(path, UPLOADS), &self.inner, request),
            Request::Execute(..) if !self.allow_execute => {
                done(Err(shell_refused("path rules (readOnlyPrefixes)")))
            }
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }
}
