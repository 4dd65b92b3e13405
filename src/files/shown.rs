//! Conversion of stored files to result types.

use crate::core::error::Error;
use crate::core::file::{self, Format, Mime, Texture};
use crate::core::path::VPath;
use crate::protocol::{EntryInfo, FileInfo, RawFile, Section, Stamp, State};
use crate::storage::{File, Meta, Part, Version};

/// The type and texture of a stored file: from its metadata, or else detected from name and bytes.
pub(super) fn kind_of(path: &VPath, file: &File) -> (Mime, Texture) {
    match (&file.meta.mime, file.meta.texture) {
        (Some(mime), Some(texture)) => (mime.clone(), texture),
        (mime, _) => file::classify(path, &file.body, mime.as_ref()),
    }
}

/// A part of a stored file, with what `readRaw` tells of the whole file.
pub(super) fn raw_part(path: &VPath, part: Part, version: Option<Version>) -> RawFile {
    let Part { file, start, .. } = part;
    let section = Section {
        start,
        size: file.meta.size,
        version: version.map(|version| match version {
            Version::Number(number) => number.to_string().into(),
            Version::Tag(tag) => tag,
        }),
    };
    RawFile {
        section: Some(Box::new(section)),
        ..raw(path, file)
    }
}

/// A stored file in the form that `readRaw` returns.
pub fn raw(path: &VPath, file: File) -> RawFile {
    let (mime, texture) = kind_of(path, &file);
    let is_text = match texture {
        Texture::Binary => false,
        Texture::Ascii => true,
        // Bytes that are not valid UTF-8 are returned as bytes, whatever their type says.
        Texture::Text => std::str::from_utf8(&file.body).is_ok(),
    };
    RawFile {
        body: file.body,
        is_text,
        mime,
        format: if is_text {
            file.meta.format
        } else {
            Format::V2
        },
        created: file.meta.created,
        modified: Some(file.meta.modified),
        mode: file.meta.mode,
        section: None,
    }
}

/// A listed file, as a sieve sees it; with its version only if that is unique.
pub(super) fn state(meta: &Meta, stamped: bool) -> State<'_> {
    let stamp = meta.version.as_ref().filter(|_| stamped);
    State {
        size: meta.size,
        modified: meta.modified,
        stamp: stamp.map(|version| match version {
            Version::Number(number) => Stamp::Number(*number),
            Version::Tag(tag) => Stamp::Tag(tag),
        }),
    }
}

pub(super) fn info(path: VPath, meta: &Meta) -> FileInfo {
    FileInfo {
        path,
        entry: EntryInfo::File {
            size: (meta.size != Meta::UNKNOWN_SIZE).then_some(meta.size),
            modified: Some(meta.modified),
        },
    }
}

pub(super) fn half_deleted(path: &VPath, gone: &[VPath], error: &Error) -> Error {
    const SHOWN: usize = 20;
    let mut names: Vec<&str> = gone.iter().take(SHOWN).map(VPath::as_str).collect();
    let more = gone.len().saturating_sub(SHOWN);
    let tail = format!("and {more} more");
    if more > 0 {
        names.push(&tail);
    }
    Error::at(
        error.kind(),
        "Error: '",
        path,
        format!(
            "' was deleted only in part. Removed: {}. The rest is still there: {error}",
            names.join(", ")
        ),
    )
}
