//! A history as a backend.

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::History;
use super::change::is_conditional;
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, FileInfo, FilesUpdate,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult, Shell, Transfer,
    WriteResult, by_bytes, carry,
};

#[deny(clippy::missing_trait_methods)]
impl Backend for History {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.inner.ls(path)
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.inner.read(path, page)
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.inner.read_raw(path)
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.inner.grep(query)
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        self.inner.glob(query)
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        if History::passes(path) {
            return self.inner.write(path, content);
        }
        Box::pin(async move {
            let answer = self.write_file(path, content).await;
            answer.map_err(|error| error.during("write"))
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        if History::passes(path) {
            return self.inner.edit(path, edit);
        }
        Box::pin(async move {
            let answer = self.edit_file(path, edit).await;
            answer.map_err(|error| error.during("edit"))
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        if History::passes(path) {
            return self.inner.delete(path, unchanged);
        }
        Box::pin(async move {
            let answer = self.delete_path(path, unchanged).await;
            answer.map_err(|error| error.during("delete"))
        })
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let carrier = |step| -> Pending<'_, Option<FilesUpdate>> {
                Box::pin(by_bytes(self, asked, step, None))
            };
            let answer = carry(self, asked, &carrier).await;
            answer.map_err(|error| error.during(asked.operation().name()))
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(self.upload_files(files))
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.inner.download(paths)
    }

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        self.inner.part(path, range)
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        // A turn must commit through the history, so it has only what single calls have.
        match is_conditional(&self.inner) {
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}
