//! `readOnly`: every change is refused.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::NoShell;
use super::forward::forward;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::future::done;
use crate::core::path::VPath;
use crate::protocol::{
    Backend, Capability, Content, DeleteResult, Edit, EditResult, SharedBackend, Shell, WriteResult,
};

pub(super) struct ReadOnly {
    inner: SharedBackend,
    no_shell: Option<NoShell>,
}

impl ReadOnly {
    pub(super) fn new(inner: SharedBackend, allow_execute: bool) -> ReadOnly {
        let no_shell = NoShell::guard(&inner, "readOnly", allow_execute);
        ReadOnly { inner, no_shell }
    }
}

fn refusal(operation: &'static str, path: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        format!("Error: permission denied for {operation} on "),
        path,
        ": this backend is read-only",
    )
    .during(operation)
}

#[deny(clippy::missing_trait_methods)]
impl Backend for ReadOnly {
    forward!(ls, read, read_raw, grep, glob, download);

    fn capability(&self) -> Capability {
        Capability {
            writable: false,
            ..self.inner.capability()
        }
    }

    fn write<'a>(&'a self, path: &'a VPath, _: Content) -> Pending<'a, WriteResult> {
        done(Err(refusal("write", path)))
    }

    fn edit<'a>(&'a self, path: &'a VPath, _: &'a Edit) -> Pending<'a, EditResult> {
        done(Err(refusal("edit", path)))
    }

    fn delete<'a>(&'a self, path: &'a VPath, _: Option<&'a Bytes>) -> Pending<'a, DeleteResult> {
        done(Err(refusal("delete", path)))
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        let answers = files
            .iter()
            .map(|(path, _)| Err(refusal("uploadFiles", path)));
        Box::pin(std::future::ready(answers.collect()))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        NoShell::shown(&self.no_shell, &self.inner)
    }
}
