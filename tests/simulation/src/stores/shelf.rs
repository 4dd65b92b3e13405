//! A host's storage, as a user writes one: a map, with versions and conditional puts or without. Its
//! operations are asynchronous and go on when nobody waits for them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::storage::hosted::{Methods, Stored};
use kitbag::storage::{Entry, File, Meta, NewFile, PutMode, Version};

use super::{Line, Luck};
use crate::watch::Durable;
use crate::wire::Leave;

const LUCK: &[Luck] = &[Luck::Lost, Luck::Unanswered];

/// The map.
#[derive(Default)]
pub struct Shelf {
    files: RefCell<BTreeMap<VPath, File>>,
    last: Cell<u64>,
}

/// A client's view of it.
pub struct Hand {
    /// The map.
    pub shelf: Rc<Shelf>,
    /// The way to it.
    pub line: Line,
    /// Whether puts are conditional and files have versions.
    pub conditional: bool,
}

impl Durable for Shelf {
    fn files(&self) -> Vec<(String, Bytes)> {
        let files = self.files.borrow();
        let file = |(path, file): (&VPath, &File)| (path.as_str().to_owned(), file.body.clone());
        files.iter().map(file).collect()
    }
}

impl Shelf {
    fn holds(&self, path: &VPath, condition: &PutMode) -> bool {
        let files = self.files.borrow();
        let now = files.get(path);
        match condition {
            PutMode::Overwrite => true,
            PutMode::Create => now.is_none(),
            PutMode::Update(version) => {
                now.is_some_and(|now| now.meta.version.as_ref() == Some(version))
            }
        }
    }
}

impl Hand {
    fn ask<T: 'static>(
        &self,
        what: &'static str,
        execute: impl FnOnce(&Shelf) -> T + 'static,
    ) -> Pending<'_, T> {
        let luck = self.line.luck(what, LUCK);
        let (shelf, line) = (self.shelf.clone(), self.line.clone());
        let answer = self.line.send(luck, Leave::Settle, move || {
            let error = || Error::new(Kind::Unavailable, format!("{what}() failed: no answer"));
            if luck == Luck::Lost {
                return Err(error());
            }
            let answer = execute(&shelf);
            if matches!(what, "put" | "delete") {
                line.watch.changed(&line.world);
            }
            match luck {
                Luck::Unanswered => Err(error()),
                _ => Ok(answer),
            }
        });
        Box::pin(answer)
    }
}

impl Methods for Hand {
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        let path = path.clone();
        self.ask("stat", move |shelf| {
            let files = shelf.files.borrow();
            files.get(&path).map(|file| file.meta.clone())
        })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        let path = path.clone();
        self.ask("get", move |shelf| shelf.files.borrow().get(&path).cloned())
    }

    fn put<'a>(
        &'a self,
        path: &'a VPath,
        file: &'a NewFile,
        condition: &'a PutMode,
    ) -> Pending<'a, Stored> {
        let (path, file, condition) = (path.clone(), file.clone(), condition.clone());
        let conditional = self.conditional;
        self.ask("put", move |shelf| {
            if conditional && !shelf.holds(&path, &condition) {
                return Stored::Refused;
            }
            shelf.last.set(shelf.last.get() + 1);
            let version = conditional.then(|| Version::Number(shelf.last.get()));
            let stored = File {
                meta: file.meta(version.clone()),
                body: file.body,
            };
            shelf.files.borrow_mut().insert(path, stored);
            Stored::As(version)
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, condition: &'a PutMode) -> Pending<'a, Option<bool>> {
        let (asked, path, condition) = (path, path.clone(), condition.clone());
        let conditional = self.conditional;
        Box::pin(async move {
            let answer: Result<bool> = self
                .ask("delete", move |shelf| {
                    if conditional && !shelf.holds(&path, &condition) {
                        return Err(());
                    }
                    Ok(shelf.files.borrow_mut().remove(&path).is_some())
                })
                .await?
                .map_err(|()| Error::conflict(asked));
            answer.map(Some)
        })
    }

    fn entries<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Vec<Entry>> {
        let prefix = dir.dir_prefix();
        self.ask("list", move |shelf| {
            let files = shelf.files.borrow();
            let inside = files
                .iter()
                .filter(|(path, _)| path.as_str().starts_with(&prefix));
            inside
                .map(|(path, file)| Entry {
                    path: path.clone(),
                    meta: file.meta.clone(),
                })
                .collect()
        })
    }
}
