//! An adversary: `adversary [--seeds N] [--from N] [--json]` runs many seeds on all cores, then looks for a
//! seed that catches each deliberate bug; `adversary --seed N` runs one. In each seed two agents do what
//! their files let them do, over a policy, labels, turns, kept turns and a history in some order. What
//! the rules forbid must never happen, and what they hide must be in no answer.

mod agent;
mod world;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kitbag::layer::bugs::{self, Bug};

fn option(name: &str) -> Option<u64> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next()?.parse().ok()
}

/// The results of `work` on all cores, for numbers from `first` on.
fn on_all_cores<T: Send>(first: u64, count: u64, work: impl Fn(u64) -> Option<T> + Sync) -> Vec<T> {
    let next = AtomicU64::new(first);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let one_by_one = || {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= first + count || found.len() >= 20 {
                return found;
            }
            found.extend(work(at));
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(one_by_one)).collect();
        let ended = threads.into_iter().map(|one| one.join().expect("it ends"));
        ended.flatten().collect()
    })
}

/// The first seed that shows a bug and is right without it.
fn catching(bug: Bug, first: u64, count: u64) -> Option<u64> {
    (first..first + count).find(|seed| {
        bugs::choose(Some(bug));
        let wrong = agent::run(*seed).is_err();
        bugs::choose(None);
        wrong && agent::run(*seed).is_ok()
    })
}

fn main() -> ExitCode {
    let one = option("--seed");
    let first = one.or_else(|| option("--from")).unwrap_or(0);
    let count = match one {
        Some(_) => 1,
        None => option("--seeds").unwrap_or(20_000),
    };
    let wrong = on_all_cores(first, count, |seed| {
        agent::run(seed).err().map(|why| (seed, why))
    });
    let kinds = if one.is_some() { 0 } else { bugs::ALL.len() };
    let caught = on_all_cores(0, kinds as u64, |at| {
        let bug = *bugs::ALL.get(at as usize)?;
        Some((format!("{bug:?}"), catching(bug, first, count)))
    });
    let missed = caught.iter().filter(|(_, seed)| seed.is_none()).count();
    if std::env::args().any(|word| word == "--json") {
        let seeds: Vec<String> = wrong.iter().map(|(seed, _)| seed.to_string()).collect();
        let bugs: Vec<String> = caught
            .iter()
            .map(|(bug, seed)| match seed {
                Some(seed) => format!(r#""{bug}":{seed}"#),
                None => format!(r#""{bug}":null"#),
            })
            .collect();
        let (failed, bugs) = (seeds.join(","), bugs.join(","));
        println!(r#"{{"seeds":{count},"failed":[{failed}],"bugs":{{{bugs}}}}}"#);
    } else {
        for (seed, why) in &wrong {
            println!("seed {seed}: {why}");
        }
        for (bug, seed) in &caught {
            match seed {
                Some(seed) => println!("{bug}: caught by seed {seed}"),
                None => println!("{bug}: not caught"),
            }
        }
        println!("{count} seeds: {} failed", wrong.len());
    }
    ExitCode::from(u8::from(!wrong.is_empty() || missed > 0))
}
