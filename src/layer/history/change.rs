//! Changes of files with a note of each.

use bytes::Bytes;

use super::note::{Change, Note, digest, name};
use super::{History, PRUNE_EVERY};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Mode};
use crate::core::order;
use crate::core::path::VPath;
use crate::env::random;
use crate::layer::edited::edited;
use crate::layer::kit::{self, held, held_at, is_conflict};
use crate::protocol::{
    Atomic, BackendExt, Content, DeleteResult, Edit, EditResult, FilesUpdate, Replacement,
    SharedBackend, WriteResult, files_beneath,
};

/// How often a change begins anew because somebody else changed the file meanwhile.
const REPLAYS: u32 = 64;

/// What a file gets instead of its content, with the answer of the call.
type Make<'a> = dyn Fn(Option<&Bytes>) -> Result<(Option<Bytes>, EditResult)> + 'a;

/// Where turns keep the journal of a commit; it is no file of the caller.
const JOURNAL: &str = "/.kitbag/turns/";

/// Whether a failed change may have been made nevertheless.
fn is_open(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Unavailable | Kind::Timeout | Kind::Internal
    )
}

pub(super) fn is_conditional(at: &SharedBackend) -> bool {
    match at.atomic() {
        Atomic::Never => false,
        Atomic::Inner(inner) => is_conditional(&inner),
        Atomic::Guarded(guard) => is_conditional(&guard.inner()),
        Atomic::Transaction(_) | Atomic::Immediate | Atomic::Together(_) | Atomic::Conditional => {
            true
        }
    }
}

impl History {
    /// Whether changes of a path are not noted.
    pub(super) fn passes(path: &VPath) -> bool {
        path.as_str().starts_with(JOURNAL)
    }

    /// Replaces a file, if it holds what is expected; on a backend without conditions whatever it
    /// holds.
    async fn replace(&self, file: &Replacement) -> Result<Option<FilesUpdate>> {
        match is_conditional(&self.inner) {
            true => kit::replace(&*self.inner, file).await,
            false => kit::put(&*self.inner, file).await,
        }
    }

    /// Notes a change of several files, then makes it, file by file. The answers are in order.
    pub(super) async fn noted(
        &self,
        operation: &str,
        files: &[Replacement],
    ) -> Result<Vec<Result<Option<FilesUpdate>>>> {
        let author = (self.who)()?;
        let changes = files.iter().map(|file| Change {
            path: file.path.clone(),
            before: file.before.as_deref().map(digest),
            after: file.after.as_deref().map(digest),
            mode: file.mode,
        });
        let changes: Vec<Change> = changes.collect();
        let mut note = Note {
            id: name(super::now(), random::bits(), &changes),
            by: author.by,
            call: author.call,
            operation: operation.into(),
            files: changes,
        };
        self.tell(files).await?;
        self.store.put(&note).await?;
        if let Err(error) = self.hold_all(&note, files).await {
            // Nothing was changed.
            let _ = self.store.drop_note(&note.id).await;
            return Err(error);
        }
        let mut answers = Vec::with_capacity(files.len());
        for file in files {
            answers.push(self.replace(file).await);
        }
        let is_made = |answer: &Result<_>| answer.as_ref().err().is_none_or(is_open);
        let mut made = answers.iter().map(is_made);
        note.files.retain(|_| made.next().unwrap_or(true));
        // If this fails, the note says too much; the changes are made.
        let _ = match note.files.len() {
            0 => self.store.drop_note(&note.id).await,
            left if left < files.len() => self.store.put(&note).await,
            _ => Ok(()),
        };
        self.prune_now_and_then().await;
        Ok(answers)
    }

    /// Says below which contents are about to be kept: the change may be broken off, and then nothing else
    /// tells where they came from.
    async fn tell(&self, files: &[Replacement]) -> Result<()> {
        let origins = self.inner.capability().origins;
        if origins.is_empty() || has(Bug::NoteUnlabelled) {
            return Ok(());
        }
        let after = files.iter().filter_map(|file| {
            let body = file.after.as_ref().filter(|body| !body.is_empty())?;
            Some((file.path.clone(), body.clone()))
        });
        origins.keeps(&after.collect::<Vec<_>>()).await
    }

    async fn hold_all(&self, note: &Note, files: &[Replacement]) -> Result<()> {
        for (change, file) in note.files.iter().zip(files) {
            for (digest, body) in [(&change.before, &file.before), (&change.after, &file.after)] {
                if let (Some(digest), Some(body)) = (digest, body) {
                    self.store.hold(digest, body).await?;
                }
            }
        }
        Ok(())
    }

    async fn prune_now_and_then(&self) {
        self.since.set(self.since.get() + 1);
        if self.since.get() >= PRUNE_EVERY && self.options.keep != Default::default() {
            self.since.set(0);
            // It is tried again later.
            let _ = self.prune().await;
        }
    }

    /// Changes one file to what `make` says, given its content; begins anew if others changed it.
    async fn one(
        &self,
        operation: &str,
        path: &VPath,
        mode: Option<Mode>,
        make: &Make<'_>,
    ) -> Result<EditResult> {
        for _ in 0..REPLAYS {
            let (before, mode) = match held_at(&*self.inner, path).await? {
                Some((before, mode)) => (Some(before), mode),
                None => (None, mode),
            };
            let (after, mut answer) = make(before.as_ref())?;
            if before == after {
                return Ok(answer);
            }
            let file = Replacement {
                path: path.clone(),
                before,
                after,
                mode,
            };
            let made = self.noted(operation, std::slice::from_ref(&file)).await?;
            match made.into_iter().next() {
                Some(Ok(update)) => {
                    answer.files_update = update;
                    return Ok(answer);
                }
                Some(Err(error)) if !is_conflict(&error) => return Err(error),
                _ => {}
            }
        }
        Err(Error::conflict(path))
    }

    pub(super) async fn write_file(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let overwrite = self.options.overwrite && !matches!(content, Content::New(..));
        let mode = content.mode();
        let body = match content {
            Content::Text(text) => file::decode_content(path, text)?,
            Content::Raw(bytes, _) | Content::New(bytes, _) => bytes,
        };
        let make = |before: Option<&Bytes>| match before {
            Some(_) if !overwrite => Err(Error::already_exists(path)),
            _ => Ok((Some(body.clone()), EditResult::default())),
        };
        let EditResult { files_update, .. } = self.one("write", path, mode, &make).await?;
        Ok(WriteResult { files_update })
    }

    pub(super) async fn edit_file(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        let make = |before: Option<&Bytes>| {
            let before = before.ok_or_else(|| Error::nothing_there(path))?;
            let is_text = file::classify(path, before, None).1.is_text();
            let edited = edited(path, edit, before.clone(), is_text)?;
            let result = EditResult {
                occurrences: edited.occurrences,
                crlf: edited.crlf,
                files_update: None,
            };
            Ok((Some(edited.after), result))
        };
        self.one("edit", path, None, &make).await
    }

    pub(super) async fn delete_path(
        &self,
        path: &VPath,
        unchanged: Option<&Bytes>,
    ) -> Result<DeleteResult> {
        if let Some(unchanged) = unchanged {
            let make = |before: Option<&Bytes>| match before {
                None => Err(Error::nothing_there(path)),
                Some(before) if before != unchanged => Err(Error::conflict(path)),
                Some(_) => Ok((None, EditResult::default())),
            };
            let EditResult { files_update, .. } = self.one("delete", path, None, &make).await?;
            return Ok(DeleteResult { files_update });
        }
        let mut any = false;
        for _ in 0..REPLAYS {
            let files = self.beneath(path).await?;
            if files.is_empty() {
                break;
            }
            any = true;
            let answers = self.noted("delete", &files).await?;
            let mut failed = false;
            for answer in answers {
                match answer {
                    Err(error) if !is_conflict(&error) => return Err(error),
                    Err(_) => failed = true,
                    Ok(update) if files.len() == 1 && update.is_some() => {
                        return Ok(DeleteResult {
                            files_update: update,
                        });
                    }
                    Ok(_) => {}
                }
            }
            if !failed {
                break;
            }
        }
        // Directories without files, where the storage has them.
        match self.beneath(path).await?.is_empty() {
            true => match self.inner.delete(path, None).await {
                Err(error) if any && error.is_no_file() => Ok(DeleteResult::default()),
                other => other,
            },
            false => Err(Error::conflict(path)),
        }
    }

    /// The deletion of a file, or of all files in a directory.
    async fn beneath(&self, root: &VPath) -> Result<Vec<Replacement>> {
        let found = files_beneath(&*self.inner, root).await?;
        let mut paths: Vec<VPath> = found.into_iter().map(|info| info.path).collect();
        if !root.is_root() && !paths.contains(root) {
            paths.push(root.clone());
        }
        order::sort(&mut paths);
        let mut files = Vec::new();
        let answers = held(&*self.inner, &paths).await;
        for (path, answer) in paths.into_iter().zip(answers) {
            match answer {
                Ok((before, mode)) => files.push(Replacement {
                    path,
                    before: Some(before),
                    after: None,
                    mode,
                }),
                Err(error) if error.is_no_file() || error.kind() == Kind::IsDirectory => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    pub(super) async fn upload_files(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let mut answers: Vec<Result<()>> = Vec::with_capacity(files.len());
        // Several changes of one file follow each other.
        let mut rest = files.as_slice();
        while !rest.is_empty() {
            let mut count = 0;
            for (at, (path, _)) in rest.iter().enumerate() {
                if rest.iter().take(at).any(|(other, _)| other == path) {
                    break;
                }
                count = at + 1;
            }
            let (batch, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            match self.upload_batch(batch).await {
                Ok(batch) => answers.extend(batch),
                Err(error) => answers.extend(batch.iter().map(|_| Err(error.clone()))),
            }
            rest = later;
        }
        answers
    }

    async fn upload_batch(&self, batch: &[(VPath, Bytes)]) -> Result<Vec<Result<()>>> {
        let paths: Vec<VPath> = batch.iter().map(|(path, _)| path.clone()).collect();
        let befores = self.inner.download(&paths).await;
        let mut files = Vec::new();
        let mut answers: Vec<Result<()>> = Vec::with_capacity(batch.len());
        for ((path, body), before) in batch.iter().zip(befores) {
            let before = match before {
                Ok(before) => Some(before),
                Err(error) if error.is_no_file() => None,
                Err(error) => {
                    answers.push(Err(error));
                    continue;
                }
            };
            answers.push(Ok(()));
            if before.as_ref() != Some(body) {
                files.push(Replacement {
                    path: path.clone(),
                    before,
                    after: Some(body.clone()),
                    mode: None,
                });
            }
        }
        if files.is_empty() {
            return Ok(answers);
        }
        let made = self.noted("uploadFiles", &files).await?;
        for (file, made) in files.iter().zip(made) {
            let Err(error) = made else {
                continue;
            };
            let answer = match is_conflict(&error) {
                // Somebody else changed it meanwhile.
                true => {
                    let make = |_: Option<&Bytes>| Ok((file.after.clone(), EditResult::default()));
                    let again = self.one("uploadFiles", &file.path, None, &make).await;
                    again.map(|_| ())
                }
                false => Err(error),
            };
            let at = paths.iter().position(|path| *path == file.path);
            if let Some(slot) = at.and_then(|at| answers.get_mut(at)) {
                *slot = answer;
            }
        }
        Ok(answers)
    }
}
