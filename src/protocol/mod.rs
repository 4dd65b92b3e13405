//! The operations of an agent on its files: the [`Backend`] trait with its requests and results.
//! Everything above a storage (composite, policies, tools, the JavaScript boundary) uses only this.
//! Results are plain data; the boundary decides how they look in JavaScript.

// A new operation must break the build wherever it could get past a layer.
#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        clippy::match_wildcard_for_single_variants
    )
)]

mod atomic;
mod backend;
mod capability;
mod listing;
mod names;
mod operation;
mod origin;
mod request;
mod searching;
mod streamed;
mod transfer;

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::core::error::Error;
use crate::core::file::{Format, Mime, Mode};
use crate::core::path::VPath;
use crate::core::time::Time;

pub use crate::search::lines::{Page, Position};
pub use crate::search::matches::{
    MAX_ANSWER_BYTES, MatchLine, Matches, ROW_BYTES, Row, RowKind, index,
};
pub use crate::search::query::{GlobQuery, GrepQuery};
pub use crate::search::sieve::{Only, Sieve, Sift, Stamp, State};
pub use atomic::{Atomic, Guard, Replacement, Together, Transaction};
pub use backend::{
    Backend, BackendExt, SharedBackend, Typed, answer, may_create, read_part, too_few, whole,
};
pub use capability::{Capability, Directories, FileSet, Listings, Reach};
pub use listing::{EntryInfo, FileInfo};
pub use names::Names;
pub use operation::{Effect, Operation};
pub use origin::{Aboard, Cargo, Origin, Origins, Purpose, Seen};
pub use request::{Answer, Request};
pub use searching::{GlobResult, GrepResult, GrepStats};
pub use streamed::{OfParts, Streamed};
pub use transfer::{
    COPIED, Carrier, Revise, Step, Transfer, by_bytes, by_steps, carry, exists, files_beneath,
    gone, one_by_one, stands, transfer_by_steps,
};

/// The result of `read`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResult {
    /// The returned bytes: lines of text, or all of a binary file.
    pub content: Bytes,
    /// Whether `content` is text.
    pub is_text: bool,
    /// The file's type, if it is known.
    pub mime: Option<Mime>,
    /// Where a page of text is in its file.
    pub position: Option<Position>,
}

/// A stored file as `readRaw`, `snapshot` and `filesUpdate` return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// All its bytes.
    pub body: Bytes,
    /// Whether it is returned as a string (or lines) instead of bytes.
    pub is_text: bool,
    /// Its type.
    pub mime: Mime,
    /// Which format of `FileData` it takes.
    pub format: Format,
    /// When it was created.
    pub created: Option<Time>,
    /// When it was last written.
    pub modified: Option<Time>,
    /// Its permission bits, if they are kept.
    pub mode: Option<Mode>,
    /// Where its bytes are in the file, if they are a part of it.
    pub section: Option<Box<Section>>,
}

/// Where a part of a file is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The offset of its first byte.
    pub start: u64,
    /// Number of bytes of the whole file.
    pub size: u64,
    /// The state of the file, if the storage reads parts: those with the same version are of one content.
    pub version: Option<Rc<str>>,
}

impl RawFile {
    /// The part of the file that was asked for, as bytes, of an answer that may have more of it.
    #[must_use]
    pub fn within(mut self, range: Range<u64>) -> RawFile {
        let section = self
            .section
            .take()
            .map(|section| *section)
            .unwrap_or(Section {
                start: 0,
                size: self.body.len() as u64,
                version: None,
            });
        let start = range.start.min(section.size);
        self.body = clipped(&self.body, section.start, range);
        self.section = Some(Box::new(Section { start, ..section }));
        self.is_text = false;
        self.format = Format::V2;
        self
    }
}

/// The content for `write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A caller's string, in UTF-8. For a path of a binary type it is base64.
    Text(Bytes),
    /// Bytes to store as they are. A file that is created gets the permission bits.
    Raw(Bytes, Option<Mode>),
    /// The same, only if no file exists, even if `write` would overwrite.
    New(Bytes, Option<Mode>),
}

impl Content {
    /// The bytes as they were given.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Content::Text(bytes) | Content::Raw(bytes, _) | Content::New(bytes, _) => bytes,
        }
    }

    /// The permission bits for a new file.
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Content::Text(_) => None,
            Content::Raw(_, mode) | Content::New(_, mode) => *mode,
        }
    }
}

/// Changes that the caller must apply to its own state: `None` is a deletion.
pub type FilesUpdate = Vec<(VPath, Option<RawFile>)>;

/// The result of `write`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteResult {
    /// Only from a backend over state that the caller owns.
    pub files_update: Option<FilesUpdate>,
}

/// The arguments of `edit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text to find.
    pub old: Bytes,
    /// The text to put in its place.
    pub new: Bytes,
    /// Replace every occurrence; otherwise there must be exactly one.
    pub replace_all: bool,
    /// Whether `old` is the whole content of the file: a compare-and-swap that works for any file,
    /// also for binary ones. `conflict` if the content differs.
    pub whole: bool,
    /// Whether `new` is added to the end of the file, whatever its content; `old` is empty then.
    pub appends: bool,
}

/// The result of `edit`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditResult {
    /// Number of replacements.
    pub occurrences: usize,
    /// Whether the text was found only after `\n` was replaced by the file's `\r\n`.
    pub crlf: bool,
    /// Only from a backend over state that the caller owns.
    pub files_update: Option<FilesUpdate>,
}

/// The result of `delete`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteResult {
    /// Only from a backend over state that the caller owns.
    pub files_update: Option<FilesUpdate>,
}

/// The result of `execute`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteResult {
    /// Standard output and error, as one text.
    pub output: String,
    /// The exit code; `None` if it is unknown.
    pub exit_code: Option<i32>,
    /// Whether output was truncated.
    pub truncated: bool,
}

/// Options of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteOptions {
    /// Kill the command after this time; the backend's own limit if absent.
    pub timeout: Option<Duration>,
}

/// The bytes of a range, cut from a body that begins at `start` in its file.
pub fn clipped(body: &Bytes, start: u64, range: Range<u64>) -> Bytes {
    let place = |at: u64| {
        let inside = at.saturating_sub(start);
        usize::try_from(inside).map_or(body.len(), |inside| inside.min(body.len()))
    };
    let (from, to) = (place(range.start), place(range.end));
    body.slice(from..to.max(from))
}

/// The error for a method that a backend does not have.
pub fn unsupported(what: &str) -> Error {
    Error::new(
        crate::core::error::Kind::Unsupported,
        format!("{what} is not supported by this backend"),
    )
}
