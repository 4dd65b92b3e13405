//! The files of a repo as this instance knows them, and the evaluation of changes against them. The
//! evaluation is pure: it can be repeated on a newer tree after a conflict, possibly with a
//! different outcome.

use std::cell::Cell;
use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::order;
use crate::core::path::{ByPath, VPath};
use crate::env::clock;
use crate::storage::context_hub::hub::{Changes, Pulled};
use crate::storage::{Alteration, File, Meta, NewFile, PutMode, Scope, Version};

/// A requested change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The file or directory to change.
    pub path: VPath,
    /// The requested operation.
    pub intent: Intent,
}

/// The operation requested for a path.
#[derive(Clone, Debug)]
pub enum Intent {
    /// Store a file, under that condition.
    Put(NewFile, PutMode),
    /// Delete the file; with a version, only if the file still has that version.
    Delete(Option<Version>),
    /// Delete the file and everything beneath it.
    DeleteTree,
}

/// The result of a change.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The file is stored.
    Stored(Meta),
    /// These files were removed.
    Removed(Vec<VPath>),
}

/// The result of evaluating a batch of changes on a tree.
pub struct Judged {
    /// One outcome for each change, in order.
    pub outcomes: Vec<Result<Outcome>>,
    /// The content of the commit.
    pub commit: Changes,
    /// The same changes, in the form that [`Tree::apply`] takes.
    pub files: ByPath<Option<File>>,
}

/// The files of one commit.
pub struct Tree {
    files: ByPath<File>,
    links: Vec<VPath>,
    commit: Option<Rc<str>>,
}

impl From<Alteration> for Change {
    fn from(one: Alteration) -> Change {
        Change {
            path: one.path,
            intent: match one.file {
                Some(file) => Intent::Put(file, PutMode::Overwrite),
                None => Intent::Delete(None),
            },
        }
    }
}

impl Tree {
    /// Builds a tree from a pull. A file with the same bytes as in `before` keeps its version and
    /// time.
    pub fn pulled(pulled: Pulled, before: Option<Tree>, versions: &Cell<u64>) -> Tree {
        let mut known = before.map(|tree| tree.files).unwrap_or_default();
        let path_of = |key: &str| VPath::from_stored(&format!("/{key}"));
        let mut files: ByPath<File> = ByPath::new();
        for (key, body) in pulled.files {
            // Keys that are not valid paths are not shown.
            let Some(path) = path_of(&key).filter(|path| !path.is_root()) else {
                continue;
            };
            let file = match known.remove(&path).filter(|file| file.body == body) {
                Some(file) => file,
                None => Box::new({
                    let (mime, texture) = file::classify(&path, &body, None);
                    let new = NewFile {
                        body,
                        created: clock::now(),
                        modified: clock::now(),
                        mime,
                        format: file::Format::V2,
                        texture,
                        mode: None,
                    };
                    made(new, versions)
                }),
            };
            files.insert(path, file);
        }
        Tree {
            files,
            links: pulled.links.iter().filter_map(|key| path_of(key)).collect(),
            commit: pulled.commit,
        }
    }

    /// The commit to build on.
    pub fn commit(&self) -> Option<Rc<str>> {
        self.commit.clone()
    }

    /// A file.
    pub fn get(&self, path: &VPath) -> Option<File> {
        self.files.get(path).map(|file| (**file).clone())
    }

    /// The files in scope, in order.
    pub fn in_scope(&self, scope: &Scope) -> Vec<(VPath, File)> {
        let admitted = self.files.iter().filter(|(path, _)| scope.admits(path));
        admitted
            .map(|(path, file)| (path.clone(), (**file).clone()))
            .collect()
    }

    /// Evaluates changes one after the other, each on the result of the previous ones.
    pub fn judge(&self, changes: &[Change], versions: &Cell<u64>) -> Judged {
        let mut over: ByPath<Option<File>> = ByPath::new();
        let outcomes = changes
            .iter()
            .map(|change| self.judge_one(change, &mut over, versions))
            .collect();
        let mut commit = Changes::new();
        for (path, file) in &over {
            // A file that was created and deleted in one batch is not part of the commit.
            if file.is_none() && !self.files.contains_key(path) {
                continue;
            }
            let key = path.as_str().trim_start_matches('/').to_owned();
            commit.push((key, file.as_ref().as_ref().map(|file| file.body.clone())));
        }
        Judged {
            outcomes,
            commit,
            files: over,
        }
    }

    fn judge_one(
        &self,
        change: &Change,
        over: &mut ByPath<Option<File>>,
        versions: &Cell<u64>,
    ) -> Result<Outcome> {
        let path = &change.path;
        let now = match over.get(path) {
            Some(changed) => changed.as_ref().as_ref(),
            None => self.files.get(path).map(|file| &**file),
        };
        let same =
            |version: &Version| now.is_some_and(|file| file.meta.version.as_ref() == Some(version));
        match &change.intent {
            Intent::Put(file, mode) => {
                if let Some(link) = self.links.iter().find(|link| path.is_under(link)) {
                    return Err(linked(path, link));
                }
                match mode {
                    PutMode::Create if now.is_some() => return Err(Error::already_exists(path)),
                    PutMode::Update(version) if !same(version) => {
                        return Err(Error::conflict(path));
                    }
                    _ => {}
                }
                if std::str::from_utf8(&file.body).is_err() {
                    return Err(Error::at(
                        Kind::InvalidPath,
                        "'",
                        path,
                        "' cannot be stored: the Hub keeps only text, and these bytes are not UTF-8",
                    ));
                }
                let file = made(file.clone(), versions);
                let meta = file.meta.clone();
                over.insert(path.clone(), Box::new(Some(file)));
                Ok(Outcome::Stored(meta))
            }
            Intent::Delete(version) => {
                if now.is_none() {
                    return Ok(Outcome::Removed(Vec::new()));
                }
                if version.as_ref().is_some_and(|version| !same(version)) {
                    return Err(Error::conflict(path));
                }
                over.insert(path.clone(), Box::new(None));
                Ok(Outcome::Removed(vec![path.clone()]))
            }
            Intent::DeleteTree => {
                let there = self.files.keys().filter(|key| key.is_under(path));
                let mut gone: Vec<VPath> = there
                    .filter(|key| over.get(*key).is_none_or(|file| file.is_some()))
                    .cloned()
                    .collect();
                let made = over.iter().filter(|(key, file)| {
                    file.is_some() && key.is_under(path) && !self.files.contains_key(*key)
                });
                gone.extend(made.map(|(key, _)| key.clone()));
                order::sort(&mut gone);
                for key in &gone {
                    over.insert(key.clone(), Box::new(None));
                }
                Ok(Outcome::Removed(gone))
            }
        }
    }

    /// Applies the changes of a commit.
    pub fn apply(&mut self, files: ByPath<Option<File>>, commit: Rc<str>) {
        for (path, file) in files {
            match *file {
                Some(file) => self.files.insert(path, Box::new(file)),
                None => self.files.remove(&path),
            };
        }
        self.commit = Some(commit);
    }
}

fn made(file: NewFile, versions: &Cell<u64>) -> File {
    let version = versions.get().wrapping_add(1);
    versions.set(version);
    File {
        meta: file.meta(Some(Version::Number(version))),
        body: file.body,
    }
}

fn linked(path: &VPath, link: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        "Cannot write to '",
        path,
        format!("': '{link}' is another repo that is linked in; change it there"),
    )
}
