//! Operations as data: a request and its answer. A backend is one function from the one to the
//! other, so a rule or a layer matches the operations that it changes and passes the rest on.

use std::ops::Range;

use bytes::Bytes;

use super::{
    Content, DeleteResult, Edit, EditResult, ExecuteOptions, ExecuteResult, FileInfo, FilesUpdate,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Operation, Page, RawFile, ReadResult, Streamed,
    Transfer, WriteResult,
};
use crate::core::error::{Error, Result};
use crate::core::path::VPath;

/// A call of an operation, with its arguments.
pub enum Request<'a> {
    /// `ls`
    Ls(&'a VPath),
    /// `read`
    Read(&'a VPath, Page),
    /// `readRaw`, of the whole file or of a part of it. Who has the whole file at hand may return that.
    ReadRaw(&'a VPath, Option<Range<u64>>),
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
    /// `uploadFiles` of one file whose bytes come in parts. Its answer is that of a batch of one. Who must
    /// see all of them has it [`whole`](Streamed::whole).
    Stream(&'a VPath, &'a dyn Streamed),
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

impl<'a> Request<'a> {
    /// The same request about one file, for another path. One about several files, or none, stays.
    #[must_use]
    pub fn at(self, path: &'a VPath) -> Request<'a> {
        match self {
            Request::Ls(_) => Request::Ls(path),
            Request::Read(_, page) => Request::Read(path, page),
            Request::ReadRaw(_, range) => Request::ReadRaw(path, range),
            Request::Write(_, content) => Request::Write(path, content),
            Request::Edit(_, edit) => Request::Edit(path, edit),
            Request::Delete(_, unchanged) => Request::Delete(path, unchanged),
            Request::Stream(_, parts) => Request::Stream(path, parts),
            Request::Grep(_)
            | Request::Glob(_)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Download(_)
            | Request::Execute(..) => self,
        }
    }

    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Request::Ls(_) => Operation::Ls,
            Request::Read(..) => Operation::Read,
            Request::ReadRaw(..) => Operation::ReadRaw,
            Request::Grep(_) => Operation::Grep,
            Request::Glob(_) => Operation::Glob,
            Request::Write(..) => Operation::Write,
            Request::Edit(_, edit) if edit.appends => Operation::Append,
            Request::Edit(..) => Operation::Edit,
            Request::Delete(..) => Operation::Delete,
            Request::Transfer(asked) => asked.operation(),
            Request::Upload(_) | Request::Stream(..) => Operation::UploadFiles,
            Request::Download(_) => Operation::DownloadFiles,
            Request::Execute(..) => Operation::Execute,
        }
    }

    /// The files or directories in its arguments; none for a command.
    pub fn paths(&self) -> Vec<VPath> {
        let path = match self {
            Request::Ls(path)
            | Request::Read(path, _)
            | Request::ReadRaw(path, _)
            | Request::Write(path, _)
            | Request::Edit(path, _)
            | Request::Delete(path, _)
            | Request::Stream(path, _) => *path,
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
            Request::Stream(_, parts) => {
                vec![usize::try_from(parts.parts().size()).unwrap_or(usize::MAX)]
            }
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Download(_)
            | Request::Execute(..) => Vec::new(),
        }
    }
}

impl Answer {
    /// The changes that the caller must apply to its own state, of an operation that has some.
    pub fn update(&mut self) -> Option<&mut Option<FilesUpdate>> {
        match self {
            Answer::Write(done) | Answer::Transfer(done) => Some(&mut done.files_update),
            Answer::Edit(done) => Some(&mut done.files_update),
            Answer::Delete(done) => Some(&mut done.files_update),
            Answer::Ls(_)
            | Answer::Read(_)
            | Answer::ReadRaw(_)
            | Answer::Grep(_)
            | Answer::Glob(_)
            | Answer::Upload(_)
            | Answer::Download(_)
            | Answer::Execute(_) => None,
        }
    }

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
            Answer::Ls(_)
            | Answer::Read(_)
            | Answer::ReadRaw(_)
            | Answer::Grep(_)
            | Answer::Glob(_)
            | Answer::Write(_)
            | Answer::Edit(_)
            | Answer::Delete(_)
            | Answer::Transfer(_)
            | Answer::Execute(_) => None,
        }
    }
}
