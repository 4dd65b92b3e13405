//! Many seeds on all cores, and the seed that shows each deliberate bug: what the programs have in
//! common.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kitbag::core::bugs::{self, Bug};

/// What one seed must not have shown, if it has.
pub type Wrong = Option<String>;

/// A program prints at most about so many seeds that failed.
const MOST_WRONG: usize = 20;

/// Seeds that showed bugs which few seeds show. Each is tried first, and if it no longer shows the bug, all are.
const SHOWN_BY: &[(&str, u64)] = &[
    ("blind-repeat", 764),
    ("clock-trusted", 1_832),
    ("content-unjudged", 1_727),
    ("delete-race", 736),
    ("deleted-forgotten", 2_631),
    ("early-turn", 611),
    ("journal-early", 177),
    ("kept-unlabelled", 164),
    ("manifest-first", 8_581),
    ("move-halved", 127),
    ("move-unlabelled", 167),
    ("note-late", 258),
    ("pin-untold", 1_552),
    ("quota-forgetful", 4_401),
    ("reads-unguarded", 589),
    ("resumed-twice", 328),
    ("seal-unchecked", 107),
    ("stale-index", 8_341),
    ("torn-page", 809),
];

/// The number after an option of the command line.
pub fn option(name: &str) -> Option<u64> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next()?.parse().ok()
}

/// Whether the command line has an option.
pub fn has_option(name: &str) -> bool {
    std::env::args().any(|word| word == name)
}

/// Calls `work` for numbers from `first` on, on some threads, each with a sum of its own, until it says
/// `false`. Returns the sums.
pub fn on_threads<T: Default + Send>(
    threads: usize,
    first: u64,
    work: impl Fn(u64, &mut T) -> bool + Sync,
) -> Vec<T> {
    let next = AtomicU64::new(first);
    let one_by_one = || {
        let mut sum = T::default();
        while work(next.fetch_add(1, Ordering::Relaxed), &mut sum) {}
        sum
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1))
            .map(|_| scope.spawn(one_by_one))
            .collect();
        let ended = threads.into_iter().map(|one| one.join());
        ended.map(|sum| sum.expect("a thread ends")).collect()
    })
}

/// How many threads run at the same time.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The results that `work` has for numbers from `first` on; a thread ends when it has `most`.
fn found<T: Send>(
    first: u64,
    count: u64,
    most: usize,
    work: impl Fn(u64) -> Option<T> + Sync,
) -> Vec<T> {
    let sums = on_threads(cores(), first, |at, found: &mut Vec<T>| {
        let is_next = at < first + count && found.len() < most;
        if is_next {
            found.extend(work(at));
        }
        is_next
    });
    sums.into_iter().flatten().collect()
}

/// A seed that shows a bug and is right without it.
pub fn catching(
    bug: Bug,
    seeds: std::ops::Range<u64>,
    run: impl Fn(u64, Option<Bug>) -> Wrong,
) -> Option<(u64, String)> {
    let known = SHOWN_BY.iter().filter(|(name, _)| *name == bug.name());
    let mut seeds = known.map(|(_, seed)| *seed).chain(seeds);
    seeds.find_map(|seed| {
        let why = run(seed, Some(bug))?;
        run(seed, None).is_none().then_some((seed, why))
    })
}

/// A program: `[--seeds N] [--from N] [--json]` runs many seeds and looks for the seed that catches each
/// bug, `--seed N` runs one, with the bug of `--bug NAME` if that is there.
pub fn program(bugs: &'static [Bug], run: fn(u64) -> Wrong) -> ExitCode {
    let run = |seed, bug| {
        bugs::choose(bug);
        let wrong = run(seed);
        bugs::choose(None);
        wrong
    };
    let one = option("--seed");
    let first = one.or_else(|| option("--from")).unwrap_or(0);
    let count = match one {
        Some(_) => 1,
        None => option("--seeds").unwrap_or(20_000),
    };
    let named = std::env::args().skip_while(|word| word != "--bug").nth(1);
    let chosen = bugs.iter().find(|bug| Some(bug.name()) == named.as_deref());
    let wrong = found(first, count, MOST_WRONG, |seed| {
        run(seed, chosen.copied()).map(|why| (seed, why))
    });
    let kinds = if one.is_some() { 0 } else { bugs.len() };
    let caught = found(0, kinds as u64, kinds, |at| {
        let bug = *bugs.get(at as usize)?;
        Some((bug.name(), catching(bug, first..first + count, run)))
    });
    let missed = caught.iter().any(|(_, seed)| seed.is_none());
    if has_option("--json") {
        let seeds: Vec<String> = wrong.iter().map(|(seed, _)| seed.to_string()).collect();
        let seed_of = |caught: &Option<(u64, String)>| {
            let seed = caught.as_ref().map(|(seed, _)| seed.to_string());
            seed.unwrap_or("null".into())
        };
        let bugs: Vec<String> = caught
            .iter()
            .map(|(bug, caught)| format!(r#""{bug}":{}"#, seed_of(caught)))
            .collect();
        let (failed, bugs) = (seeds.join(","), bugs.join(","));
        println!(r#"{{"seeds":{count},"failed":[{failed}],"bugs":{{{bugs}}}}}"#);
    } else {
        for (seed, why) in &wrong {
            println!("seed {seed}: {why}");
        }
        for (bug, caught) in &caught {
            match caught {
                Some((seed, why)) => {
                    let why = why.lines().next().unwrap_or_default();
                    println!("{bug}: caught by seed {seed}: {why}");
                }
                None => println!("{bug}: not caught"),
            }
        }
        println!("{count} seeds: {} failed", wrong.len());
    }
    ExitCode::from(u8::from(!wrong.is_empty() || missed))
}
