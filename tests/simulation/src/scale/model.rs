//! The model of docs/scale.md: requests, bytes and time from the number of objects alone.

use kitbag::layer::indexed::Updated;

/// The time of a request in microseconds.
pub const LATENCY: u64 = 20_000;
/// Requests at once.
const AT_ONCE: f64 = 16.0;
/// Names in a page of a listing.
const PAGE: f64 = 1_000.0;
/// Bytes of a name in a listing.
const NAME: f64 = 215.0;
/// Bytes of a file.
const FILE: f64 = 935.0;
/// Blocks of a segment that are read for a literal, with its names.
const READS: f64 = 7.0;

/// What the model says.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    pub requests: f64,
    pub bytes: f64,
    pub millis: f64,
}

fn turns(requests: f64) -> f64 {
    (requests / AT_ONCE).ceil()
}

fn expected(requests: f64, bytes: f64, round_trips: f64) -> Expected {
    Expected {
        requests,
        bytes,
        millis: round_trips * LATENCY as f64 / 1e3,
    }
}

/// A search without an index: all pages and all files, sixteen at once.
pub fn scan(count: usize) -> Expected {
    let count = count as f64;
    let pages = (count / PAGE).ceil();
    expected(
        pages + count,
        count * (NAME + FILE),
        turns(count) + turns(pages),
    )
}

/// A first update: as a scan, which is continued with a new listing after each full segment; a segment
/// and the manifest are written one after the other.
pub fn build(count: usize, shape: Updated) -> Expected {
    let scan = scan(count);
    let segments = shape.segments as f64;
    let again = segments - 1.0;
    let pages = (count as f64 / PAGE).ceil();
    expected(
        scan.requests + again * pages + 2.0 + 3.0 * segments,
        scan.bytes + again * count as f64 * NAME + shape.bytes as f64,
        scan.millis * 1e3 / LATENCY as f64 + again * turns(pages) + 2.0 + 2.0 * segments,
    )
}

/// A search with an index, by a reader that knows nothing: the manifest; then names and blocks of all
/// segments; then all pages, several at once, and the files that may match.
pub fn search(count: usize, shape: Updated, matching: u64) -> Expected {
    let (count, matching) = (count as f64, matching as f64);
    let reads = shape.segments as f64 * READS;
    let pages = (count / 900.0).ceil();
    expected(
        1.0 + reads + pages + matching,
        16.0 * count + count * NAME + matching * FILE,
        1.0 + turns(reads) + turns(pages) + turns(matching),
    )
}

/// Trigrams that are looked up in an index of so many files.
fn rows(count: f64) -> f64 {
    match count {
        ..30_000.0 => 6.0,
        ..200_000.0 => 7.0,
        _ => 8.0,
    }
}

/// Steps of a reader that lists nothing: the first search reads notes, manifest, a table and rows of each
/// segment, a block of the catalogue and the body for each file that matches. The same again reads
/// notes, manifest and bodies, and for another word rows and blocks besides. A write takes a request
/// more, and two the first time, to find that there is no file.
pub fn by_notes(count: usize, shape: Updated, matching: u64, at_once: f64) -> Vec<Expected> {
    let turns = |requests: f64| (requests / at_once).ceil();
    let (segments, matching) = (shape.segments as f64, matching as f64);
    let reads = segments * rows(count as f64);
    let row = shape.bytes as f64 / 1_024.0 / segments * 1.1;
    let table = count as f64 / 128.0 * 20.0;
    let block = matching * 3_000.0;
    let bodies = matching * FILE;
    let again = turns(matching);
    vec![
        expected(
            2.0 + segments + reads + 2.0 * matching,
            reads * row + table + block + bodies,
            2.0 + turns(segments + reads) + 2.0 * again,
        ),
        expected(2.0 + matching, 0.0, 2.0 + again),
        expected(
            2.0 + reads + 2.0 * matching,
            reads * row + block,
            turns(reads + 2.0).max(2.0) + 2.0 * again,
        ),
        expected(3.0, 0.0, 3.0),
        expected(4.0 + matching, 0.0, 3.0 + again),
    ]
}

/// An update of an index that knows all files but one.
pub fn update(count: usize, shape: Updated) -> Expected {
    let count = count as f64;
    let pages = (count / 900.0).ceil();
    let segments = shape.segments as f64;
    // Notes are listed, and the new file is read; segment and manifest are stored, and old files looked for.
    expected(
        1.0 + segments + pages + 6.0,
        16.0 * count + count * NAME,
        1.0 + turns(segments) + turns(pages) + 6.0,
    )
}
