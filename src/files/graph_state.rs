//! Memory that uses the state of a running graph. Outside of a graph the files are the backend's
//! own; inside a graph they are the graph's state, which the host manages. The choice is made again
//! at the start of every operation, behind the handle, so routers, policies and tools need not know
//! about it. Nothing is borrowed while the host is called, since it may call back into this crate.

#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use bytes::Bytes;

use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::files::Files;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, FileSet, GlobQuery, Request, Transfer,
    WriteResult, answer, whole,
};
use crate::storage::memory::Memory;

/// A mirror of a graph's files.
pub struct Copy {
    /// The number that the host gave it.
    pub id: u32,
    /// The files, as they are in the graph's state now.
    pub files: Rc<Files<Memory>>,
}

/// The kind of change to a graph's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The files were written, edited or uploaded.
    Stored,
    /// The files were deleted, with everything beneath them.
    Deleted,
}

/// Finds the running graph and passes changes to its state.
pub trait Graphs {
    /// The up-to-date files of the running graph; `None` outside of a graph. Fails if a graph runs
    /// but its files are not available: other files must not be used instead.
    fn current(&self) -> Result<Option<Copy>>;

    /// The number of the files that [`Graphs::current`] would return, without updating them; 0
    /// outside of a graph.
    fn number(&self) -> u32;

    /// Passes changes that were made in a copy to the graph.
    fn changed(&self, copy: u32, change: Change, paths: &[VPath]) -> Result<()>;
}

/// The files of the running graph, or the backend's own files if no graph runs.
pub struct GraphState<G> {
    own: Rc<Files<Memory>>,
    graphs: G,
}

impl<G: Graphs> GraphState<G> {
    /// `own` holds the files for calls outside of a graph.
    pub fn new(own: Files<Memory>, graphs: G) -> GraphState<G> {
        let own = Rc::new(own);
        GraphState { own, graphs }
    }

    /// The files for calls outside of a graph.
    pub fn own(&self) -> &Rc<Files<Memory>> {
        &self.own
    }

    /// The files for one operation, and the number of the copy if they belong to a graph.
    fn files(&self) -> Result<(Rc<Files<Memory>>, Option<u32>)> {
        Ok(match self.graphs.current()? {
            None => (self.own.clone(), None),
            Some(Copy { id, files }) => (files, Some(id)),
        })
    }

    fn hand_on(&self, copy: Option<u32>, change: Change, paths: &[VPath]) -> Result<()> {
        match copy {
            Some(copy) if !paths.is_empty() => self.graphs.changed(copy, change, paths),
            _ => Ok(()),
        }
    }

    /// Changes one file, then passes the change on.
    fn changing<'a>(
        &'a self,
        path: &'a VPath,
        change: Change,
        request: Request<'a>,
    ) -> Pending<'a, Answer> {
        Box::pin(async move {
            let (files, copy) = self.files()?;
            let answer = files.call(request).await?;
            self.hand_on(copy, change, std::slice::from_ref(path))?;
            Ok(answer)
        })
    }

    async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let (files, copy) = self.files()?;
        let answer = files.transfer(asked).await;
        if copy.is_none() {
            return answer;
        }
        // What was transferred before an error is passed on too.
        let there = files.glob(&GlobQuery::all(&asked.to)).await?.files;
        let stored: Vec<VPath> = there.into_iter().map(|info| info.path).collect();
        self.hand_on(copy, Change::Stored, &stored)?;
        if answer.is_ok() && !asked.keeps {
            self.hand_on(copy, Change::Deleted, std::slice::from_ref(&asked.from))?;
        }
        answer
    }

    async fn uploaded(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let (target, copy) = match self.files() {
            Ok(found) => found,
            Err(error) => return files.iter().map(|_| Err(error.clone())).collect(),
        };
        let paths: Vec<VPath> = files.iter().map(|(path, _)| path.clone()).collect();
        let mut answers = target.upload(files).await;
        let stored: Vec<VPath> = paths
            .into_iter()
            .zip(&answers)
            .filter(|(_, answer)| answer.is_ok())
            .map(|(path, _)| path)
            .collect();
        if let Err(error) = self.hand_on(copy, Change::Stored, &stored) {
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(error.clone());
            }
        }
        answers
    }
}

#[deny(clippy::missing_trait_methods)]
impl<G: Graphs> Backend for GraphState<G> {
    fn capability(&self) -> Capability {
        Capability {
            files: FileSet::Caller(self.graphs.number()),
            ..self.own.capability()
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, _) | Request::Edit(path, _) => {
                self.changing(path, Change::Stored, request)
            }
            Request::Delete(path, _) => self.changing(path, Change::Deleted, request),
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.uploaded(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_)
            | Request::Execute(..) => Box::pin(async move { self.files()?.0.call(request).await }),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        None
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Immediate
    }
}
