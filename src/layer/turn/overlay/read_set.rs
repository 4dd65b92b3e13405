//! What an overlay has read of its base: each read with a digest of its answer. A commit reads the same
//! again and compares. So a check means the same on every backend, also on one
//! without versions, and a file that changed elsewhere than where it was read is no conflict.

use std::hash::{DefaultHasher, Hasher};

use bytes::Bytes;

use super::base;
use crate::core::error::{Error, Result};
use crate::core::path::{ByPath, VPath};
use crate::layer::kit;
use crate::protocol::{
    Backend, BackendExt, FileInfo, GlobQuery, GrepQuery, GrepResult, Page, ReadResult, RowKind,
};

/// A read of the base. The paths of `hidden` were changed by the overlay and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
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

impl Read {
    /// The file or directory that it is about.
    pub fn path(&self) -> &VPath {
        match self {
            Read::Exists(path) | Read::Whole(path) | Read::Page(path, _) | Read::Names(path, _) => {
                path
            }
            Read::Glob(query, _) => &query.path,
            Read::Grep(query, _) => &query.path,
        }
    }

    /// The operation that read it.
    pub fn operation(&self) -> &'static str {
        match self {
            Read::Exists(_) | Read::Whole(_) | Read::Page(..) => "read",
            Read::Names(..) => "ls",
            Read::Glob(..) => "glob",
            Read::Grep(..) => "grep",
        }
    }
}

/// With how many earlier answers about a path a new one is compared. One that is noted twice costs a
/// question more, but a log of very many is read in no time.
const COMPARED: usize = 256;

/// All reads of an overlay.
#[derive(Default)]
pub struct ReadSet {
    by_path: ByPath<Vec<(Read, u128)>>,
}

/// Makes digests of answers. The salt is random, so that nobody can prepare two answers with one
/// digest: SipHash with a secret beginning is as with a secret key. No call of an agent shows a digest
/// or the salt; where a turn is kept, both are in its log. Who could read that and change the files as
/// well could at most let a commit pass whose reads were changed.
#[derive(Clone, Copy)]
pub struct Digests {
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

impl ReadSet {
    /// Adds an answer. Different answers to one read all stay: then no state of the files is
    /// what the turn has read, and its commit is a conflict, also if the first answer is right again.
    ///
    /// Returns whether the answer is new.
    pub fn add(&mut self, read: Read, digest: u128) -> bool {
        let at = self.by_path.entry(read.path().clone()).or_default();
        let answer = (read, digest);
        let is_new = !at.iter().rev().take(COMPARED).any(|one| *one == answer);
        if is_new {
            at.push(answer);
        }
        is_new
    }

    /// Every read with its digest.
    pub fn all(&self) -> Vec<(Read, u128)> {
        let all = self.by_path.values().flat_map(|at| at.iter());
        all.cloned().collect()
    }

    /// Replaces all answers to a read.
    pub fn renew(&mut self, read: &Read, digest: u128) {
        let Some(at) = self.by_path.get_mut(read.path()) else {
            return;
        };
        at.retain(|(known, _)| known != read);
        at.push((read.clone(), digest));
    }
}

impl Digests {
    pub fn new(salt: [u64; 2]) -> Digests {
        Digests { salt }
    }

    /// What [`Digests::new`] was given.
    pub fn salt(&self) -> [u64; 2] {
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

    pub fn of_existence(&self, exists: bool) -> u128 {
        let mut digest = self.digest();
        digest.number(u64::from(exists));
        digest.finish()
    }

    pub fn of_body(&self, body: Option<&Bytes>) -> u128 {
        let mut digest = self.digest();
        if let Some(body) = body {
            digest.bytes(body);
        }
        digest.finish()
    }

    /// `None` if nothing was read: the backend failed.
    pub fn of_page(&self, answer: &Result<ReadResult>) -> Option<u128> {
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
    pub fn of_names(&self, files: &[FileInfo]) -> u128 {
        let mut names: Vec<String> = files.iter().map(FileInfo::shown_path).collect();
        crate::core::order::sort(&mut names);
        let mut digest = self.digest();
        for name in names {
            digest.bytes(name.as_bytes());
        }
        digest.finish()
    }

    pub fn of_matches(&self, found: &GrepResult) -> u128 {
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

    /// Reads the same again. Fails if the backend does.
    pub async fn of_read(&self, at: &dyn Backend, read: &Read) -> Result<u128> {
        let failed = |error: Option<Error>| {
            error.unwrap_or_else(|| Error::internal("A read of a turn had no answer"))
        };
        match read {
            Read::Exists(path) => match at.read_raw(path).await {
                Ok(_) => Ok(self.of_existence(true)),
                Err(error) if error.is_no_file() => Ok(self.of_existence(false)),
                Err(error) => Err(error),
            },
            Read::Whole(path) => {
                let body = kit::body(at, path).await?;
                Ok(self.of_body(body.as_ref()))
            }
            Read::Page(path, page) => {
                let answer = at.read(path, *page).await;
                self.of_page(&answer).ok_or_else(|| failed(answer.err()))
            }
            Read::Names(path, hidden) => {
                let infos = base::ls(at, path, hidden).await?;
                Ok(self.of_names(&infos))
            }
            Read::Glob(query, hidden) => {
                let found = base::glob(at, query, hidden).await?;
                Ok(self.of_names(&found.files))
            }
            Read::Grep(query, hidden) => {
                let found = base::grep(at, query, hidden).await?;
                Ok(self.of_matches(&found))
            }
        }
    }
}
