//! Memory that uses the state of a running graph. Outside of a graph the files are the backend's
//! own; inside a graph they are the graph's state, which the host manages. The choice is made again
//! at the start of every operation, behind the handle, so routers, policies and tools need not know
//! about it. Nothing is borrowed while the host is called, since it may call back into this crate.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::files::Files;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, FileInfo, FileSet,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile, ReadResult, Shell, Transfer,
    WriteResult,
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

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            let (files, copy) = self.files()?;
            let answer = files.transfer(asked).await;
            if copy.is_none() {
                return answer;
            }
            // What was transferred before an error is passed on too.
            let to = GlobQuery {
                pattern: "**".into(),
                path: asked.to.clone(),
            };
            let there = files.glob(&to).await?.files;
            let stored: Vec<VPath> = there.into_iter().map(|info| info.path).collect();
            self.hand_on(copy, Change::Stored, &stored)?;
            if answer.is_ok() && !asked.keeps {
                self.hand_on(copy, Change::Deleted, std::slice::from_ref(&asked.from))?;
            }
            answer
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

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        Box::pin(async move { self.files()?.0.part(path, range).await })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        None
    }

    fn atomic(&self) -> Atomic<'_> {
        Atomic::Immediate
    }
}
