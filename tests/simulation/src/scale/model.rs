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

/// An update of an index that knows all files but one.
pub fn update(count: usize, shape: Updated) -> Expected {
    let count = count as f64;
    let pages = (count / 900.0).ceil();
    let segments = shape.segments as f64;
    expected(
        1.0 + segments + pages + 4.0,
        16.0 * count + count * NAME,
        1.0 + turns(segments) + turns(pages) + 4.0,
    )
}
