//! What a tool set has shown its model. A file may be edited or overwritten only when the model
//! has read it and it is still as it was then; what counts is a hash of all its bytes, which
//! every backend can give, and not a time, which two writes in one millisecond share.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use crate::path::VPath;

/// Files remembered. Beyond it the one not met for longest is forgotten, and asks to be read again.
const MAX_FILES: usize = 4_096;

/// How a file stands to what was read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was never read here.
    Unread,
    /// It is not what was read.
    Changed,
    /// It is as it was read.
    Current,
}

/// The memory of one tool set.
#[derive(Default)]
pub struct Seen {
    files: HashMap<VPath, Mark>,
    clock: u64,
}

struct Mark {
    hash: u64,
    met: u64,
}

fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}

impl Seen {
    /// The model knows the file as these bytes.
    pub fn note(&mut self, path: &VPath, body: &[u8]) {
        self.clock = self.clock.wrapping_add(1);
        let mark = Mark {
            hash: hash(body),
            met: self.clock,
        };
        self.files.insert(path.clone(), mark);
        if self.files.len() > MAX_FILES {
            let oldest = self.files.iter().min_by_key(|(_, mark)| mark.met);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&path);
            }
        }
    }

    /// How a file with these bytes stands.
    pub fn standing(&self, path: &VPath, body: &[u8]) -> Standing {
        match self.files.get(path) {
            None => Standing::Unread,
            Some(mark) if mark.hash == hash(body) => Standing::Current,
            Some(_) => Standing::Changed,
        }
    }

    /// A file, or all beneath a directory, is gone.
    pub fn forget(&mut self, path: &VPath) {
        self.files.retain(|known, _| !known.is_under(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_current_until_its_bytes_change() {
        let mut seen = Seen::default();
        let path = VPath::parse("/d/a").expect("a path");
        assert_eq!(seen.standing(&path, b"x"), Standing::Unread);
        seen.note(&path, b"x");
        assert_eq!(seen.standing(&path, b"x"), Standing::Current);
        assert_eq!(seen.standing(&path, b"y"), Standing::Changed);
        seen.forget(&VPath::parse("/d").expect("a path"));
        assert_eq!(seen.standing(&path, b"x"), Standing::Unread);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut seen = Seen::default();
        let path = |n: usize| VPath::parse(&format!("/{n}")).expect("a path");
        for n in 0..=MAX_FILES {
            seen.note(&path(n), b"x");
        }
        assert_eq!(seen.files.len(), MAX_FILES);
        assert_eq!(seen.standing(&path(0), b"x"), Standing::Unread);
        assert_eq!(seen.standing(&path(1), b"x"), Standing::Current);
    }
}
