//! Below every rule about paths: runs the calls of the backend with symbolic links refused, so that
//! a rule judges the place where the bytes are ([`links`](crate::core::links)).

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::forward::forward;
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::links::refusing;
use crate::core::path::VPath;
use crate::protocol::{
    Backend, Content, DeleteResult, Edit, EditResult, FileInfo, GlobQuery, GlobResult, GrepQuery,
    GrepResult, Page, RawFile, ReadResult, SharedBackend, Shell, WriteResult,
};

pub(super) struct NoLinks {
    pub(super) inner: SharedBackend,
}

#[deny(clippy::missing_trait_methods)]
impl Backend for NoLinks {
    forward!(capability);

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        refusing(self.inner.ls(path))
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        refusing(self.inner.read(path, page))
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        refusing(self.inner.read_raw(path))
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        refusing(self.inner.grep(query))
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        refusing(self.inner.glob(query))
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        refusing(self.inner.write(path, content))
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        refusing(self.inner.edit(path, edit))
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        refusing(self.inner.delete(path, unchanged))
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        refusing(self.inner.upload(files))
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        refusing(self.inner.download(paths))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell()
    }
}
