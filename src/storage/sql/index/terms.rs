//! What is said of an index in several files: its number, its state, the question, and which files are
//! in it.

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
    /// It is there: in SQLite, under this number.
    Ready(Generation),
}

/// What the index is asked for.
pub enum Narrow {
    /// An expression of FTS5.
    Matching(Generation, String),
    /// For each clause, patterns for `LIKE`.
    Like(Vec<Vec<String>>),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(pub u64);

impl Generation {
    /// One that nobody has used.
    pub fn fresh() -> Generation {
        Generation(random::bits())
    }
}
