//! What a turn has read from below: each question with a digest of its answer. A commit asks the
//! same questions again and compares. So a check means the same on every backend, also on one
//! without versions, and a file that changed elsewhere than where it was read is no conflict.

use std::hash::{DefaultHasher, Hasher};

use bytes::Bytes;

use super::below;
use crate::core::error::{Error, Result};
use crate::core::path::{ByPath, VPath};
use crate::layer::kit;
use crate::protocol::{
    Backend, BackendExt, FileInfo, GlobQuery, GrepQuery, GrepResult, Page, ReadResult, RowKind,
};

/// A read of the files below. The paths of `hidden` were covered by the turn and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether a file exists.
    Exists(VPath),
    /// A whole file.
    Whole(VPath),
    /// A page of a file.
    Page(VPath, Page),
    /// The names in a directory.
    Names(VPath, Vec<VPath>),
    /// The names that match a pattern.
    Glob(GlobQuery, Vec<VPath>),
    /// The lines that match.
    Grep(Box<GrepQuery>, Vec<VPath>),
}

impl Question {
    /// The file or directory that it is about.
    pub(super) fn path(&self) -> &VPath {
        match self {
            Question::Exists(path)
            | Question::Whole(path)
            | Question::Page(path, _)
            | Question::Names(path, _) => path,
            Question::Glob(query, _) => &query.path,
            Question::Grep(query, _) => &query.path,
        }
    }

    /// The operation that asked it.
    pub(super) fn operation(&self) -> &'static str {
        match self {
            Question::Exists(_) | Question::Whole(_) | Question::Page(..) => "read",
            Question::Names(..) => "ls",
            Question::Glob(..) => "glob",
            Question::Grep(..) => "grep",
        }
    }
}

/// With how many earlier answers about a path a new one is compared. One that is noted twice costs a
/// question more, but a log of very many is read in no time.
const COMPARED: usize = 256;

/// All notes of a turn.
#[derive(Default)]
pub(super) struct Notes {
    by_path: ByPath<Vec<(Question, u128)>>,
}

/// Makes digests of answers. The salt is random, so that nobody can prepare two answers with one
/// digest: SipHash with a secret beginning is as with a secret key. No call of an agent shows a digest
/// or the salt; where a turn is kept, both are in its log. Who could read that and change the files as
/// well could at most let a commit pass whose reads were changed.
#[derive(Clone, Copy)]
pub(super) struct Digests {
    salt: [u64; 2],
}

/// A digest of 128 bits, made of two hashes.
struct Digest([DefaultHasher; 2]);

impl Digest {
    fn bytes(&mut self, bytes: &[u8]) {
        for hasher in &mut self.0 {
            hasher.write_u64(bytes.len() as u64);
            hasher.write(bytes);
        }
    }

    fn number(&mut self, number: u64) {
        for hasher in &mut self.0 {
            hasher.write_u64(number);
        }
    }

    fn finish(&self) -> u128 {
        self.0
            .iter()
            .fold(0, |all, hasher| all << 64 | u128::from(hasher.finish()))
    }
}

impl Notes {
    /// Adds an answer. Different answers to one question all stay: then no state of the files is
    /// what the turn has read, and its commit is a conflict, also if the first answer is right again.
    ///
    /// Returns whether the answer is new.
    pub(super) fn add(&mut self, question: Question, digest: u128) -> bool {
        let at = self.by_path.entry(question.path().clone()).or_default();
        let answer = (question, digest);
        let is_new = !at.iter().rev().take(COMPARED).any(|one| *one == answer);
        if is_new {
            at.push(answer);
        }
        is_new
    }

    /// Every question with its digest.
    pub(super) fn all(&self) -> Vec<(Question, u128)> {
        let all = self.by_path.values().flat_map(|at| at.iter());
        all.cloned().collect()
    }

    /// Replaces all answers to a question.
    pub(super) fn renew(&mut self, question: &Question, digest: u128) {
        let Some(at) = self.by_path.get_mut(question.path()) else {
            return;
        };
        at.retain(|(known, _)| known != question);
        at.push((question.clone(), digest));
    }
}

impl Digests {
    pub(super) fn new(salt: [u64; 2]) -> Digests {
        Digests { salt }
    }

    /// What [`Digests::new`] was given.
    pub(super) fn salt(&self) -> [u64; 2] {
        self.salt
    }

    fn digest(&self) -> Digest {
        let (mut a, mut b) = (DefaultHasher::new(), DefaultHasher::new());
        let [first, second] = self.salt;
        a.write_u64(first);
        b.write_u64(second);
        b.write_u64(first);
        Digest([a, b])
    }

    pub(super) fn of_existence(&self, exists: bool) -> u128 {
        let mut digest = self.digest();
        digest.number(u64::from(exists));
        digest.finish()
    }

    pub(super) fn of_body(&self, body: Option<&Bytes>) -> u128 {
        let mut digest = self.digest();
        if let Some(body) = body {
            digest.bytes(body);
        }
        digest.finish()
    }

    /// `None` if nothing was read: the backend failed.
    pub(super) fn of_page(&self, answer: &Result<ReadResult>) -> Option<u128> {
        let mut digest = self.digest();
        match answer {
            Ok(read) => {
                digest.bytes(&read.content);
                if let Some(at) = read.position {
                    digest.number(at.start_line as u64);
                    digest.number(at.next_offset.map_or(0, |next| next as u64));
                }
            }
            Err(error) if error.is_no_file() => {}
            Err(_) => return None,
        }
        Some(digest.finish())
    }

    /// Names only: two writers in one directory must not hinder each other.
    pub(super) fn of_names(&self, files: &[FileInfo]) -> u128 {
        let mut names: Vec<String> = files.iter().map(FileInfo::shown_path).collect();
        crate::core::order::sort(&mut names);
        let mut digest = self.digest();
        for name in names {
            digest.bytes(name.as_bytes());
        }
        digest.finish()
    }

    pub(super) fn of_matches(&self, found: &GrepResult) -> u128 {
        let mut digest = self.digest();
        for row in found.matches.iter() {
            digest.bytes(row.path.as_str().as_bytes());
            digest.number(u64::from(row.line));
            digest.number(u64::from(row.kind == RowKind::Match));
            digest.bytes(row.text);
        }
        digest.number(u64::from(found.truncated));
        digest.finish()
    }

    /// Asks a question again. Fails if the backend does.
    pub(super) async fn ask(&self, base: &dyn Backend, question: &Question) -> Result<u128> {
        let failed = |error: Option<Error>| {
            error.unwrap_or_else(|| Error::internal("A read of a turn had no answer"))
        };
        match question {
            Question::Exists(path) => match base.read_raw(path).await {
                Ok(_) => Ok(self.of_existence(true)),
                Err(error) if error.is_no_file() => Ok(self.of_existence(false)),
                Err(error) => Err(error),
            },
            Question::Whole(path) => {
                let body = kit::body(base, path).await?;
                Ok(self.of_body(body.as_ref()))
            }
            Question::Page(path, page) => {
                let answer = base.read(path, *page).await;
                self.of_page(&answer).ok_or_else(|| failed(answer.err()))
            }
            Question::Names(path, hidden) => {
                let infos = below::ls(base, path, hidden).await?;
                Ok(self.of_names(&infos))
            }
            Question::Glob(query, hidden) => {
                let found = below::glob(base, query, hidden).await?;
                Ok(self.of_names(&found.files))
            }
            Question::Grep(query, hidden) => {
                let found = below::grep(base, query, hidden).await?;
                Ok(self.of_matches(&found))
            }
        }
    }
}
