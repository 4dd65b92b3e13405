//! Files that a search need not read. A layer that knows something about the files (an index, a
//! rule that hides some) puts a sieve into the query; the storage asks it before it fetches a body.
//! A sieve only saves work or hides files: what it lets through is searched as always.

use std::fmt::{Debug, Formatter};
use std::ops::Deref;
use std::rc::Rc;

use crate::core::path::VPath;
use crate::core::time::Time;

/// What identifies one state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp<'a> {
    /// A number of the storage.
    Number(u64),
    /// A text of the storage, such as an ETag.
    Tag(&'a str),
}

/// A file as a storage lists it.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Time,
    /// Its version, if no other state of this file ever has the same.
    pub stamp: Option<Stamp<'a>>,
}

/// Decides which files are searched.
pub trait Sift {
    /// Whether the file may match. It is asked once for each file that the query covers.
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool;

    /// Receives a file that was admitted, before it is searched.
    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool);

    /// Paths between which there are about as many files as one page of a listing has, as far as
    /// known; in order. A hint.
    fn splits(&self) -> Vec<VPath>;

    /// The only files that it can admit, if that is known before the search. A hint: a storage may ask
    /// for these instead of listing, and then asks [`Sift::admits`] about each when it has read it.
    fn only(&self) -> Option<Rc<Only>>;

    /// Receives a file that is not searched because its metadata says that it is no text.
    fn skipped(&self, path: &VPath, state: &State<'_>);

    /// Whether it hides files, so that nothing may be told of what it does not admit.
    fn hides(&self) -> bool;

    /// Whether anybody may be told that there is such a file, as by a count of those that were left out.
    fn tells(&self, path: &VPath) -> bool;

    /// Whether it counts the files of the query, and so must be asked about each.
    fn counts(&self) -> bool;
}

/// Files that are known before a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// Files, whether they exist or not, in order.
    pub files: Vec<VPath>,
    /// Paths at and below which any file is meant.
    pub trees: Vec<VPath>,
}

impl Only {
    /// Whether a file is one of them.
    pub fn has(&self, path: &VPath) -> bool {
        self.files.binary_search(path).is_ok() || self.trees.iter().any(|tree| path.is_under(tree))
    }
}

/// A shared [`Sift`], as a part of a query.
#[derive(Clone)]
pub struct Sieve(pub Rc<dyn Sift>);

impl Deref for Sieve {
    type Target = dyn Sift;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Debug for Sieve {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sieve")
    }
}

impl PartialEq for Sieve {
    fn eq(&self, other: &Sieve) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Sieve {}
