//! Reads of files through a turn: its own files from the overlay, all others from below, with a note.

use bytes::Bytes;

use super::Turn;
use super::notes::Question;
use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::protocol::{BackendExt, Page, RawFile, ReadResult, too_few};

impl Turn {
    pub(super) async fn read_page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        if self.own(path).is_some() {
            return self.over.read(path, page).await;
        }
        let answer = self.base().await?.read(path, page).await;
        let digest = self.digests().of_page(&answer);
        if let Some(digest) = digest {
            self.note(Question::Page(path.clone(), page), digest);
        }
        answer
    }

    pub(super) async fn raw_file(&self, path: &VPath) -> Result<RawFile> {
        if self.own(path).is_some() {
            let mut file = self.over.read_raw(path).await?;
            let covered = self.covered.borrow();
            if let Some(before) = covered.get(path).and_then(|one| one.before.as_ref()) {
                file.created = before.created.or(file.created);
                if file.is_text {
                    file.format = before.format;
                }
            }
            return Ok(file);
        }
        let answer = self.base().await?.read_raw(path).await;
        self.note_whole(path, answer.as_ref().map(|file| &file.body));
        answer
    }

    fn note_whole(&self, path: &VPath, answer: std::result::Result<&Bytes, &Error>) {
        let body = match answer {
            Ok(body) => Some(body),
            Err(error) if error.is_no_file() => None,
            Err(_) => return,
        };
        let digest = self.digests().of_body(body);
        self.note(Question::Whole(path.clone()), digest);
    }

    pub(super) async fn download_files(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let is_own = |path: &VPath| self.own(path).is_some();
        let (own, below): (Vec<VPath>, Vec<VPath>) =
            paths.iter().cloned().partition(|path| is_own(path));
        let own_paths: Vec<bool> = paths.iter().map(is_own).collect();
        let mut from_over = self.over.download(&own).await.into_iter();
        let answers = self.fetch(&below).await;
        for (path, answer) in below.iter().zip(&answers) {
            self.note_whole(path, answer.as_ref());
        }
        let mut from_below = answers.into_iter();
        let missing = || Err(too_few());
        own_paths
            .into_iter()
            .map(|is_own| match is_own {
                true => from_over.next().unwrap_or_else(missing),
                false => from_below.next().unwrap_or_else(missing),
            })
            .collect()
    }
}
