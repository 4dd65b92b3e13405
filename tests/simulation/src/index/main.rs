//! Histories of a search index: `index [--seeds N] [--from N] [--json]` runs many seeds on all cores,
//! `index --seed N` one. What differs from a search without the index is printed.

mod history;
mod storage;

use std::process::ExitCode;

use history::{Seen, run};
use kitbag_simulation::many;

/// What some seeds came to, with the seed before what differed.
#[derive(Default)]
struct Sum {
    all: Seen,
    wrong: Vec<(u64, Vec<String>)>,
}

impl Sum {
    fn add(&mut self, seen: &Seen) {
        self.all.searches += seen.searches;
        self.all.excluded += seen.excluded;
        self.all.merged += seen.merged;
    }
}

fn many(first: u64, count: u64) -> Sum {
    let sums = many::on_threads(many::cores(), first, |seed, sum: &mut Sum| {
        let is_next = seed < first + count && sum.wrong.len() < 20;
        if is_next {
            let seen = run(seed);
            sum.add(&seen);
            if !seen.wrong.is_empty() {
                sum.wrong.push((seed, seen.wrong));
            }
        }
        is_next
    });
    let mut all = Sum::default();
    for sum in sums {
        all.add(&sum.all);
        all.wrong.extend(sum.wrong);
    }
    all
}

fn main() -> ExitCode {
    let (first, count) = match many::option("--seed") {
        Some(seed) => (seed, 1),
        None => (
            many::option("--from").unwrap_or(1),
            many::option("--seeds").unwrap_or(20_000),
        ),
    };
    let Sum { all, wrong } = many(first, count);
    let Seen {
        searches,
        excluded,
        merged,
        ..
    } = all;
    if many::has_option("--json") {
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
