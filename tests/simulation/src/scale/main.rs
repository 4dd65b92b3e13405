//! What a search costs in a large bucket, by the simulated clock: `scale [--json] [COUNT…]` runs the real
//! S3 storage and the real index over a server that answers after 20 ms, and prints requests, bytes and
//! time of each operation, each next to what the model of docs/scale.md says.

mod corpus;
mod model;
mod network;

use std::process::ExitCode;

use model::Expected;
use network::Bench;

/// What an operation came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Requests for listings.
    pub lists: u64,
    /// Other requests that read.
    pub gets: u64,
    /// Requests that write.
    pub puts: u64,
    /// Bytes of answers, and of bodies that were sent.
    pub bytes: u64,
    /// Simulated time in milliseconds.
    pub millis: f64,
    /// Matches, or files that were indexed.
    pub found: u64,
}

/// So many objects are searched without an index, too.
const MOST_SCANNED: usize = 200_000;

/// Steps of a reader that lists nothing, with 16 and 64 requests at once.
const BY_NOTES_16: [&str; 5] = [
    "rarest word, notes, cold",
    "the same, warm",
    "another word, warm",
    "a write with its note",
    "a search with that note",
];
const BY_NOTES_64: [&str; 5] = [
    "rarest word, notes, cold, 64 at once",
    "the same, warm, 64 at once",
    "another word, warm, 64 at once",
    "a write with its note, 64 at once",
    "a search with that note, 64 at once",
];

fn measured(count: usize) -> Vec<(&'static str, Cost, Expected)> {
    let bench = Bench::new(count);
    let mut rows = Vec::new();
    // Reading a million files takes the simulation itself too long.
    let rare = (count <= MOST_SCANNED).then(|| bench.grep(false, corpus::RARE));
    if let Some(rare) = rare {
        rows.push(("scan, a rare word", rare, model::scan(count)));
    }
    let (build, shape) = bench.update();
    rows.push(("build the index", build, model::build(count, shape)));
    let cold = bench.grep(true, corpus::RARE);
    rows.push((
        "rare word, index, cold",
        cold,
        model::search(count, shape, cold.found),
    ));
    let common = bench.grep(true, corpus::COMMON);
    rows.push((
        "common word, index, cold",
        common,
        model::search(count, shape, common.found),
    ));
    for (at_once, names) in [(16, BY_NOTES_16), (64, BY_NOTES_64)] {
        let steps = bench.by_notes(at_once);
        let matching = steps.first().map_or(0, |cold| cold.found);
        let told = model::by_notes(count, shape, matching, at_once as f64);
        for ((name, cost), expected) in names.iter().zip(steps).zip(told) {
            rows.push((*name, cost, expected));
        }
    }
    let write = bench.write_and_update();
    rows.push(("update after one write", write, model::update(count, shape)));
    let is_same = rare.is_none_or(|rare| rare.found == cold.found);
    assert!(is_same, "the index changed what is found");
    rows
}

fn main() -> ExitCode {
    let json = std::env::args().any(|word| word == "--json");
    let counts: Vec<usize> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let counts = match counts.is_empty() {
        true => vec![5_000, 50_000, 200_000],
        false => counts,
    };
    if !json {
        println!(
            "| objects | operation | lists | gets | puts | MB | s | model: requests | MB | s |"
        );
        println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    }
    for count in counts {
        for (name, cost, expected) in measured(count) {
            let requests = cost.lists + cost.gets + cost.puts;
            let (mb, seconds) = (cost.bytes as f64 / 1e6, cost.millis / 1e3);
            let Expected {
                requests: told,
                bytes,
                millis,
            } = expected;
            let (told_mb, told_seconds) = (bytes / 1e6, millis / 1e3);
            if json {
                println!(
                    r#"{{"objects":{count},"operation":"{name}","requests":{requests},"mb":{mb:.4},"seconds":{seconds:.4},"model":[{told:.1},{told_mb:.4},{told_seconds:.4}]}}"#
                );
            } else {
                let Cost {
                    lists, gets, puts, ..
                } = cost;
                println!(
                    "| {count} | {name} | {lists} | {gets} | {puts} | {mb:.2} | {seconds:.2} | \
                     {told:.0} | {told_mb:.2} | {told_seconds:.2} |"
                );
            }
        }
    }
    ExitCode::SUCCESS
}
