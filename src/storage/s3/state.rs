//! The state of an object that a change replaces, and what became of it later.

use super::answer::Told;
use super::note::Note;

/// The state of an object before a change.
#[derive(Clone, Debug)]
pub enum Base {
    /// There is no object.
    Absent,
    /// The object with this ETag; the note is missing if another tool wrote it, or if it was not
    /// read.
    Present {
        /// The ETag.
        tag: String,
        /// The note.
        note: Option<Note>,
    },
}

impl Base {
    /// The state that a response shows.
    pub fn of(seen: Option<&Told>) -> Base {
        match seen {
            Some(told) => Base::Present {
                tag: told.tag.clone(),
                note: told.note.clone(),
            },
            None => Base::Absent,
        }
    }

    /// Its note.
    pub fn note(&self) -> Option<&Note> {
        match self {
            Base::Absent => None,
            Base::Present { note, .. } => note.as_ref(),
        }
    }

    /// What became of this state, from the state that is seen later.
    pub fn since(&self, seen: Option<&Told>) -> Since {
        match (self, seen) {
            (Base::Absent, None) => Since::Same,
            (Base::Present { tag, note }, Some(seen)) => {
                let write = note.as_ref().map(|note| &note.write);
                let now = seen.note.as_ref();
                if seen.tag == *tag && (write.is_none() || now.map(|now| &now.write) == write) {
                    return Since::Same;
                }
                match (write, now) {
                    (Some(write), Some(now)) if now.has(write) => Since::Written,
                    _ => Since::Other,
                }
            }
            _ => Since::Other,
        }
    }
}

/// What became of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Nothing changed.
    Same,
    /// Others wrote, each over the state before, and the write history names all of them.
    Written,
    /// It was deleted, created again, or changed without a history.
    Other,
}
