//! What an agent can ask of its files: the [`Backend`] trait with its questions and answers.
//! Everything above a storage (router, policy, tools, the JavaScript boundary) speaks only this.
//! Answers are plain data; how they look in JavaScript is the boundary's business.

mod capability;
mod listing;
mod searching;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::error::{Error, Result};
use crate::file::{Format, Mime};
use crate::path::VPath;
use crate::storage::Pending;
use crate::time::Time;

pub use capability::{Capability, Directories, FileSet, Reach};
pub use listing::{EntryInfo, FileInfo};
pub use searching::{
    GlobQuery, GlobResult, GrepQuery, GrepResult, MAX_ANSWER_BYTES, MatchLine, Matches, ROW_BYTES,
    Row, RowKind, index,
};

/// Which lines `read` is to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Lines to pass over.
    pub offset: usize,
    /// Lines to show at most.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Page {
        Page {
            offset: 0,
            limit: 500,
        }
    }
}

/// Where a page stands in its file. Absent for empty content and past the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Lines of the whole file; `None` where only a part of it was looked at.
    pub total_lines: Option<usize>,
    /// The first line shown, from 1.
    pub start_line: usize,
    /// The last line shown.
    pub end_line: usize,
    /// The offset that reads on; `None` at the end.
    pub next_offset: Option<usize>,
}

/// What `read` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResult {
    /// The bytes shown: lines of text, or the whole of a binary file.
    pub content: Bytes,
    /// Whether `content` is lines of text.
    pub is_text: bool,
    /// The file's type, where it is known.
    pub mime: Option<Mime>,
    /// Where a page of text stands.
    pub position: Option<Position>,
}

/// A stored file as `readRaw`, `snapshot` and `filesUpdate` show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// All its bytes.
    pub body: Bytes,
    /// Whether it is shown as a string (or lines) and not as bytes.
    pub is_text: bool,
    /// Its type.
    pub mime: Mime,
    /// Which form of `FileData` it takes.
    pub format: Format,
    /// When it was first written.
    pub created: Option<Time>,
    /// When it was last written.
    pub modified: Option<Time>,
}

/// What `write` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A caller's string, in UTF-8. For a path of a binary type it is base64.
    Text(Bytes),
    /// Bytes to keep as they are.
    Raw(Bytes),
    /// Bytes to keep as they are, only where nothing is, whatever `write` does otherwise.
    New(Bytes),
}

impl Content {
    /// The bytes as they were given.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Content::Text(bytes) | Content::Raw(bytes) | Content::New(bytes) => bytes,
        }
    }
}

/// Changes that the caller must apply to a state of its own: `None` is a deletion.
pub type FilesUpdate = Vec<(VPath, Option<RawFile>)>;

/// What `write` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteResult {
    /// Only from a backend over a caller's state.
    pub files_update: Option<FilesUpdate>,
}

/// What `edit` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text to find.
    pub old: Bytes,
    /// The text to put in its place.
    pub new: Bytes,
    /// Every occurrence, not only a single one.
    pub replace_all: bool,
    /// Whether `old` is all the bytes of the file: a compare-and-swap that takes any file, also
    /// one that is not text. `conflict` where the file is anything else.
    pub whole: bool,
}

/// What `edit` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditResult {
    /// Replacements made.
    pub occurrences: usize,
    /// Whether the text was found only with the file's own `\r\n` in place of `\n`.
    pub crlf: bool,
    /// Only from a backend over a caller's state.
    pub files_update: Option<FilesUpdate>,
}

/// What `delete` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteResult {
    /// Only from a backend over a caller's state.
    pub files_update: Option<FilesUpdate>,
}

/// What `execute` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteResult {
    /// Standard output and error, as one text.
    pub output: String,
    /// How it ended; `None` where that is unknown.
    pub exit_code: Option<i32>,
    /// Whether output was cut.
    pub truncated: bool,
}

/// How a command is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteOptions {
    /// End it after so long; the backend's own limit where absent.
    pub timeout: Option<Duration>,
}

/// A backend that can run commands.
pub trait Shell {
    /// Which machine or folder it is.
    fn id(&self) -> Rc<str>;

    /// Runs a command to its end.
    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult>;
}

/// Files, as an agent sees them. See PROTOCOL in `docs/` for what each operation means.
///
/// Nothing is half done: an `Err` from a change means the old content stands whole, unless the
/// error says otherwise. A call is given up by dropping its future.
pub trait Backend {
    /// What it can promise.
    fn capability(&self) -> Capability;

    /// One level of a directory, in [`FileInfo::listing_order`]. A missing one is empty.
    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>>;

    /// A page of text, or the whole of a binary file.
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult>;

    /// The file as it is stored.
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile>;

    /// Lines that contain a text, in order of path, then line.
    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult>;

    /// Files by pattern, in [`FileInfo::newest_first`] order.
    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult>;

    /// Creates a file, or replaces it where the backend was told to.
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult>;

    /// Replaces text in a file.
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult>;

    /// Removes a file, or a directory with all beneath it. With `unchanged`, only a file, and only
    /// while it is these bytes; else `conflict`.
    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult>;

    /// Stores files whatever is there; one answer each, in order.
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>>;

    /// Fetches files whole; one answer each, in order.
    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>>;

    /// The way to run commands, where there is one.
    fn shell(&self) -> Option<&dyn Shell>;
}

/// A backend that several owners share.
pub type SharedBackend = Rc<dyn Backend>;

/// The refusal of a method that a backend does not have.
pub fn unsupported(what: &str) -> Error {
    Error::new(
        crate::error::Kind::Unsupported,
        format!("{what} is not supported by this backend"),
    )
}
