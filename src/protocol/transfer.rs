//! `move` and `copy`: what they check, which files they reach, and the way that every backend can
//! go, over its other operations. A backend with a faster way for one file passes that to [`carry`].

use std::fmt::Write;

use bytes::Bytes;

use super::{
    Answer, Backend, BackendExt, Content, EntryInfo, FileInfo, FilesUpdate, GlobQuery, Operation,
    RawFile, WriteResult, read_part,
};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mode;
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;

/// The arguments of `move` and `copy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The file or directory.
    pub from: VPath,
    /// Its new path.
    pub to: VPath,
    /// Whether the source stays: a copy.
    pub keeps: bool,
    /// Replaces a file that exists at the new path.
    pub overwrite: bool,
}

/// One file of a transfer.
pub struct Step {
    /// The file.
    pub from: VPath,
    /// Its new path.
    pub to: VPath,
    /// Its size, if the listing had it.
    pub size: Option<u64>,
    /// Whether it is a directory, with everything below it.
    pub whole: bool,
}

/// Transfers one file; returns changes for state that the caller owns.
pub type Carrier<'a> = dyn Fn(Step) -> Pending<'a, Option<FilesUpdate>> + 'a;

/// Returns what is stored instead of the content that was read.
pub type Revise<'a> = dyn Fn(VPath, Bytes) -> Pending<'a, Bytes> + 'a;

/// What became of a file that was copied and not deleted.
pub const COPIED: &str = "it was copied, but could not be deleted";

/// Most files that an error names.
const SHOWN: usize = 20;

impl Transfer {
    /// Its operation.
    pub fn operation(&self) -> Operation {
        match self.keeps {
            true => Operation::Copy,
            false => Operation::Move,
        }
    }

    fn verb(&self) -> &'static str {
        match self.keeps {
            true => "Cannot copy to '",
            false => "Cannot move to '",
        }
    }

    fn refusal(&self, kind: Kind, why: &'static str) -> Error {
        Error::at(kind, self.verb(), &self.to, why)
    }

    fn exists(&self) -> Error {
        self.refusal(
            Kind::AlreadyExists,
            "' because it already exists. Choose another path, or set overwrite.",
        )
    }

    /// The new path of a file at or below the source.
    pub fn target(&self, file: &VPath) -> Result<VPath> {
        file.rebase(&self.from, &self.to).ok_or_else(|| {
            self.refusal(
                Kind::InvalidPath,
                "': the path of a file below it would not be valid",
            )
        })
    }

    /// The files that it reaches, in order of path: what is below the source, and the source itself
    /// if it is a file. If nothing is below, it is taken for one, so that reading it says what is
    /// wrong.
    pub async fn files(&self, backend: &dyn Backend) -> Result<Vec<FileInfo>> {
        let mut files = beneath(backend, &self.from).await?;
        if files.is_empty() || exists(backend, &self.from).await? {
            files.push(FileInfo {
                path: self.from.clone(),
                entry: EntryInfo::File {
                    size: None,
                    modified: None,
                },
            });
        }
        order::sort_by(&mut files, FileInfo::listing_order);
        Ok(files)
    }

    /// Refuses a transfer that cannot be, or would merge or replace directories.
    async fn check(&self, backend: &dyn Backend, files: &[FileInfo]) -> Result<()> {
        if self.to.is_under(&self.from) {
            let why = match self.to == self.from {
                true => "': that is the file or directory itself",
                false => "': that is beneath the directory itself",
            };
            return Err(self.refusal(Kind::InvalidArgument, why));
        }
        if !beneath(backend, &self.to).await?.is_empty() {
            return Err(self.refusal(
                Kind::IsDirectory,
                "' because it is a directory. Name the new path in full, one that does not exist.",
            ));
        }
        let is_dir = files.iter().any(|info| info.path != self.from);
        // Whether a file may be replaced, the put checks.
        match is_dir && exists(backend, &self.to).await? {
            false => Ok(()),
            true => Err(self.refusal(
                Kind::AlreadyExists,
                "' because it is a file, which a directory does not replace. Choose another path.",
            )),
        }
    }

    /// The error of a directory of which only some files were transferred.
    fn in_part(&self, files: &[FileInfo], done: usize, error: &Error) -> Error {
        let mut after = String::from(match self.keeps {
            true => "' was copied only in part. Copied:",
            false => "' was moved only in part. Moved:",
        });
        for info in files.iter().take(done.min(SHOWN)) {
            let name = info.path.relative_to(&self.from).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(after, " {name},");
        }
        if done > SHOWN {
            let _ = write!(after, " and {} more,", done - SHOWN);
        }
        let _ = write!(
            after,
            " and nothing else; the rest is where it was. Failed: {error}"
        );
        Error::at(error.kind(), "'", &self.from, after)
    }
}

/// Whether there is a file at exactly that path.
pub async fn exists(backend: &dyn Backend, path: &VPath) -> Result<bool> {
    // No byte is asked for.
    match read_part(backend, path, 0..0).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_no_file() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Every file below `dir`, for what must be done with all of them or none.
pub async fn files_beneath(backend: &dyn Backend, dir: &VPath) -> Result<Vec<FileInfo>> {
    backend.glob(&GlobQuery::all(dir)).await?.complete(dir)
}

async fn beneath(backend: &dyn Backend, path: &VPath) -> Result<Vec<FileInfo>> {
    let mut files = files_beneath(backend, path).await?;
    // Some backends list a file below itself.
    files.retain(|info| info.path != *path);
    Ok(files)
}

/// Moves or copies a file, or a directory file by file with `carrier`. It is asked first for the whole
/// directory of a move; if it fails, nothing may have changed.
pub async fn carry(
    backend: &dyn Backend,
    asked: &Transfer,
    carrier: &Carrier<'_>,
) -> Result<WriteResult> {
    let files = asked.files(backend).await?;
    asked.check(backend, &files).await?;
    if !asked.keeps && files.iter().all(|info| info.path != asked.from) {
        let whole = Step {
            from: asked.from.clone(),
            to: asked.to.clone(),
            size: None,
            whole: true,
        };
        if let Ok(files_update) = carrier(whole).await {
            return Ok(WriteResult { files_update });
        }
    }
    let mut update: Option<FilesUpdate> = None;
    for (done, info) in files.iter().enumerate() {
        let to = asked.target(&info.path)?;
        let size = match info.entry {
            EntryInfo::File { size, .. } => size,
            EntryInfo::Directory => None,
        };
        let step = Step {
            from: info.path.clone(),
            to,
            size,
            whole: false,
        };
        match carrier(step).await {
            Ok(more) => {
                if let Some(more) = more {
                    update.get_or_insert_default().extend(more);
                }
            }
            Err(error) if done > 0 => return Err(asked.in_part(&files, done, &error)),
            // Another writer was faster than the check.
            Err(error)
                if error.kind() == Kind::AlreadyExists && error.path() == Some(&asked.to) =>
            {
                return Err(asked.exists());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(WriteResult {
        files_update: update,
    })
}

/// A move or copy over the other operations of a backend, file by file.
pub fn by_steps<'a>(backend: &'a dyn Backend, asked: &'a Transfer) -> Pending<'a, Answer> {
    Box::pin(async move {
        transfer_by_steps(backend, asked)
            .await
            .map(Answer::Transfer)
    })
}

/// [`by_steps`], with its result.
pub async fn transfer_by_steps(backend: &dyn Backend, asked: &Transfer) -> Result<WriteResult> {
    let carrier = |step| -> Pending<'_, Option<FilesUpdate>> {
        Box::pin(by_bytes(backend, asked, step, None))
    };
    carry(backend, asked, &carrier).await
}

/// The way over the other operations: reads the file, creates the new one, compares it, and deletes
/// the old one if it still has the same bytes. `revise` may change what is stored.
pub async fn by_bytes(
    backend: &dyn Backend,
    asked: &Transfer,
    step: Step,
    revise: Option<&Revise<'_>>,
) -> Result<Option<FilesUpdate>> {
    let Step { from, to, .. } = &step;
    if step.whole {
        return Err(one_by_one());
    }
    let RawFile {
        body: before, mode, ..
    } = backend.read_raw(from).await?;
    let body = match revise {
        Some(revise) => revise(to.clone(), before.clone()).await?,
        None => before.clone(),
    };
    let mut update = put(backend, to, &body, mode, asked.overwrite).await?;
    let stored = backend.fetch(to).await;
    if stored.as_ref().ok() != Some(&body) {
        return Err(stands(
            from,
            "it was stored at the new path, but does not read back the same",
            stored.err(),
        ));
    }
    if asked.keeps {
        return Ok(update);
    }
    match remove(backend, from, &before).await {
        Ok(more) => {
            if let Some(more) = more {
                update.get_or_insert_default().extend(more);
            }
            Ok(update)
        }
        Err(error) if error.is_no_file() => Err(gone(from)),
        Err(error) => Err(stands(from, COPIED, Some(error))),
    }
}

/// The refusal to go as a whole, or without its bytes.
pub fn one_by_one() -> Error {
    Error::new(Kind::Unsupported, "Files are read and put, one by one")
}

/// The error of a move whose source others deleted after it was copied.
pub fn gone(from: &VPath) -> Error {
    Error::at(
        Kind::Conflict,
        "'",
        from,
        "' was copied to the new path, where it stands, but meanwhile it was moved or deleted elsewhere",
    )
}

/// The error of a move after its copy.
pub fn stands(from: &VPath, what: &'static str, error: Option<Error>) -> Error {
    let kind = error.as_ref().map_or(Kind::Unavailable, Error::kind);
    let why = error.map_or_else(String::new, |error| format!(": {error}"));
    Error::at(
        kind,
        "'",
        from,
        format!("' was not moved: {what}. A file stands at both paths{why}"),
    )
}

async fn put(
    backend: &dyn Backend,
    to: &VPath,
    body: &Bytes,
    mode: Option<Mode>,
    overwrite: bool,
) -> Result<Option<FilesUpdate>> {
    if !overwrite {
        match backend.write(to, Content::New(body.clone(), mode)).await {
            Err(error) if error.kind() == Kind::Unsupported => {}
            answer => return answer.map(|written| written.files_update),
        }
        // A backend without conditions: nothing better than to look first.
        match backend.read_raw(to).await {
            Err(error) if error.kind() == Kind::NotFound => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(Error::already_exists(to)),
        }
        match backend.write(to, Content::Raw(body.clone(), mode)).await {
            Err(error) if error.kind() == Kind::Unsupported => {}
            answer => return answer.map(|written| written.files_update),
        }
    }
    backend.store(to, body.clone()).await.map(|()| None)
}

async fn remove(backend: &dyn Backend, from: &VPath, body: &Bytes) -> Result<Option<FilesUpdate>> {
    match backend.delete(from, Some(body)).await {
        Err(error) if error.kind() == Kind::Unsupported => {}
        answer => return answer.map(|deleted| deleted.files_update),
    }
    if backend.read_raw(from).await?.body != *body {
        return Err(Error::conflict(from));
    }
    let deleted = backend.delete(from, None).await?;
    Ok(deleted.files_update)
}
