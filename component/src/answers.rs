//! What the crate answers, as a caller gets it.

use bytes::Bytes;
use kitbag::core::error::{Error, Kind};
use kitbag::core::file::Format;
use kitbag::core::time::{Time, whole_millis};
use kitbag::protocol::{
    Capability, Directories, EntryInfo, ExecuteResult, FileInfo, GrepResult, RawFile, Reach,
    ReadResult, RowKind,
};

use crate::bindings::exports::kitbag::files::backends as wit;
use crate::bindings::kitbag::files::types;

/// An error with its code.
pub fn error(error: Error) -> types::Error {
    types::Error {
        code: code(error.kind()),
        message: error.to_string(),
        retry_after_ms: error.wait().map(whole_millis),
    }
}

fn code(kind: Kind) -> types::ErrorCode {
    use types::ErrorCode;
    match kind {
        Kind::NotFound => ErrorCode::NotFound,
        Kind::AlreadyExists => ErrorCode::AlreadyExists,
        Kind::AmbiguousEdit => ErrorCode::AmbiguousEdit,
        Kind::NoMatch => ErrorCode::NoMatch,
        Kind::Conflict => ErrorCode::Conflict,
        Kind::InvalidPath => ErrorCode::InvalidPath,
        Kind::InvalidPattern => ErrorCode::InvalidPattern,
        Kind::InvalidArgument => ErrorCode::InvalidArgument,
        Kind::PermissionDenied => ErrorCode::PermissionDenied,
        Kind::IsDirectory => ErrorCode::IsDirectory,
        Kind::TooLarge => ErrorCode::TooLarge,
        Kind::QuotaExceeded => ErrorCode::QuotaExceeded,
        Kind::RateLimited => ErrorCode::RateLimited,
        Kind::Unsupported => ErrorCode::Unsupported,
        Kind::Timeout => ErrorCode::Timeout,
        Kind::Unavailable => ErrorCode::Unavailable,
        Kind::Internal => ErrorCode::Internal,
    }
}

/// Bytes that are UTF-8, or nearly so.
pub fn text(bytes: Bytes) -> String {
    match String::from_utf8(Vec::from(bytes)) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The content of a file.
pub fn content(body: Bytes, is_text: bool) -> types::Content {
    match is_text {
        true => types::Content::Text(text(body)),
        false => types::Content::Bytes(Vec::from(body)),
    }
}

/// A format.
pub fn format(format: Format) -> types::FileFormat {
    match format {
        Format::V1 => types::FileFormat::V1,
        Format::V2 => types::FileFormat::V2,
    }
}

/// A number of lines.
pub fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A listing.
pub fn infos(infos: Vec<FileInfo>) -> Vec<wit::FileInfo> {
    let shown = |info: FileInfo| wit::FileInfo {
        path: info.shown_path(),
        is_directory: info.is_dir(),
        size: match info.entry {
            EntryInfo::Directory => None,
            EntryInfo::File { size, .. } => size,
        },
        modified: info.modified().map(Time::micros),
    };
    infos.into_iter().map(shown).collect()
}

/// A page of a file.
pub fn page(read: ReadResult) -> wit::Page {
    wit::Page {
        content: content(read.content, read.is_text),
        mime_type: read.mime.map(|mime| mime.as_str().to_owned()),
        position: read.position.map(|at| wit::Position {
            start_line: count(at.start_line),
            end_line: count(at.end_line),
            total_lines: at.total_lines.map(count),
            next_offset: at.next_offset.map(count),
        }),
    }
}

/// A file as it is stored.
pub fn raw(file: RawFile) -> wit::RawFile {
    wit::RawFile {
        content: content(file.body, file.is_text),
        mime_type: file.mime.as_str().to_owned(),
        format: format(file.format),
        created: file.created.map(Time::micros),
        modified: file.modified.map(Time::micros),
    }
}

/// What a search found, each file once.
pub fn found(found: GrepResult) -> wit::GrepResult {
    let matches = found.matches;
    let has_context = matches.rows.iter().any(|row| row.kind != RowKind::Match);
    let of_one_file = matches.rows.chunk_by(|a, b| a.file == b.file);
    let files = of_one_file.map(|rows| {
        let mut lines: Vec<u8> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                lines.push(b'\n');
            }
            lines.extend_from_slice(matches.text_at(row.text));
        }
        let file = rows.first().map(|row| row.file as usize);
        let path = file.and_then(|file| matches.paths.get(file));
        wit::FileMatches {
            path: path.map_or_else(String::new, |path| path.as_str().to_owned()),
            text: text(Bytes::from(lines)),
            numbers: rows.iter().map(|row| row.line).collect(),
            kinds: match has_context {
                true => rows.iter().map(|row| kind(row.kind)).collect(),
                false => Vec::new(),
            },
        }
    });
    wit::GrepResult {
        files: files.collect(),
        truncated: found.truncated,
        ignored: count(found.ignored),
    }
}

fn kind(kind: RowKind) -> wit::LineKind {
    match kind {
        RowKind::Match => wit::LineKind::Match,
        RowKind::Before => wit::LineKind::Before,
        RowKind::After => wit::LineKind::After,
    }
}

/// What a command printed.
pub fn execution(ran: ExecuteResult) -> types::Execution {
    types::Execution {
        output: ran.output,
        exit_code: ran.exit_code,
        truncated: ran.truncated,
    }
}

/// What a backend guarantees.
pub fn capability(has: Capability) -> types::Capability {
    use types::Promises;
    let reach = |reach| match reach {
        Reach::Storage => types::Reach::Storage,
        Reach::Instance => types::Reach::Instance,
        Reach::Never => types::Reach::Never,
    };
    let promises = [
        (has.writable, Promises::WRITABLE),
        (has.keeps_binary, Promises::KEEPS_BINARY),
        (has.keeps_created, Promises::KEEPS_CREATED),
        (has.keeps_mime, Promises::KEEPS_MIME_TYPE),
        (has.keeps_format, Promises::KEEPS_FORMAT),
        (has.keeps_modes, Promises::KEEPS_MODES),
        (has.overwrites, Promises::OVERWRITES),
        (has.names.case, Promises::FOLDS_CASE),
        (has.names.composition, Promises::FOLDS_COMPOSITION),
    ];
    let kept = promises.into_iter().filter(|(is, _)| *is);
    types::Capability {
        create: reach(has.create),
        update: reach(has.update),
        directories: match has.directories {
            Directories::Implied => types::Directories::Implied,
            Directories::Real => types::Directories::Real,
        },
        promises: kept.fold(Promises::empty(), |all, (_, one)| all | one),
        max_file_bytes: has.max_file_bytes,
        notes: has.notes.iter().map(|note| note.to_string()).collect(),
    }
}
