//! Operations as data: a request, its answer, and the call of a backend with it. Rules that treat
//! all operations alike are one function over these instead of a method for each operation.

use bytes::Bytes;

use super::{
    Backend, Content, DeleteResult, Edit, EditResult, ExecuteOptions, ExecuteResult, FileInfo,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Operation, Page, RawFile, ReadResult, Transfer,
    WriteResult, unsupported,
};
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;

/// A call of an operation, with its arguments.
pub enum Request<'a> {
    /// `ls`
    Ls(&'a VPath),
    /// `read`
    Read(&'a VPath, Page),
    /// `readRaw`
    ReadRaw(&'a VPath),
    /// `grep`
    Grep(&'a GrepQuery),
    /// `glob`
    Glob(&'a GlobQuery),
    /// `write`
    Write(&'a VPath, Content),
    /// `edit` and `append`
    Edit(&'a VPath, &'a Edit),
    /// `delete`
    Delete(&'a VPath, Option<&'a Bytes>),
    /// `move` and `copy`
    Transfer(&'a Transfer),
    /// `uploadFiles`
    Upload(Vec<(VPath, Bytes)>),
    /// `downloadFiles`
    Download(&'a [VPath]),
    /// `execute`
    Execute(&'a str, ExecuteOptions),
}

/// The answer to a request.
pub enum Answer {
    /// `ls`
    Ls(Vec<FileInfo>),
    /// `read`
    Read(ReadResult),
    /// `readRaw`
    ReadRaw(RawFile),
    /// `grep`
    Grep(GrepResult),
    /// `glob`
    Glob(GlobResult),
    /// `write`
    Write(WriteResult),
    /// `edit` and `append`
    Edit(EditResult),
    /// `delete`
    Delete(DeleteResult),
    /// `move` and `copy`
    Transfer(WriteResult),
    /// `uploadFiles`
    Upload(Vec<Result<()>>),
    /// `downloadFiles`
    Download(Vec<Result<Bytes>>),
    /// `execute`
    Execute(ExecuteResult),
}

impl Request<'_> {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Request::Ls(_) => Operation::Ls,
            Request::Read(..) => Operation::Read,
            Request::ReadRaw(_) => Operation::ReadRaw,
            Request::Grep(_) => Operation::Grep,
            Request::Glob(_) => Operation::Glob,
            Request::Write(..) => Operation::Write,
            Request::Edit(_, edit) if edit.appends => Operation::Append,
            Request::Edit(..) => Operation::Edit,
            Request::Delete(..) => Operation::Delete,
            Request::Transfer(asked) => asked.operation(),
            Request::Upload(_) => Operation::UploadFiles,
            Request::Download(_) => Operation::DownloadFiles,
            Request::Execute(..) => Operation::Execute,
        }
    }

    /// The files or directories in its arguments; none for a command.
    pub fn paths(&self) -> Vec<VPath> {
        let path = match self {
            Request::Ls(path)
            | Request::Read(path, _)
            | Request::ReadRaw(path)
            | Request::Write(path, _)
            | Request::Edit(path, _)
            | Request::Delete(path, _) => *path,
            Request::Grep(query) => &query.path,
            Request::Glob(query) => &query.path,
            Request::Transfer(asked) => return vec![asked.from.clone(), asked.to.clone()],
            Request::Upload(files) => return files.iter().map(|(path, _)| path.clone()).collect(),
            Request::Download(paths) => return paths.to_vec(),
            Request::Execute(..) => return Vec::new(),
        };
        vec![path.clone()]
    }

    /// Size of the content to store, of each file.
    pub fn sizes(&self) -> Vec<usize> {
        match self {
            Request::Write(_, content) => vec![content.bytes().len()],
            Request::Edit(_, edit) => vec![edit.new.len()],
            Request::Upload(files) => files.iter().map(|(_, body)| body.len()).collect(),
            _ => Vec::new(),
        }
    }
}

impl Answer {
    /// Size of what was read, or, of the content with these sizes, what was stored.
    pub fn bytes(&self, sizes: &[usize]) -> usize {
        match self {
            Answer::Read(read) => read.content.len(),
            Answer::ReadRaw(file) => file.body.len(),
            Answer::Grep(found) => found.matches.text.len(),
            Answer::Upload(answers) => {
                let stored = answers.iter().zip(sizes);
                stored
                    .filter(|(one, _)| one.is_ok())
                    .map(|(_, size)| size)
                    .sum()
            }
            Answer::Download(answers) => answers.iter().flatten().map(Bytes::len).sum(),
            Answer::Execute(ran) => ran.output.len(),
            Answer::Write(_) | Answer::Edit(_) => sizes.iter().sum(),
            Answer::Ls(_) | Answer::Glob(_) | Answer::Delete(_) | Answer::Transfer(_) => 0,
        }
    }

    /// The first error of a batch.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Answer::Upload(answers) => answers.iter().find_map(|one| one.as_ref().err()),
            Answer::Download(answers) => answers.iter().find_map(|one| one.as_ref().err()),
            _ => None,
        }
    }
}

/// Calls the operation of a backend.
pub fn perform<'a>(backend: &'a dyn Backend, request: Request<'a>) -> Pending<'a, Answer> {
    Box::pin(async move {
        Ok(match request {
            Request::Ls(path) => Answer::Ls(backend.ls(path).await?),
            Request::Read(path, page) => Answer::Read(backend.read(path, page).await?),
            Request::ReadRaw(path) => Answer::ReadRaw(backend.read_raw(path).await?),
            Request::Grep(query) => Answer::Grep(backend.grep(query).await?),
            Request::Glob(query) => Answer::Glob(backend.glob(query).await?),
            Request::Write(path, content) => Answer::Write(backend.write(path, content).await?),
            Request::Edit(path, edit) => Answer::Edit(backend.edit(path, edit).await?),
            Request::Delete(path, unchanged) => {
                Answer::Delete(backend.delete(path, unchanged).await?)
            }
            Request::Transfer(asked) => Answer::Transfer(backend.transfer(asked).await?),
            Request::Upload(files) => Answer::Upload(backend.upload(files).await),
            Request::Download(paths) => Answer::Download(backend.download(paths).await),
            Request::Execute(command, options) => {
                let shell = backend.shell().ok_or_else(|| unsupported("execute"))?;
                Answer::Execute(shell.execute(command, options).await?)
            }
        })
    })
}
