//! Errors of WASI in kitbag's words.

use wasip2::filesystem::types::ErrorCode as Wasi;

use crate::exports::kitbag::files::types::{Error, ErrorCode};

pub fn error(code: ErrorCode, message: String) -> Error {
    Error {
        code,
        message,
        retry_after_ms: None,
    }
}

/// A link on the way to a file, or in its place.
pub fn link(path: &str) -> Error {
    error(
        ErrorCode::PermissionDenied,
        format!("'{path}' leads through a link, which is not followed"),
    )
}

pub fn exists(path: &str) -> Error {
    error(
        ErrorCode::AlreadyExists,
        format!("'{path}' exists already; edit it, or choose another path"),
    )
}

pub fn conflict(path: &str) -> Error {
    error(
        ErrorCode::Conflict,
        format!("'{path}' was changed meanwhile; read it again"),
    )
}

pub fn too_large(path: &str, bytes: u64, most: u64) -> Error {
    error(
        ErrorCode::TooLarge,
        format!("'{path}' has {bytes} bytes; a file may have {most}"),
    )
}

/// What WASI answered about a file.
pub fn of(path: &str, code: Wasi) -> Error {
    let (mapped, why) = match code {
        Wasi::Access | Wasi::NotPermitted => (ErrorCode::PermissionDenied, "is not permitted"),
        Wasi::ReadOnly => (
            ErrorCode::PermissionDenied,
            "is on a file system that is read-only",
        ),
        Wasi::Loop | Wasi::TooManyLinks => return link(path),
        Wasi::Exist => return exists(path),
        Wasi::NoEntry => (ErrorCode::NotFound, "does not exist"),
        Wasi::NotDirectory => (ErrorCode::InvalidPath, "goes through a file"),
        Wasi::IsDirectory | Wasi::NotEmpty => (ErrorCode::IsDirectory, "is a directory"),
        Wasi::Quota | Wasi::InsufficientSpace => (ErrorCode::QuotaExceeded, "found no space"),
        Wasi::FileTooLarge => (ErrorCode::TooLarge, "is too large for the file system"),
        Wasi::NameTooLong | Wasi::IllegalByteSequence | Wasi::Invalid => {
            (ErrorCode::InvalidPath, "is no name for the file system")
        }
        Wasi::Unsupported => (ErrorCode::Unsupported, "needs what the host does not have"),
        Wasi::WouldBlock
        | Wasi::Already
        | Wasi::Busy
        | Wasi::Deadlock
        | Wasi::InProgress
        | Wasi::Interrupted
        | Wasi::NoLock
        | Wasi::TextFileBusy => (ErrorCode::Unavailable, "is in use; call again"),
        Wasi::Io | Wasi::InsufficientMemory | Wasi::NoDevice | Wasi::NoSuchDevice => {
            (ErrorCode::Unavailable, "cannot be reached on its device")
        }
        Wasi::BadDescriptor
        | Wasi::MessageSize
        | Wasi::NotRecoverable
        | Wasi::NoTty
        | Wasi::Overflow
        | Wasi::Pipe
        | Wasi::InvalidSeek
        | Wasi::CrossDevice => (ErrorCode::Internal, "got an answer that makes no sense"),
    };
    error(mapped, format!("'{path}' {why} ({})", code.name()))
}
