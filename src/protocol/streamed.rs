//! A file whose bytes come in parts, as a request has it.

use crate::core::future::Pending;
use crate::core::parts::{Parts, gathered};
use crate::core::path::VPath;
use crate::core::queue::Turn;
use crate::protocol::{Answer, Backend, BackendExt, Content, Request};

/// The bytes, and what is done with them. The methods are behind a table, so that a page without such files
/// has none of their code.
pub trait Streamed {
    /// The bytes.
    fn parts(&self) -> &dyn Parts;

    /// Uploads all of them at once, for a backend that must see the whole file. It replaces none of a version.
    fn whole<'a>(&'a self, backend: &'a dyn Backend, path: &'a VPath) -> Pending<'a, Answer>;

    /// Stores them when it is their turn.
    fn stored<'a>(
        &'a self,
        turn: Pending<'a, Turn>,
        stores: Pending<'a, ()>,
    ) -> Pending<'a, Answer>;
}

/// Any parts.
pub struct OfParts<P>(pub P);

impl<P: Parts> Streamed for OfParts<P> {
    fn parts(&self) -> &dyn Parts {
        &self.0
    }

    fn whole<'a>(&'a self, backend: &'a dyn Backend, path: &'a VPath) -> Pending<'a, Answer> {
        Box::pin(async move {
            let body = gathered(&self.0).await?;
            if self.0.is_new() {
                backend.write(path, Content::New(body, None)).await?;
                return Ok(Answer::Upload(vec![Ok(())]));
            }
            let upload = Request::Upload(vec![(path.clone(), body)]);
            backend.call(upload).await
        })
    }

    fn stored<'a>(
        &'a self,
        turn: Pending<'a, Turn>,
        stores: Pending<'a, ()>,
    ) -> Pending<'a, Answer> {
        Box::pin(async move {
            let _turn = turn.await?;
            stores.await?;
            Ok(Answer::Upload(vec![Ok(())]))
        })
    }
}
