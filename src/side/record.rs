//! The form of a record: one line, and then what it says.
//!
//! ```text
//! kitbag 1 KIND KEY SEAL
//! …
//! ```
//!
//! `KEY` is the name of the key, or `-` without one. `SEAL` is the SHA-512/256 of the key, the kind, the
//! name in the room and what follows, each behind its length. That digest is of the kind that may be
//! used so: knowing one seal, nobody can make that of a longer text. Without a key it shows damage only.

use bytes::Bytes;

use super::Key;
use crate::core::bugs::{Bug, has};
use crate::core::pace::Pace;
use crate::env::{clock, timer};
use crate::pins::Digest;

/// The first bytes: what it is, and the version of the format.
const MAGIC: &str = "kitbag 1 ";

/// The name where there is no key.
const NO_KEY: &str = "-";

/// The first line is not longer.
pub const LINE: usize = 160;

/// What was found under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// What was kept.
    Proven(Bytes),
    /// A record that was changed, or written elsewhere, or without the key of the room.
    Unproven(Bytes),
    /// A record that another key has sealed.
    OtherKey(Bytes),
    /// Anything else.
    Foreign,
    /// Nothing that can be read, which was in the way: a directory, which was removed, or what is larger
    /// than the storage reads, which was moved aside.
    Removed,
}

async fn seal(key: Option<&Key>, kind: &str, name: &str, body: &[u8]) -> String {
    let pace = Pace::new(clock::now, timer::pause);
    let secret = key.map(Key::secret).unwrap_or_default();
    let parts = [secret, kind.as_bytes(), name.as_bytes(), body];
    Digest::of_parts_at(&pace, &parts).await.hex()
}

/// The name of a key, as a record has it.
pub(super) fn key_name(key: Option<&Key>) -> &str {
    key.map_or(NO_KEY, Key::name)
}

/// A record.
pub(super) async fn sealed(key: Option<&Key>, kind: &str, name: &str, body: &[u8]) -> Bytes {
    let (by, seal) = (key_name(key), seal(key, kind, name, body).await);
    let line = format!("{MAGIC}{kind} {by} {seal}\n");
    Bytes::from([line.as_bytes(), body].concat())
}

/// Reads a record.
pub(super) async fn opened(key: Option<&Key>, kind: &str, name: &str, stored: &Bytes) -> Found {
    let found = parsed(key, kind, name, stored).await;
    found.unwrap_or(Found::Foreign)
}

/// The name of the key of a record; `None` if it is none, or has no key.
pub(super) fn key_of(stored: &Bytes) -> Option<&str> {
    let (line, _) = first_line(stored)?;
    let name = line.split(' ').nth(1)?;
    Key::is_name(name).then_some(name)
}

/// The words of the first line behind [`MAGIC`], and where the rest begins.
fn first_line(stored: &Bytes) -> Option<(&str, usize)> {
    let start = stored.get(..LINE.min(stored.len()))?;
    let end = memchr::memchr(b'\n', start)?;
    let line = std::str::from_utf8(start.get(..end)?).ok()?;
    Some((line.strip_prefix(MAGIC)?, end + 1))
}

async fn parsed(key: Option<&Key>, kind: &str, name: &str, stored: &Bytes) -> Option<Found> {
    let (line, rest) = first_line(stored)?;
    let mut words = line.split(' ');
    let (own, by, found) = (words.next()?, words.next()?, words.next()?);
    if own != kind || words.next().is_some() {
        return None;
    }
    let body = stored.slice(rest..);
    if has(Bug::SealUnchecked) {
        return Some(Found::Proven(body));
    }
    if by != key_name(key) && Key::is_name(by) {
        return Some(Found::OtherKey(body));
    }
    // Compared by digests, so that the time of a comparison tells nothing.
    let expected = Digest::of(seal(key, kind, name, &body).await.as_bytes());
    Some(
        match by == key_name(key) && Digest::of(found.as_bytes()) == expected {
            true => Found::Proven(body),
            false => Found::Unproven(body),
        },
    )
}
