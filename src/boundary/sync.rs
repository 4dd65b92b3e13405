//! `sync`.

use std::rc::Rc;

use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::boundary::room::RoomGiven;
use crate::boundary::{Handle, Host};
use crate::layer::sync::{Choice, Pair, Side, SyncOptions};

/// How files are found that were changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// By the sizes and times of listings.
    Time,
    /// By their contents.
    Content,
}

words! { Compare { Time = "time", Content = "content" } }

/// What is done about conflicts; a function is beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Always {
    /// Both stay.
    Both,
    /// The file of the first side.
    A,
    /// The file of the second side.
    B,
    /// Nothing.
    Leave,
}

words! { Always { Both = "both", A = "a", B = "b", Leave = "leave" } }

impl Always {
    /// The choice with this word.
    pub fn of(word: &str) -> Option<Always> {
        match word {
            "both" => Some(Always::Both),
            "a" => Some(Always::A),
            "b" => Some(Always::B),
            "leave" => Some(Always::Leave),
            _ => None,
        }
    }

    /// The same, as the engine has it.
    pub fn choice(self) -> Choice {
        match self {
            Always::Both => Choice::Both,
            Always::A => Choice::Take(Side::A),
            Always::B => Choice::Take(Side::B),
            Always::Leave => Choice::Leave,
        }
    }
}

options! {
    /// Two trees, and how they are brought together.
    pub struct SyncGiven {
        a: Handle [own],
        b: Handle [own],
        room: RoomGiven [own],
        paths: Vec<Rc<str>> [wanted "an array of patterns such as [\"/notes/**\"]"],
        ignore: Vec<Rc<str>> [wanted "an array of names such as [\".gitignore\"]"],
        name_a: Rc<str> [own],
        name_b: Rc<str> [own],
        always: Always [own],
        on_conflict: Option<Host> [own],
        on_progress: Option<Host>,
        compare: Compare = "time",
        allow_empty: bool,
        dry_run: bool,
    }
}

impl SyncGiven {
    /// The options of the engine; functions are added where there is a host.
    pub fn options(&self) -> SyncOptions {
        SyncOptions {
            paths: self.paths.clone(),
            ignore: self.ignore.clone(),
            names: Pair {
                a: self.name_a.clone(),
                b: self.name_b.clone(),
            },
            by_content: self.compare == Compare::Content,
            allow_empty: self.allow_empty,
            dry_run: self.dry_run,
            ..SyncOptions::default()
        }
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![SyncGiven::printed()]
}
