//! What a tool set has shown its models. A file may be edited or overwritten only when it was read
//! and is still as it was then; what counts is a hash of all its bytes, which every backend can
//! give, and not a time, which two writes in one millisecond share.
//!
//! One tool set may serve many conversations, each with a file of its own under the same path. So
//! a path has every state that was read, not only the last: what one conversation reads, changes
//! or deletes must not make another read again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use crate::path::VPath;

/// States remembered. Beyond it the one not met for longest is forgotten, and asks to be read
/// again.
const MAX_STATES: usize = 8_192;

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
    /// By path, by hash: when it was met last.
    files: HashMap<VPath, HashMap<u64, u64>>,
    states: usize,
    clock: u64,
}

fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}

impl Seen {
    /// A model knows the file as these bytes.
    pub fn note(&mut self, path: &VPath, body: &[u8]) {
        self.clock = self.clock.wrapping_add(1);
        let states = self.files.entry(path.clone()).or_default();
        if states.insert(hash(body), self.clock).is_none() {
            self.states = self.states.saturating_add(1);
        }
        if self.states > MAX_STATES {
            self.forget_oldest();
        }
    }

    /// How a file with these bytes stands.
    pub fn standing(&self, path: &VPath, body: &[u8]) -> Standing {
        match self.files.get(path) {
            None => Standing::Unread,
            Some(states) if states.contains_key(&hash(body)) => Standing::Current,
            Some(_) => Standing::Changed,
        }
    }

    fn forget_oldest(&mut self) {
        let all = self.files.iter();
        let oldest = all
            .flat_map(|(path, states)| states.iter().map(move |(hash, met)| (met, path, hash)))
            .min_by_key(|(met, ..)| **met)
            .map(|(_, path, hash)| (path.clone(), *hash));
        let Some((path, hash)) = oldest else { return };
        if let Some(states) = self.files.get_mut(&path) {
            states.remove(&hash);
            self.states = self.states.saturating_sub(1);
            if states.is_empty() {
                self.files.remove(&path);
            }
        }
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
    }

    #[test]
    fn files_of_two_conversations_under_one_path_are_both_known() {
        let mut seen = Seen::default();
        let path = VPath::parse("/notes").expect("a path");
        seen.note(&path, b"of one");
        seen.note(&path, b"of another");
        assert_eq!(seen.standing(&path, b"of one"), Standing::Current);
        assert_eq!(seen.standing(&path, b"of another"), Standing::Current);
        assert_eq!(seen.standing(&path, b"of nobody"), Standing::Changed);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut seen = Seen::default();
        let path = |n: usize| VPath::parse(&format!("/{}", n / 2)).expect("a path");
        for n in 0..=MAX_STATES {
            seen.note(&path(n), &[n as u8 & 1]);
        }
        assert_eq!(seen.states, MAX_STATES);
        assert_eq!(seen.standing(&path(0), &[0]), Standing::Changed);
        assert_eq!(seen.standing(&path(0), &[1]), Standing::Current);
        seen.note(&path(MAX_STATES), b"one more");
        assert_eq!(seen.standing(&path(0), &[1]), Standing::Unread);
    }
}
