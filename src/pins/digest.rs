//! The digest by which contents and nodes are kept: SHA-512/256.

use sha2::{Digest as _, Sha512_256};

use crate::core::order;
use crate::core::pace::{ITEMS, Pace};

/// How many bytes of the digest of a node are kept.
const OF_NODE: usize = 24;

/// How many bytes are digested between two looks at the clock.
const STRETCH: usize = 32 << 10;

/// How many characters [`Digest::short`] has for a content, and for a node.
pub(super) const SHORT: usize = 43;
pub(super) const SHORT_OF_NODE: usize = 32;

/// The digest of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        let mut digest = Digesting::default();
        digest.add(bytes);
        digest.finish()
    }

    /// The digest of several texts, and of where each ends.
    pub fn of_parts(parts: &[&[u8]]) -> Digest {
        let mut digest = Digesting::default();
        for part in parts {
            digest.begin(part.len());
            digest.add(part);
        }
        digest.finish()
    }

    /// The same, with pauses.
    pub async fn of_parts_at(pace: &Pace, parts: &[&[u8]]) -> Digest {
        let mut digest = Digesting::default();
        for part in parts {
            digest.begin(part.len());
            digest.add_at(pace, part).await;
        }
        digest.finish()
    }

    /// The digest of a node: cut to 24 bytes, followed by zeros, since a change writes some twenty of
    /// them again.
    pub fn of_node(bytes: &[u8]) -> Digest {
        let mut digest = Digest::of(bytes);
        digest.0.iter_mut().skip(OF_NODE).for_each(|byte| *byte = 0);
        digest
    }

    /// Its bytes, without the zeros of one of a node.
    fn bytes(&self) -> &[u8] {
        match self.0.split_at_checked(OF_NODE) {
            Some((cut, rest)) if rest.iter().all(|byte| *byte == 0) => cut,
            _ => &self.0,
        }
    }

    /// 64 hexadecimal digits, or 48 for a node: the names of files, which some disks compare without
    /// case, and pins.
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |half: u8| char::from(DIGITS.get(usize::from(half)).copied().unwrap_or(b'0'));
        let both = self.bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]);
        both.map(digit).collect()
    }

    /// Reads what [`Digest::hex`] returns.
    pub fn from_hex(text: &str) -> Option<Digest> {
        let half = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if ![bytes.len(), OF_NODE].contains(&pairs.len()) || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (half(*high)? << 4) | half(*low)?;
        }
        Some(Digest(bytes))
    }

    /// 43 characters (base64url), or 32 for a node, in nodes: they are text, since some storages keep
    /// only that.
    pub(crate) fn short(&self) -> String {
        let mut text = String::with_capacity(SHORT);
        for three in self.bytes().chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
            for at in 0..=three.len() {
                let six = (bits >> (18 - 6 * at)) & 63;
                text.push(char::from(
                    LETTERS.get(six as usize).copied().unwrap_or(b'A'),
                ));
            }
        }
        text
    }

    /// Reads what [`Digest::short`] returns.
    pub(crate) fn from_short(text: &str) -> Option<Digest> {
        let mut bytes = [0; 32];
        if ![SHORT, SHORT_OF_NODE].contains(&text.len()) {
            return None;
        }
        for (four, three) in text.as_bytes().chunks(4).zip(bytes.chunks_mut(3)) {
            let mut bits = 0usize;
            for at in 0..4 {
                let six = match four.get(at) {
                    Some(letter) => value_of(*letter)?,
                    None => 0,
                };
                bits = (bits << 6) | six;
            }
            for (at, byte) in three.iter_mut().enumerate() {
                *byte = (bits >> (16 - 8 * at)) as u8;
            }
        }
        Some(Digest(bytes))
    }
}

/// A digest that is made step by step.
#[derive(Clone, Default)]
pub struct Digesting(Sha512_256);

impl Digesting {
    /// A text of so many bytes begins.
    fn begin(&mut self, bytes: usize) {
        self.add(&(bytes as u64).to_le_bytes());
    }

    /// Some bytes of it.
    #[inline(never)]
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The same, with pauses.
    pub async fn add_at(&mut self, pace: &Pace, bytes: &[u8]) {
        for some in bytes.chunks(STRETCH) {
            self.add(some);
            // That takes many times longer than other work with so many bytes.
            pace.worked(ITEMS).await;
        }
    }

    /// The digest.
    #[inline(never)]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// The digits of base64url.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of a digit.
fn value_of(letter: u8) -> Option<usize> {
    Some(usize::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    }))
}

/// A set of digests, as a sorted list: each tree or hash map of another type would add kilobytes of
/// WebAssembly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests(Vec<Digest>);

impl Digests {
    /// Whether it has this one.
    pub fn has(&self, digest: &Digest) -> bool {
        self.0.binary_search(digest).is_ok()
    }

    /// Whether it has all of another set.
    pub fn has_all(&self, other: &Digests) -> bool {
        other.0.iter().all(|digest| self.has(digest))
    }

    /// Adds one.
    pub fn insert(&mut self, digest: Digest) {
        if let Err(place) = self.0.binary_search(&digest) {
            self.0.insert(place, digest);
        }
    }

    /// Adds many at once.
    pub fn add(&mut self, more: impl IntoIterator<Item = Digest>) {
        self.0.extend(more);
        order::sort(&mut self.0);
        self.0.dedup();
    }

    /// The digests, in order.
    pub fn list(&self) -> &[Digest] {
        &self.0
    }
}
