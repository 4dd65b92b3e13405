//! Methods that a wrapper hands on as they are. A wrapper names each one it hands on, so a method
//! that is new in [`Backend`](crate::protocol::Backend) breaks its build until somebody decides.

/// Writes out the named methods of a `Backend` whose field `inner` answers them unchanged.
macro_rules! forward {
    ($($method:ident),* $(,)?) => { $( $crate::policy::forward::forward!(@ $method); )* };
    (@ capability) => {
        fn capability(&self) -> $crate::protocol::Capability {
            self.inner.capability()
        }
    };
    (@ ls) => {
        fn ls<'a>(
            &'a self,
            path: &'a $crate::path::VPath,
        ) -> $crate::storage::Pending<'a, Vec<$crate::protocol::FileInfo>> {
            self.inner.ls(path)
        }
    };
    (@ read) => {
        fn read<'a>(
            &'a self,
            path: &'a $crate::path::VPath,
            page: $crate::protocol::Page,
        ) -> $crate::storage::Pending<'a, $crate::protocol::ReadResult> {
            self.inner.read(path, page)
        }
    };
    (@ read_raw) => {
        fn read_raw<'a>(
            &'a self,
            path: &'a $crate::path::VPath,
        ) -> $crate::storage::Pending<'a, $crate::protocol::RawFile> {
            self.inner.read_raw(path)
        }
    };
    (@ grep) => {
        fn grep<'a>(
            &'a self,
            query: &'a $crate::protocol::GrepQuery,
        ) -> $crate::storage::Pending<'a, $crate::protocol::GrepResult> {
            self.inner.grep(query)
        }
    };
    (@ glob) => {
        fn glob<'a>(
            &'a self,
            query: &'a $crate::protocol::GlobQuery,
        ) -> $crate::storage::Pending<'a, $crate::protocol::GlobResult> {
            self.inner.glob(query)
        }
    };
    (@ delete) => {
        fn delete<'a>(
            &'a self,
            path: &'a $crate::path::VPath,
            unchanged: Option<&'a bytes::Bytes>,
        ) -> $crate::storage::Pending<'a, $crate::protocol::DeleteResult> {
            self.inner.delete(path, unchanged)
        }
    };
    (@ download) => {
        fn download<'a>(
            &'a self,
            paths: &'a [$crate::path::VPath],
        ) -> futures_util::future::LocalBoxFuture<'a, Vec<$crate::error::Result<bytes::Bytes>>> {
            self.inner.download(paths)
        }
    };
}

pub(super) use forward;

use crate::error::{Error, Result};

/// A batch of which some were refused: those that were not get the answers of the rest, in order.
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
