//! Records which contents a tool set has returned to its models. A file may be edited or
//! overwritten only if it was read and has not changed since. Contents are compared by a hash of
//! all bytes, which works with every backend; a timestamp would not, because two writes in one
//! millisecond share it. The hash has a random key, and nobody is shown one: somebody who writes files
//! between two calls could otherwise choose a text with the hash of another one that was read.
//!
//! One tool set may serve several conversations, each with a different file under the same path. So
//! every content that was read is kept for a path, not only the last one: reads, changes and
//! deletes in one conversation must not force another one to read again.

use crate::core::hash::{Key, hash};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::env::random;
use crate::protocol::Transfer;

/// Maximum number of recorded contents. Beyond it the least recently used one is dropped, and its
/// file must be read again.
const MAX_STATES: usize = 8_192;

/// How the current content of a file relates to what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The file was never read.
    Unread,
    /// The content differs from what was read.
    Changed,
    /// The content was read.
    Current,
}

/// The recorded contents of one tool set.
#[derive(Default)]
pub struct Seen {
    /// Chosen with the first content: a Worker has no random numbers before its first request.
    key: Option<Key>,
    /// By path: the hash of each content, and the time of its last use.
    files: Sorted<VPath, Vec<(u128, u64)>>,
    states: usize,
    clock: u64,
}

#[inline(never)]
fn digest(key: Key, body: &[u8]) -> u128 {
    hash(key, [0, 0], body)
}

impl Seen {
    /// Records that a model knows this content of the file.
    pub fn note(&mut self, path: &VPath, body: &[u8]) {
        let key = self
            .key
            .get_or_insert_with(|| [random::bits(), random::bits()]);
        let hash = digest(*key, body);
        self.note_hash(path, hash);
    }

    fn note_hash(&mut self, path: &VPath, hash: u128) {
        self.clock = self.clock.wrapping_add(1);
        if self.files.get(path).is_none() {
            self.files.insert(path.clone(), Vec::new());
        }
        let Some(states) = self.files.get_mut(path) else {
            return;
        };
        match states.iter_mut().find(|(known, _)| *known == hash) {
            Some((_, met)) => *met = self.clock,
            None => {
                states.push((hash, self.clock));
                self.states = self.states.saturating_add(1);
            }
        }
        if self.states > MAX_STATES {
            self.forget_oldest();
        }
    }

    /// Records that what is known of a file, or of files below a directory, is known at the new path
    /// too.
    pub fn transfer(&mut self, asked: &Transfer) {
        let known: Vec<_> = self
            .files
            .iter()
            .filter_map(|(path, states)| {
                let to = path.rebase(&asked.from, &asked.to)?;
                Some((to, states.iter().map(|(hash, _)| *hash).collect::<Vec<_>>()))
            })
            .collect();
        for (to, hashes) in known {
            for hash in hashes {
                self.note_hash(&to, hash);
            }
        }
    }

    /// The standing of a file with this content.
    pub fn standing(&self, path: &VPath, body: &[u8]) -> Standing {
        let (Some(states), Some(key)) = (self.files.get(path), self.key) else {
            return Standing::Unread;
        };
        let hash = digest(key, body);
        match states.iter().any(|(known, _)| *known == hash) {
            true => Standing::Current,
            false => Standing::Changed,
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
            states.retain(|(known, _)| *known != hash);
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

    /// Two texts of 180 letters with one FNV-1a hash of 64 bits, which takes a second to find: parts that
    /// agree in the low 40 bits of the state differ by a fixed number above them, and such numbers add up to 0.
    const COLLIDING: [&str; 2] = [
        "cymhgqupivozizexflamyqvvarjirgzrjptztvdyylcmmhlsialboaahcxam\
         fpiemvxxugyqvvarjirgzrjptztvdywaxyajbeztlboaahcxamfpiemvxxug\
         crjeqoebxprvksrnmzmswaxyajbeztlboaahcxamfpiemvxxugyqvvarjirg",
        "uktkeeipuxfpiemvxxugyqvvarjirgzrjptztvdywaxyajbeztlboaahcxam\
         fpiemvxxugcrjeqoebxprvksrnmzmswaxyajbeztjwclglrsggozizexflam\
         yqvvarjirgzrjptztvdyylcmmhlsialboaahcxamozizexflamyqvvarjirg",
    ];

    #[test]
    fn a_text_that_was_made_to_have_the_fast_hash_of_another_one_is_told_from_it() {
        let fast = |text: &str| {
            text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        let [good, evil] = COLLIDING;
        assert_ne!(good, evil);
        assert_eq!(fast(good), fast(evil));
        for end in [
            "",
            "\n",
            "and more",
            "\0",
            "é",
            "a longer text behind both",
            "x",
            "xy",
            "1",
            "\r\n",
        ] {
            let mut seen = Seen::default();
            let path = VPath::parse("/plan.md").expect("a path");
            seen.note(&path, format!("{good}{end}").as_bytes());
            let (good, evil) = (format!("{good}{end}"), format!("{evil}{end}"));
            assert_eq!(fast(&good), fast(&evil));
            assert_eq!(seen.standing(&path, good.as_bytes()), Standing::Current);
            assert_eq!(seen.standing(&path, evil.as_bytes()), Standing::Changed);
        }
    }

    #[test]
    fn two_tool_sets_have_two_keys() {
        let path = VPath::parse("/a").expect("a path");
        let hashes = [(); 2].map(|()| {
            let mut seen = Seen::default();
            seen.note(&path, b"x");
            seen.files
                .get(&path)
                .and_then(|states| states.first())
                .map(|(hash, _)| *hash)
        });
        assert!(hashes[0].is_some());
        assert_ne!(hashes[0], hashes[1]);
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
