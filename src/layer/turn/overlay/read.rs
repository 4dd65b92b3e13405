//! Reads of files through an overlay: its own files from memory, all others from the base, with a note.

use bytes::Bytes;

use super::{Overlay, Read};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{BackendExt, Directories, Page, RawFile, ReadResult, too_few};

impl Overlay {
    pub(super) async fn read_page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let answer = self.page_of_file(path, page).await;
        match &answer {
            Err(error) if self.is_unsure(path, error) => Err(match self.list(path).await? {
                level if level.is_empty() => Error::not_found(path),
                _ => Error::not_a_file(path),
            }),
            _ => answer,
        }
    }

    /// Whether changes below a path decide if it is a directory. One that is real stays without files.
    fn is_unsure(&self, path: &VPath, error: &Error) -> bool {
        let is_implied = self.below().capability().directories == Directories::Implied;
        let decides =
            error.kind() == Kind::NotFound || error.kind() == Kind::IsDirectory && is_implied;
        decides && !self.hidden(path).is_empty()
    }

    async fn page_of_file(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        if self.own(path).is_some() {
            return self.upper.read(path, page).await;
        }
        let answer = self.base().await?.read(path, page).await;
        let digest = self.digests().of_page(&answer);
        if let Some(digest) = digest {
            self.note(Read::Page(path.clone(), page), digest);
        }
        answer
    }

    pub(super) async fn raw_file(&self, path: &VPath) -> Result<RawFile> {
        if self.own(path).is_some() {
            let mut file = self.upper.read_raw(path).await?;
            let changes = self.changes.borrow();
            let change = changes.get(path);
            file.mode = change.and_then(|one| one.mode);
            if let Some(before) = change.and_then(|one| one.before.as_ref()) {
                file.mode = before.mode.or(file.mode);
                file.created = before.created.or(file.created);
                if file.is_text {
                    file.format = before.format;
                }
            }
            return Ok(file);
        }
        let answer = self.base().await?.read_raw(path).await;
        self.note_answer(path, answer.as_ref().map(|file| &file.body));
        answer
    }

    fn note_answer(&self, path: &VPath, answer: std::result::Result<&Bytes, &Error>) {
        let body = match answer {
            Ok(body) => Some(body),
            Err(error) if error.is_no_file() => None,
            Err(_) => return,
        };
        self.note_body(path, body);
    }

    pub(super) async fn download_files(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let is_own = |path: &VPath| self.own(path).is_some();
        let (own, base): (Vec<VPath>, Vec<VPath>) =
            paths.iter().cloned().partition(|path| is_own(path));
        let own_paths: Vec<bool> = paths.iter().map(is_own).collect();
        let mut from_upper = self.upper.download(&own).await.into_iter();
        let answers = self.base_bodies(&base).await;
        for (path, answer) in base.iter().zip(&answers) {
            self.note_answer(path, answer.as_ref());
        }
        let mut from_base = answers.into_iter();
        let missing = || Err(too_few());
        own_paths
            .into_iter()
            .map(|is_own| match is_own {
                true => from_upper.next().unwrap_or_else(missing),
                false => from_base.next().unwrap_or_else(missing),
            })
            .collect()
    }
}
