//! What an agent can ask of its files: the [`Backend`] trait with its questions and answers.
//! Everything above a storage (router, policy, tools, the JavaScript boundary) speaks only this.
//! Answers are plain data; how they look in JavaScript is the boundary's business.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::error::{Error, Result};
use crate::file::{Format, Mime};
use crate::path::VPath;
use crate::storage::Pending;
use crate::time::Time;

/// How far a promise reaches when several writers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The storage itself checks and changes in one step; it holds between processes.
    Storage,
    /// Calls take their turn inside this instance only; other writers are not seen.
    Instance,
    /// It cannot be done at all.
    Never,
}

/// How directories come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directories {
    /// They are what stands before a `/` in some file's path, and may share a file's name.
    Implied,
    /// They exist by themselves, also empty, and a name is either a file or a directory.
    Real,
}

/// What a backend can promise. It explains refusals, and picks the cases of the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Whose word it is that a create happens only where nothing was.
    pub create: Reach,
    /// Whose word it is that an edit never loses another's.
    pub update: Reach,
    /// Whether a part of a file can be fetched.
    pub ranged_reads: bool,
    /// Whether the storage narrows a search by itself.
    pub native_search: bool,
    /// How directories come to be.
    pub directories: Directories,
    /// Whether `created_at` is kept through edits and overwrites.
    pub keeps_created: bool,
    /// Whether a type that was given is kept.
    pub keeps_mime: bool,
    /// Whether the `v1` form of a text file is kept.
    pub keeps_format: bool,
    /// Whether bytes that are not text can be kept.
    pub keeps_binary: bool,
    /// Whether anything can be changed.
    pub writable: bool,
    /// The largest file it takes, where there is a limit.
    pub max_file_bytes: Option<u64>,
    /// What else a caller should know, a sentence each.
    pub notes: Vec<Rc<str>>,
}

impl Capability {
    /// A place in memory that can do everything.
    pub fn full() -> Capability {
        Capability {
            create: Reach::Storage,
            update: Reach::Storage,
            ranged_reads: true,
            native_search: false,
            directories: Directories::Implied,
            keeps_created: true,
            keeps_mime: true,
            keeps_format: true,
            keeps_binary: true,
            writable: true,
            max_file_bytes: None,
            notes: Vec::new(),
        }
    }
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Where it is; shown with a `/` behind it for a directory.
    pub path: VPath,
    /// What it is.
    pub entry: EntryInfo,
}

/// A file or a directory, in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryInfo {
    /// A directory, about which nothing more is told.
    Directory,
    /// A file.
    File {
        /// Its bytes.
        size: u64,
        /// When it was last written; `None` where a foreign backend did not say.
        modified: Option<Time>,
    },
}

impl FileInfo {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.entry, EntryInfo::Directory)
    }

    /// The path as listings show and sort it.
    pub fn shown_path(&self) -> String {
        if self.is_dir() {
            self.path.dir_prefix()
        } else {
            self.path.as_str().to_owned()
        }
    }

    /// The order of `ls`: by shown path, in bytes.
    pub fn listing_order(&self, other: &FileInfo) -> std::cmp::Ordering {
        let (a, b) = (
            self.path.as_str().as_bytes(),
            other.path.as_str().as_bytes(),
        );
        let shared = a.len().min(b.len());
        let (head_a, tail_a) = a.split_at(shared);
        let (head_b, tail_b) = b.split_at(shared);
        head_a.cmp(head_b).then_with(|| {
            let slash = |info: &FileInfo| (info.is_dir() && !info.path.is_root()).then_some(b'/');
            let rest_a = tail_a.iter().copied().chain(slash(self));
            let rest_b = tail_b.iter().copied().chain(slash(other));
            rest_a.cmp(rest_b)
        })
    }

    /// When it was last written, where that is known.
    pub fn modified(&self) -> Option<Time> {
        match self.entry {
            EntryInfo::File { modified, .. } => modified,
            EntryInfo::Directory => None,
        }
    }

    /// The order of `glob`: the newest first, then by path.
    pub fn newest_first(&self, other: &FileInfo) -> std::cmp::Ordering {
        let by_time = other.modified().cmp(&self.modified());
        by_time.then_with(|| self.path.cmp(&other.path))
    }
}

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

/// What `grep` looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The text, or the regular expression.
    pub pattern: Rc<str>,
    /// The file or directory to look in.
    pub path: VPath,
    /// Which files, by name or by path below `path`.
    pub glob: Option<Rc<str>>,
    /// Stop after so many matches.
    pub max_count: Option<usize>,
    /// Stop in each file after so many matches.
    pub max_per_file: Option<usize>,
    /// Read `pattern` as a regular expression.
    pub regex: bool,
    /// Take capital and small letters as alike.
    pub ignore_case: bool,
    /// Lines to show before each match.
    pub before: usize,
    /// Lines to show after each match.
    pub after: usize,
}

impl GrepQuery {
    /// The plain question: this text, anywhere.
    pub fn literal(pattern: &str) -> GrepQuery {
        GrepQuery {
            pattern: Rc::from(pattern),
            path: VPath::root(),
            glob: None,
            max_count: None,
            max_per_file: None,
            regex: false,
            ignore_case: false,
            before: 0,
            after: 0,
        }
    }
}

/// What a line of [`Matches`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// A line that matches.
    Match = 0,
    /// A line shown because the next match follows it.
    Before = 1,
    /// A line shown because the last match stands before it.
    After = 2,
}

/// One line of [`Matches`]; its text ends at `end` in `text`, and begins where the row before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which of `paths`.
    pub file: u32,
    /// The line's number, from 1.
    pub line: u32,
    /// Where its text ends.
    pub end: u32,
    /// What it is.
    pub kind: RowKind,
}

/// What a search found, packed: one text, a row a line, each path once. Fifty thousand matches
/// are three allocations, and cross into JavaScript as one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Files with matches, in order.
    pub paths: Vec<VPath>,
    /// The text of all rows, one behind the other.
    pub text: Vec<u8>,
    /// The rows, in order of path, then line.
    pub rows: Vec<Row>,
}

/// One match, unpacked for a reader's convenience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchLine<'a> {
    /// The file.
    pub path: &'a VPath,
    /// The line's number, from 1.
    pub line: u32,
    /// The line without its end, as stored.
    pub text: &'a [u8],
    /// What it is.
    pub kind: RowKind,
}

impl Matches {
    /// Every row with its text.
    pub fn iter(&self) -> impl Iterator<Item = MatchLine<'_>> {
        let mut start = 0usize;
        self.rows.iter().filter_map(move |row| {
            let end = row.end as usize;
            let text = self.text.get(start..end);
            start = end;
            Some(MatchLine {
                path: self.paths.get(row.file as usize)?,
                line: row.line,
                text: text?,
                kind: row.kind,
            })
        })
    }

    /// How many rows are matches (and not context).
    pub fn count(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| row.kind == RowKind::Match)
            .count()
    }

    /// Keeps the first `count` matches with their context, and drops the rest.
    pub fn keep_first(&mut self, count: usize) {
        let mut matches = self.rows.iter().enumerate();
        let next = matches
            .by_ref()
            .filter(|(_, row)| row.kind == RowKind::Match)
            .nth(count)
            .map(|(at, _)| at);
        let Some(mut cut) = next else { return };
        // The lines shown before the first match to go, go with it.
        while cut > 0
            && self
                .rows
                .get(cut - 1)
                .is_some_and(|row| row.kind == RowKind::Before)
        {
            cut -= 1;
        }
        self.rows.truncate(cut);
        let last = self.rows.last();
        self.text.truncate(last.map_or(0, |row| row.end as usize));
        self.paths
            .truncate(last.map_or(0, |row| row.file as usize + 1));
    }

    /// Puts one row at the end; a path equal to the last one is not stored again.
    pub fn push(&mut self, path: &VPath, line: u32, text: &[u8], kind: RowKind) {
        if self.paths.last() != Some(path) {
            self.paths.push(path.clone());
        }
        self.text.extend_from_slice(text);
        self.rows.push(Row {
            file: index(self.paths.len().saturating_sub(1)),
            line,
            end: index(self.text.len()),
            kind,
        });
    }
}

/// A place in a packed answer. Answers stay far below 4 GiB, which is all the memory there is.
pub fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What `grep` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// The matches.
    pub matches: Matches,
    /// Whether it stopped early, so that there may be more.
    pub truncated: bool,
}

/// What `glob` looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// The pattern, as given.
    pub pattern: Rc<str>,
    /// The directory it is relative to.
    pub path: VPath,
}

/// What `glob` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// The files, newest first.
    pub files: Vec<FileInfo>,
    /// Whether it stopped early, so that there may be more.
    pub truncated: bool,
}

/// What `write` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A caller's string, in UTF-8. For a path of a binary type it is base64.
    Text(Bytes),
    /// Bytes to keep as they are.
    Raw(Bytes),
}

impl Content {
    /// The bytes as they were given.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Content::Text(bytes) | Content::Raw(bytes) => bytes,
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

    /// Removes a file, or a directory with all beneath it.
    fn delete<'a>(&'a self, path: &'a VPath) -> Pending<'a, DeleteResult>;

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
