//! Where the book of labels is: in memory, or in a file of a backend that the caller names. Each
//! change of the file is a compare-and-swap, so several processes can share it.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::layer::folding::Folding;
use crate::layer::provenance::book::Book;
use crate::layer::provenance::labels::Labels;
use crate::side::{Found, Room};

/// Most attempts to change the file beside other processes.
const ATTEMPTS: usize = 32;

/// What the file is among records.
const KIND: &str = "labels";

/// A file of a backend for the labels.
#[derive(Clone)]
pub struct LabelFile {
    /// Where it is. Without a key, who can change files there can remove labels.
    pub room: Room,
    /// Its name there.
    pub name: String,
}

/// Keeps the book.
pub(super) struct Ledger {
    kept: RefCell<Rc<Book>>,
    file: Option<LabelFile>,
    /// Every label that there is.
    all: Labels,
    folding: Rc<Folding>,
}

impl Ledger {
    pub(super) fn new(file: Option<LabelFile>, all: Labels, folding: Rc<Folding>) -> Ledger {
        Ledger {
            kept: RefCell::new(Rc::default()),
            file,
            all,
            folding,
        }
    }

    /// Whether other processes may change the book.
    pub(super) fn is_shared(&self) -> bool {
        self.file.is_some()
    }

    /// The book as it is now.
    pub(super) async fn load(&self) -> Result<Rc<Book>> {
        match &self.file {
            None => {
                let mut kept = self.kept.borrow_mut();
                self.fold(&mut kept);
                Ok(kept.clone())
            }
            Some(file) => {
                let mut book = Rc::new(file.read(&self.all, false).await?.0);
                self.fold(&mut book);
                Ok(book)
            }
        }
    }

    /// Lets a book know which names are one file.
    fn fold(&self, book: &mut Rc<Book>) {
        let names = self.folding.names();
        if names != book.names() {
            Rc::make_mut(book).fold(names);
        }
    }

    /// Changes the book; returns it as it was before, and as it is now.
    pub(super) async fn update(&self, change: &dyn Fn(&mut Book)) -> Result<(Rc<Book>, Rc<Book>)> {
        let Some(file) = &self.file else {
            let mut kept = self.kept.borrow_mut();
            self.fold(&mut kept);
            let before = kept.clone();
            change(Rc::make_mut(&mut kept));
            return Ok((before, kept.clone()));
        };
        for _ in 0..ATTEMPTS {
            let (before, stored) = file.read(&self.all, true).await?;
            let mut before = Rc::new(before);
            self.fold(&mut before);
            let mut book = (*before).clone();
            change(&mut book);
            let text = book.to_text();
            if book == *before || file.store(stored, &text).await? {
                return Ok((before, Rc::new(book)));
            }
        }
        Err(Error::conflict(&file.room.path(&file.name)?))
    }
}

/// A book in which every file has every label.
fn all_labelled(all: &Labels) -> Book {
    let mut book = Book::default();
    book.taint(&VPath::root(), all);
    book
}

impl LabelFile {
    /// A second file beside this one.
    pub(super) fn beside(&self) -> LabelFile {
        LabelFile {
            room: self.room.clone(),
            name: format!("{}.kept", self.name),
        }
    }

    /// The book, and the file if there is one. If that is no book, nobody knows what was labelled: then
    /// every file has every label, until a person trusts it.
    async fn read(&self, all: &Labels, changes: bool) -> Result<(Book, Option<Bytes>)> {
        for _ in 0..ATTEMPTS {
            self.room.check().await?;
            let Some((found, file)) = self.room.look(KIND, &self.name).await? else {
                return Ok((Book::default(), None));
            };
            let is_other = matches!(found, Found::OtherKey(_));
            if is_other && !changes && self.room.is_ours() && self.room.key().is_some() {
                // Here nobody knows what was labelled, so everything counts as labelled.
                return Ok((all_labelled(all), None));
            }
            // Nothing can be noted while it stays.
            self.room.keep_other(&self.name, &found, &file).await?;
            if let Found::Proven(body) = &found
                && let Some(book) = Book::parse(body)
            {
                return Ok((book, Some(file)));
            }
            let book = all_labelled(all);
            let stored = (found != Found::Removed).then_some(file);
            if let Some(file) = stored.as_ref().filter(|_| !is_other) {
                self.room.copy_aside(&self.name, file, "unproven").await?;
            }
            self.store(stored, &book.to_text()).await?;
        }
        Err(Error::conflict(&self.room.path(&self.name)?))
    }

    /// Stores a book; `false` if the file is another one by now.
    async fn store(&self, before: Option<Bytes>, text: &str) -> Result<bool> {
        match before {
            Some(file) => {
                let stored = self.room.replace(KIND, &self.name, &file, text.as_bytes());
                stored.await
            }
            None => self.room.create(KIND, &self.name, text.as_bytes()).await,
        }
    }
}
