//! Histories of a search index: `index [--seeds N] [--from N] [--json]` runs many seeds on all cores,
//! `index --seed N` one. What differs from a search without the index is printed.

mod history;
mod storage;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use history::{Seen, run};

fn option(name: &str) -> Option<u64> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next()?.parse().ok()
}

/// What many seeds came to, with the seed before what differed.
fn many(first: u64, count: u64) -> (Seen, Vec<(u64, Vec<String>)>) {
    let next = AtomicU64::new(first);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let one_by_one = || {
        let (mut all, mut wrong) = (Seen::default(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count || wrong.len() >= 20 {
                return (all, wrong);
            }
            let seen = run(seed);
            all.searches += seen.searches;
            all.excluded += seen.excluded;
            all.merged += seen.merged;
            if !seen.wrong.is_empty() {
                wrong.push((seed, seen.wrong));
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(one_by_one)).collect();
        let (mut all, mut wrong) = (Seen::default(), Vec::new());
        for thread in threads {
            let (seen, bad) = thread.join().expect("a thread ends");
            all.searches += seen.searches;
            all.excluded += seen.excluded;
            all.merged += seen.merged;
            wrong.extend(bad);
        }
        (all, wrong)
    })
}

fn main() -> ExitCode {
    let (first, count) = match option("--seed") {
        Some(seed) => (seed, 1),
        None => (
            option("--from").unwrap_or(1),
            option("--seeds").unwrap_or(20_000),
        ),
    };
    let (all, wrong) = many(first, count);
    let Seen {
        searches,
        excluded,
        merged,
        ..
    } = all;
    if std::env::args().any(|word| word == "--json") {
        let seeds: Vec<String> = wrong.iter().map(|(seed, _)| seed.to_string()).collect();
        let failed = seeds.join(",");
        println!(
            r#"{{"seeds":{count},"searches":{searches},"excluded":{excluded},"merged":{merged},"failed":[{failed}]}}"#
        );
    } else {
        for (seed, lines) in &wrong {
            println!("seed {seed}: {}", lines.join("\n"));
        }
        println!(
            "{count} seeds, {searches} searches, {excluded} files excluded: {} failed",
            wrong.len()
        );
    }
    ExitCode::from(u8::from(!wrong.is_empty()))
}
