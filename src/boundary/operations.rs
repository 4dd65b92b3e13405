//! The arguments of the operations, and the files that a state brings. Long texts come first and paths
//! after them.

use std::rc::Rc;

use bytes::Bytes;

use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::{Node, Table};
use crate::boundary::{Field, Reader};
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::pass;

/// The path of a directory or file. A layer may pass one of the library's own.
#[derive(Debug)]
pub struct AnyPath(pub VPath);

/// The path of a file, and whether it was given in canonical form.
#[derive(Debug)]
pub struct NamedFile {
    /// The path.
    pub path: VPath,
    /// Whether its text is that of the path.
    pub as_given: bool,
}

/// The path of a file in a batch; one that is wrong does not make the others wrong.
#[derive(Debug)]
pub struct OneOfBatch(pub Result<VPath>);

/// A count; JavaScript sends a negative number for none.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub Option<usize>);

fn file(given: &str) -> Result<VPath> {
    Ok(pass::parse(given)?.of_file(given)?)
}

/// The path, or the root after a failure.
fn kept(reader: &mut Reader<'_>, parsed: Result<VPath>) -> VPath {
    parsed.unwrap_or_else(|error| {
        reader.fail(error);
        VPath::root()
    })
}

impl Field for AnyPath {
    fn read(reader: &mut Reader<'_>) -> AnyPath {
        let parsed = pass::parse(reader.short());
        AnyPath(kept(reader, parsed.map_err(Into::into)))
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("path")
    }
}

impl Field for NamedFile {
    fn read(reader: &mut Reader<'_>) -> NamedFile {
        let given = reader.short();
        let path = kept(reader, file(given));
        let as_given = path.as_str() == given;
        NamedFile { path, as_given }
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("path")
    }
}

impl Field for OneOfBatch {
    fn read(reader: &mut Reader<'_>) -> OneOfBatch {
        OneOfBatch(file(reader.short()))
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("path")
    }
}

impl Field for Count {
    fn read(reader: &mut Reader<'_>) -> Count {
        let number = f64::read(reader);
        // A float-to-integer cast saturates.
        Count((number >= 0.0).then_some(number as usize))
    }

    #[cfg(test)]
    fn kind() -> Node {
        f64::kind()
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A text.
    Text,
    /// Bytes.
    Raw,
    /// Bytes, if there is no file yet.
    New,
}

words! { Written { Text = "text", Raw = "raw", New = "new" } }

options! {
    /// `ls`.
    pub struct LsArguments {
        path: AnyPath,
    }
}

options! {
    /// `read`.
    pub struct ReadArguments {
        path: NamedFile,
        offset: Count,
        limit: Count,
    }
}

options! {
    /// `readRaw`.
    pub struct FileArguments {
        path: NamedFile,
        start: f64,
        end: f64,
    }
}

options! {
    /// `grep`.
    pub struct GrepArguments {
        pattern: Rc<str>,
        path: AnyPath,
        glob: Option<Rc<str>>,
        max_count: Count,
        max_per_file: Count,
        before: Count,
        after: Count,
        regex: bool,
        ignore_case: bool,
        stats: bool,
    }
}

options! {
    /// `glob`.
    pub struct GlobArguments {
        pattern: Rc<str>,
        path: AnyPath,
    }
}

options! {
    /// `write`.
    pub struct WriteArguments {
        what: Written,
        content: Bytes,
        path: NamedFile,
    }
}

options! {
    /// `edit`; with `whole`, the texts are the content before and after.
    pub struct EditArguments {
        whole: bool,
        old: Bytes,
        fresh: Bytes,
        all: bool,
        path: NamedFile,
    }
}

options! {
    /// `delete`.
    pub struct DeleteArguments {
        unchanged: Option<Bytes>,
        path: NamedFile,
    }
}

options! {
    /// `move` and `copy`.
    pub struct TransferArguments {
        overwrite: bool,
        from: NamedFile,
        to: NamedFile,
    }
}

options! {
    /// `append`.
    pub struct AppendArguments {
        content: Bytes,
        path: NamedFile,
    }
}

options! {
    /// A file of `uploadFiles`.
    pub struct UploadedFile {
        path: OneOfBatch,
        content: Bytes,
    }
}

options! {
    /// `uploadFiles`.
    pub struct UploadArguments {
        only_files: bool,
        files: Vec<UploadedFile>,
    }
}

options! {
    /// `uploadFiles` of one file whose bytes come in parts.
    pub struct StreamArguments {
        path: OneOfBatch,
        only_files: bool,
        size: f64,
        most: f64,
    }
}

options! {
    /// `downloadFiles`.
    pub struct DownloadArguments {
        paths: Vec<OneOfBatch>,
    }
}

options! {
    /// `execute`; a negative time is none.
    pub struct ExecuteArguments {
        command: Rc<str>,
        timeout_ms: f64,
    }
}

options! {
    /// A file of a state, with its times.
    pub struct StateFile {
        content: Bytes,
        path: Rc<str>,
        of_state: bool,
        v1: bool,
        stored: bool,
        mime_type: Option<Rc<str>>,
        created: Option<Rc<str>>,
        modified: Option<Rc<str>>,
    }
}

options! {
    /// The path of a file of a state.
    pub struct StatePath {
        path: Rc<str>,
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        LsArguments::printed(),
        ReadArguments::printed(),
        FileArguments::printed(),
        GrepArguments::printed(),
        GlobArguments::printed(),
        WriteArguments::printed(),
        EditArguments::printed(),
        DeleteArguments::printed(),
        TransferArguments::printed(),
        AppendArguments::printed(),
        UploadedFile::printed(),
        UploadArguments::printed(),
        StreamArguments::printed(),
        DownloadArguments::printed(),
        ExecuteArguments::printed(),
        StateFile::printed(),
        StatePath::printed(),
    ]
}
