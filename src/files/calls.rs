//! The operations as a [`Backend`]; tags errors with the operation.

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::{Files, Operations};
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, FileInfo, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Page, RawFile, Reach, ReadResult, Replacement, Shell,
    Together, Transfer, WriteResult,
};
use crate::storage::Storage;

impl Backend for Operations {
    fn capability(&self) -> Capability {
        self.storage.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move { self.list_level(path).await.map_err(|e| e.during("ls")) })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(async move {
            self.read_page(path, page)
                .await
                .map_err(|e| e.during("read"))
        })
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(async move { self.raw_file(path).await.map_err(|e| e.during("readRaw")) })
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(async move { self.grep_files(query).await.map_err(|e| e.during("grep")) })
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move { self.glob_files(query).await.map_err(|e| e.during("glob")) })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let answer = self.write_file(path, content).await;
            answer.map_err(|e| e.during("write"))
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            self.edit_file(path, edit)
                .await
                .map_err(|e| e.during("edit"))
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let answer = match unchanged {
                Some(body) => self.delete_unchanged(path, body).await,
                None => self.delete_path(path).await,
            };
            answer.map_err(|e| e.during("delete"))
        })
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let answer = self.transfer_files(asked).await;
            answer.map_err(|e| e.during(asked.operation().name()))
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(self.upload_files(files))
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(self.download_files(paths))
    }

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        Box::pin(self.file_part(path, range))
    }

    fn shell(&self) -> Option<&dyn Shell> {
        None
    }

    fn atomic(&self) -> Atomic<'_> {
        let capability = self.storage.capability();
        let changes = capability.create != Reach::Never && capability.update != Reach::Never;
        match capability.writable && changes {
            true if self.storage.is_immediate() => Atomic::Immediate,
            true if self.storage.together().is_some() => Atomic::Together(self),
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}

impl Together for Operations {
    fn moment(&self) -> Option<Pending<'_, Rc<str>>> {
        self.storage.together()?.moment()
    }

    fn replace_at<'a>(
        &'a self,
        files: &'a [Replacement],
        moment: Option<Rc<str>>,
    ) -> Pending<'a, bool> {
        Box::pin(self.replace_files(files, moment))
    }
}

/// Every method is forwarded by hand; the lint reports a new operation that is missing here.
#[deny(clippy::missing_trait_methods)]
impl<S: Storage + 'static> Backend for Files<S> {
    fn capability(&self) -> Capability {
        self.operations.capability()
    }

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.operations.ls(path)
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.operations.read(path, page)
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.operations.read_raw(path)
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.operations.grep(query)
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        self.operations.glob(query)
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.operations.write(path, content)
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.operations.edit(path, edit)
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        self.operations.delete(path, unchanged)
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        self.operations.transfer(asked)
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.operations.upload(files)
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.operations.download(paths)
    }

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        self.operations.part(path, range)
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.operations.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.operations.atomic()
    }
}
