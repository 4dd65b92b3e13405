//! What is said of an index in several files: its number, its state, the answer to a search, and which
//! files are in it.

use std::rc::Rc;

use crate::env::random;

/// Files above this size are not indexed: every search looks at them.
pub const MAX_INDEXED: u64 = 1 << 20;

/// Types of files that no search reads, so that nothing of them is indexed.
pub const BINARY: [&str; 8] = [
    "application/octet-stream",
    "application/pdf",
    "application/zip",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "video/mp4",
];

/// With more candidates than this the index gains nothing over a scan in which the database itself
/// looks for the literal.
pub const FEW: usize = 1_000;
/// The same for a scan that sends every file.
pub const FEW_TO_SEND: usize = 50_000;

/// What is known of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing yet.
    Unknown,
    /// The last search found none.
    Missing,
    /// It is there, under this number.
    Ready(Generation),
}

/// Whether a call changes more files after this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// It does.
    More,
    /// It does not.
    Nothing,
}

/// The files that the index does not exclude.
pub struct Narrow {
    /// The index that was asked.
    pub generation: Generation,
    /// The numbers of the files, as a list in JSON; none if it excludes all.
    pub files: Option<Rc<str>>,
    /// The numbers of the blocks that were asked, as such a list.
    pub blocks: Rc<str>,
}

/// Up to how many candidates the index is used for.
pub fn usefully_few(literal: Option<&[u8]>) -> usize {
    match literal {
        Some(_) => FEW,
        None => FEW_TO_SEND,
    }
}

/// The list of [`BINARY`] in SQL.
pub fn binary_types() -> String {
    let quoted: Vec<String> = BINARY.iter().map(|one| format!("'{one}'")).collect();
    quoted.join(", ")
}

/// The number of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(pub u64);

impl Generation {
    /// One that nobody has used.
    pub fn fresh() -> Generation {
        Generation(random::bits() >> 16)
    }
}

/// A list of numbers in JSON.
pub fn list(numbers: impl Iterator<Item = i64>) -> String {
    let mut text = String::from("[");
    for number in numbers {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&number.to_string());
    }
    text.push(']');
    text
}

/// The numbers in such a text, or in a list of pairs.
pub fn numbers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
}
