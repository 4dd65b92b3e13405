//! Memory that gives way to a running graph. Outside of a graph these files are the backend's own;
//! inside one they are the graph's state, which the host knows. The decision is made anew at the
//! start of every operation and behind the handle, so that routers, policies and tools need not
//! know of it. While the host is asked nothing is borrowed: it may call back into this crate.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::backend::files::Files;
use crate::backend::state::Memory;
use crate::error::Result;
use crate::path::VPath;
use crate::protocol::{
    Backend, Capability, Content, DeleteResult, Edit, EditResult, FileInfo, FileSet, GlobQuery,
    GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult, Shell, WriteResult,
};
use crate::storage::Pending;

/// A copy of a graph's files.
pub struct Copy {
    /// The host's number for it.
    pub id: u32,
    /// The files, as they are in the graph's state now.
    pub files: Rc<Files<Memory>>,
}

/// What happened to files of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They were written, edited or uploaded.
    Stored,
    /// They were deleted, with everything beneath them.
    Deleted,
}

/// Tells which graph runs, and hands changes to its state.
pub trait Graphs {
    /// The files of the graph that runs, brought up to date; none outside of a graph. An error
    /// where a graph runs whose files cannot be had: no other files may take their place.
    fn current(&self) -> Result<Option<Copy>>;

    /// A number for the files that [`Graphs::current`] would give, without bringing them up to
    /// date; 0 outside of a graph.
    fn number(&self) -> u32;

    /// Hands changes that were made in a copy to the graph.
    fn changed(&self, copy: u32, change: Change, paths: &[VPath]) -> Result<()>;
}

/// The files of the graph that runs, or files of its own where none does.
pub struct GraphState<G> {
    own: Rc<Files<Memory>>,
    graphs: G,
}

impl<G: Graphs> GraphState<G> {
    /// `own` serves calls from outside of any graph.
    pub fn new(own: Files<Memory>, graphs: G) -> GraphState<G> {
        let own = Rc::new(own);
        GraphState { own, graphs }
    }

    /// The files that serve calls from outside of any graph.
    pub fn own(&self) -> &Rc<Files<Memory>> {
        &self.own
    }

    /// The files for one operation, and the copy's number where they are a graph's.
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

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        Box::pin(async move { self.files()?.0.ls(path).await })
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        Box::pin(async move { self.files()?.0.read(path, page).await })
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        Box::pin(async move { self.files()?.0.read_raw(path).await })
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        Box::pin(async move { self.files()?.0.grep(query).await })
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move { self.files()?.0.glob(query).await })
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let (files, copy) = self.files()?;
            let answer = files.write(path, content).await?;
            self.hand_on(copy, Change::Stored, std::slice::from_ref(path))?;
            Ok(answer)
        })
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            let (files, copy) = self.files()?;
            let answer = files.edit(path, edit).await?;
            self.hand_on(copy, Change::Stored, std::slice::from_ref(path))?;
            Ok(answer)
        })
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        Box::pin(async move {
            let (files, copy) = self.files()?;
            let answer = files.delete(path, unchanged).await?;
            self.hand_on(copy, Change::Deleted, std::slice::from_ref(path))?;
            Ok(answer)
        })
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        Box::pin(self.uploaded(files))
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        Box::pin(async move {
            match self.files() {
                Ok((files, _)) => files.download(paths).await,
                Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
            }
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        None
    }
}
