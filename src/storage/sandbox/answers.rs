//! Parses the results of a sandbox: file metadata and errors.

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mode;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::storage::{Meta, Version};

pub(super) fn odd(output: &str) -> Error {
    let shown: String = output.trim().chars().take(300).collect();
    Error::new(
        Kind::Unavailable,
        format!(
            "The sandbox gave no proper answer; it needs sh, base64, sha256sum, find, grep and stat. It said: {shown}"
        ),
    )
}

pub(super) fn too_large(path: &VPath, size: u64, limit: u64) -> Error {
    Error::at(
        Kind::TooLarge,
        "'",
        path,
        format!("' has {size} bytes, over the limit of {limit} (maxFileBytes)"),
    )
}

pub(super) fn denied(path: &VPath, what: &'static str) -> Error {
    Error::at(Kind::PermissionDenied, "'", path, what)
}

pub(super) fn seconds(text: &str) -> Option<Time> {
    Some(Time::from_micros(
        text.trim().parse::<i64>().ok()?.checked_mul(1_000_000)?,
    ))
}

pub(super) fn meta(size: u64, modified: Time, version: Option<String>) -> Meta {
    Meta {
        version: version.map(|tag| Version::Tag(Rc::from(tag))),
        ..Meta::of(size, modified)
    }
}

fn octal(text: &str) -> Option<Mode> {
    u32::from_str_radix(text, 8).ok().map(Mode::of)
}

/// Parses `F size time mode` for a file, or the letter for anything else.
pub(super) fn told(line: &str) -> Result<Option<Meta>, char> {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("F") => {
            let size = words.next().and_then(|size| size.parse().ok());
            let time = words.next().and_then(seconds);
            match (size, time) {
                (Some(size), Some(time)) => Ok(Some(Meta {
                    mode: words.next().and_then(octal),
                    ..meta(size, time, None)
                })),
                _ => Err('?'),
            }
        }
        Some("N" | "D") => Ok(None),
        Some(other) => Err(other.chars().next().unwrap_or('?')),
        None => Err('?'),
    }
}

pub(super) fn refusal(path: &VPath, letter: char, output: &str) -> Error {
    match letter {
        'L' => denied(
            path,
            "' is reached through a symbolic link that is not followed: it leads out of rootDir or to what kitbag keeps for itself, or the backend has rules about paths",
        ),
        'X' => denied(path, "' may not be read by the sandbox's user"),
        'O' => denied(path, "' is a device, a pipe or a socket, not a file"),
        _ => odd(output),
    }
}
