//! Where the book of labels is: in memory, or in a file of a backend that the caller names. Each
//! change of the file is a compare-and-swap, so several processes can share it.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::layer::provenance::book::Book;
use crate::protocol::{BackendExt, Content, Edit, SharedBackend};

/// Most attempts to change the file beside other processes.
const ATTEMPTS: usize = 32;

/// A file of a backend for the labels.
pub struct LabelFile {
    /// The backend. Who can change files there can remove labels.
    pub backend: SharedBackend,
    /// The file.
    pub path: VPath,
}

/// Keeps the book.
pub(super) struct Ledger {
    kept: RefCell<Rc<Book>>,
    file: Option<LabelFile>,
}

impl Ledger {
    pub(super) fn new(file: Option<LabelFile>) -> Ledger {
        Ledger {
            kept: RefCell::new(Rc::default()),
            file,
        }
    }

    /// Whether other processes may change the book.
    pub(super) fn is_shared(&self) -> bool {
        self.file.is_some()
    }

    /// The book as it is now.
    pub(super) async fn load(&self) -> Result<Rc<Book>> {
        match &self.file {
            None => Ok(self.kept.borrow().clone()),
            Some(file) => Ok(Rc::new(file.read().await?.0)),
        }
    }

    /// Changes the book; returns it as it was before, and as it is now.
    pub(super) async fn update(&self, change: &dyn Fn(&mut Book)) -> Result<(Rc<Book>, Rc<Book>)> {
        let Some(file) = &self.file else {
            let mut kept = self.kept.borrow_mut();
            let before = kept.clone();
            change(Rc::make_mut(&mut kept));
            return Ok((before, kept.clone()));
        };
        for _ in 0..ATTEMPTS {
            let (before, body) = file.read().await?;
            let mut book = before.clone();
            change(&mut book);
            let stored = match book == before {
                true => Ok(()),
                false => file.replace(body, Bytes::from(book.to_text())).await,
            };
            match stored {
                Ok(()) => return Ok((Rc::new(before), Rc::new(book))),
                Err(error) if matches!(error.kind(), Kind::Conflict | Kind::AlreadyExists) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::conflict(&file.path))
    }
}

impl LabelFile {
    /// A second file beside this one.
    pub(super) fn beside(&self) -> Option<LabelFile> {
        Some(LabelFile {
            backend: self.backend.clone(),
            path: VPath::any(&format!("{}.kept", self.path.as_str())).ok()?,
        })
    }

    async fn read(&self) -> Result<(Book, Option<Bytes>)> {
        match self.backend.read_raw(&self.path).await {
            Ok(file) => Ok((Book::parse(&file.body)?, Some(file.body))),
            Err(error) if error.kind() == Kind::NotFound => Ok((Book::default(), None)),
            Err(error) => Err(error),
        }
    }

    async fn replace(&self, old: Option<Bytes>, new: Bytes) -> Result<()> {
        let Some(old) = old else {
            let made = self.backend.write(&self.path, Content::New(new)).await;
            return made.map(|_| ());
        };
        let edit = Edit {
            old,
            new,
            replace_all: false,
            whole: true,
            appends: false,
        };
        self.backend.edit(&self.path, &edit).await.map(|_| ())
    }
}
