//! One file that was agreed on, as it is kept.

use std::fmt::Write as _;

use super::plan::{Pair, Side};
use crate::core::bugs::{Bug, has};
use crate::core::path::VPath;
use crate::pins::Digest;
use crate::protocol::EntryInfo;

/// A file that was written so shortly before it was listed may be written again with the same time and
/// size: in microseconds.
const MARGIN: i64 = 60 * 1_000_000;

/// What a listing says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub size: u64,
    /// When it was written, in microseconds.
    pub modified: i64,
}

impl Stamp {
    /// That of a listed file, if the listing says both.
    pub fn of(entry: &EntryInfo) -> Option<Stamp> {
        match entry {
            EntryInfo::File { size, modified } => Some(Stamp {
                size: (*size)?,
                modified: (*modified)?.micros(),
            }),
            EntryInfo::Directory => None,
        }
    }

    /// Whether the file was written so long before it was listed that this is enough to know it again.
    pub fn is_old(self, listed: i64) -> bool {
        let margin = match has(Bug::SyncClockTrusted) {
            true => i64::MIN,
            false => MARGIN,
        };
        self.modified.saturating_add(margin) < listed
    }

    /// Writes one, or that there is none.
    pub fn write(stamp: Option<Stamp>, to: &mut String) {
        // Writing into a text cannot fail.
        let _ = match stamp {
            Some(Stamp { size, modified }) => write!(to, "{size}:{modified} "),
            None => write!(to, "- "),
        };
    }

    /// Reads that.
    pub fn parse(text: &str) -> Option<Option<Stamp>> {
        if text == "-" {
            return Some(None);
        }
        let (size, modified) = text.split_once(':')?;
        Some(Some(Stamp {
            size: size.parse().ok()?,
            modified: modified.parse().ok()?,
        }))
    }
}

/// A file that both sides hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its content.
    pub digest: Digest,
    /// Its size.
    pub size: u64,
    /// What the listings of the sides said of it, where that is enough to know it again.
    pub stamps: Pair<Option<Stamp>>,
    /// The run in which its text was kept; `None` if it is not.
    pub text: Option<u64>,
}

impl Entry {
    /// Writes its line.
    pub fn write(&self, path: &VPath, to: &mut String) {
        let _ = write!(to, "{} {} ", self.digest.short(), self.size);
        let _ = match self.text {
            Some(run) => write!(to, "{run} "),
            None => write!(to, "- "),
        };
        for side in Side::BOTH {
            Stamp::write(*self.stamps.of(side), to);
        }
        to.push_str(path.as_str());
        to.push('\n');
    }

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<(VPath, Entry)> {
        let mut words = line.splitn(6, ' ');
        let digest = Digest::from_short(words.next()?)?;
        let size = words.next()?.parse().ok()?;
        let text = match words.next()? {
            "-" => None,
            run => Some(run.parse().ok()?),
        };
        let stamps = Pair {
            a: Stamp::parse(words.next()?)?,
            b: Stamp::parse(words.next()?)?,
        };
        let path = VPath::from_stored(words.next()?)?;
        let entry = Entry {
            digest,
            size,
            stamps,
            text,
        };
        Some((path, entry))
    }
}

/// Everything that was agreed, by path.
pub type Entries = Vec<(VPath, Entry)>;

/// The value of a path in a list in order.
pub fn at<'a, T>(list: &'a [(VPath, T)], path: &VPath) -> Option<&'a T> {
    let place = list.binary_search_by(|(one, _)| one.cmp(path)).ok()?;
    list.get(place).map(|(_, value)| value)
}
