//! Forwarded methods. A wrapper names each method that it forwards, so a new method in
//! [`Backend`](crate::protocol::Backend) breaks its build until it is handled.

/// Generates the named methods of a `Backend` that forward to the field `inner`.
macro_rules! forward {
    ($($method:ident),* $(,)?) => { $( $crate::layer::policy::forward::forward!(@ $method); )* };
    (@ capability) => {
        fn capability(&self) -> $crate::protocol::Capability {
            self.inner.capability()
        }
    };
    (@ ls) => {
        fn ls<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
        ) -> $crate::core::future::Pending<'a, Vec<$crate::protocol::FileInfo>> {
            self.inner.ls(path)
        }
    };
    (@ read) => {
        fn read<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
            page: $crate::protocol::Page,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::ReadResult> {
            self.inner.read(path, page)
        }
    };
    (@ read_raw) => {
        fn read_raw<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::RawFile> {
            self.inner.read_raw(path)
        }
    };
    (@ grep) => {
        fn grep<'a>(
            &'a self,
            query: &'a $crate::protocol::GrepQuery,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::GrepResult> {
            self.inner.grep(query)
        }
    };
    (@ glob) => {
        fn glob<'a>(
            &'a self,
            query: &'a $crate::protocol::GlobQuery,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::GlobResult> {
            self.inner.glob(query)
        }
    };
    (@ delete) => {
        fn delete<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
            unchanged: Option<&'a bytes::Bytes>,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::DeleteResult> {
            self.inner.delete(path, unchanged)
        }
    };
    (@ write) => {
        fn write<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
            content: $crate::protocol::Content,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::WriteResult> {
            self.inner.write(path, content)
        }
    };
    (@ edit) => {
        fn edit<'a>(
            &'a self,
            path: &'a $crate::core::path::VPath,
            edit: &'a $crate::protocol::Edit,
        ) -> $crate::core::future::Pending<'a, $crate::protocol::EditResult> {
            self.inner.edit(path, edit)
        }
    };
    (@ upload) => {
        fn upload<'a>(
            &'a self,
            files: Vec<($crate::core::path::VPath, bytes::Bytes)>,
        ) -> futures_util::future::LocalBoxFuture<'a, Vec<$crate::core::error::Result<()>>> {
            self.inner.upload(files)
        }
    };
    (@ download) => {
        fn download<'a>(
            &'a self,
            paths: &'a [$crate::core::path::VPath],
        ) -> futures_util::future::LocalBoxFuture<'a, Vec<$crate::core::error::Result<bytes::Bytes>>> {
            self.inner.download(paths)
        }
    };
}

pub(super) use forward;

use crate::core::error::{Error, Result};

/// Merges the errors of refused items with the results of the remaining ones, in order.
pub(super) fn fill<T>(
    refused: Vec<Option<Error>>,
    answers: impl IntoIterator<Item = Result<T>>,
) -> Vec<Result<T>> {
    let mut answers = answers.into_iter();
    refused
        .into_iter()
        .map(|refusal| match refusal {
            Some(error) => Err(error),
            None => answers
                .next()
                .unwrap_or_else(|| Err(Error::internal("A backend answered too few files"))),
        })
        .collect()
}
