//! The command line: runs many seeds on all cores, replays one, or looks for the seed that catches
//! each deliberate bug. `--json` prints one object a line for the test suite.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use kitbag::core::bugs::Bug;
use kitbag_simulation::many;
use kitbag_simulation::run::{Report, run};
use kitbag_simulation::shown;

const HELP: &str = "\
simulate [--seeds N] [--from N] [--jobs N] [--minutes N]   run many seeds (20000 from 1)
simulate --seed N [--bug NAME]                             replay one and print its history
simulate --bugs [--seeds N]                                find a seed that catches each bug
simulate --list                                            the names of the bugs";

/// The options of the command line.
#[derive(Default)]
struct Options {
    seed: Option<u64>,
    bug: Option<Bug>,
    bugs: bool,
    list: bool,
    json: bool,
    seeds: Option<u64>,
    from: Option<u64>,
    jobs: Option<u64>,
    minutes: Option<u64>,
}

fn parse() -> Result<Options, String> {
    let mut options = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match word.as_str() {
            "--seed" => options.seed = Some(number(value()?)?),
            "--seeds" => options.seeds = Some(number(value()?)?),
            "--from" => options.from = Some(number(value()?)?),
            "--jobs" => options.jobs = Some(number(value()?)?),
            "--minutes" => options.minutes = Some(number(value()?)?),
            "--bug" => {
                let name = value()?;
                let bug = Bug::CALLS.iter().find(|bug| bug.name() == name);
                options.bug = Some(*bug.ok_or(format!("there is no bug {name}"))?);
            }
            "--bugs" => options.bugs = true,
            "--list" => options.list = true,
            "--json" => options.json = true,
            _ => return Err(format!("unknown option {word}\n{HELP}")),
        }
    }
    Ok(options)
}

/// What many seeds have come to.
#[derive(Default)]
struct Totals {
    seeds: u64,
    calls: u64,
    faults: u64,
    cancelled: u64,
    unknown: u64,
    crashes: u64,
    micros: u64,
    wrong: Vec<(u64, Vec<String>)>,
}

impl Totals {
    fn add(&mut self, report: &Report) {
        use kitbag_simulation::history::End;
        let calls = &report.history.calls;
        let count = |end: End| calls.iter().filter(|call| call.end == end).count() as u64;
        self.seeds += 1;
        self.calls += calls.len() as u64;
        self.faults += report.history.faults.len() as u64;
        self.cancelled += count(End::Cancelled);
        self.unknown += count(End::Unknown);
        self.crashes += count(End::Crashed);
        self.micros += report.micros;
        if !report.wrong.is_empty() {
            self.wrong.push((report.seed, report.wrong.clone()));
        }
    }

    fn merge(&mut self, other: Totals) {
        self.seeds += other.seeds;
        self.calls += other.calls;
        self.faults += other.faults;
        self.cancelled += other.cancelled;
        self.unknown += other.unknown;
        self.crashes += other.crashes;
        self.micros += other.micros;
        self.wrong.extend(other.wrong);
    }
}

fn totals(options: &Options) -> Totals {
    let first = options.from.unwrap_or(1);
    let last = first + options.seeds.unwrap_or(20_000);
    let until = options
        .minutes
        .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let threads = options.jobs.map_or_else(many::cores, |jobs| jobs as usize);
    let sums = many::on_threads(threads, first, |seed, totals: &mut Totals| {
        let over = match until {
            Some(until) => Instant::now() > until,
            None => seed >= last,
        };
        if over || totals.wrong.len() >= 20 {
            return false;
        }
        let mut report = run(seed, options.bug);
        // Chance that does not come from the seed would make failures unrepeatable.
        if seed % 50 == 0 && run(seed, options.bug).digest != report.digest {
            report.wrong.push("a second run went otherwise".into());
        }
        totals.add(&report);
        true
    });
    let mut all = Totals::default();
    sums.into_iter().for_each(|totals| all.merge(totals));
    all.wrong.sort();
    all
}

fn replay(seed: u64, bug: Option<Bug>) -> bool {
    let report = run(seed, bug);
    print!("{}", shown::text(&report));
    let again = run(seed, bug);
    if again.digest != report.digest {
        println!("NOT DETERMINISTIC: a second run of this seed went otherwise");
        return false;
    }
    report.wrong.is_empty()
}

/// What contradicts the model first.
fn wrong(seed: u64, bug: Option<Bug>) -> many::Wrong {
    run(seed, bug).wrong.into_iter().next()
}

fn bugs(options: &Options) -> bool {
    let seeds = options.seeds.unwrap_or(20_000);
    let mut missed = false;
    let caught: Vec<_> = thread::scope(|scope| {
        let searches = Bug::CALLS
            .iter()
            .map(|bug| scope.spawn(|| many::catching(*bug, 1..seeds + 1, wrong)));
        let searches: Vec<_> = searches.collect();
        let ended = searches.into_iter().map(|search| search.join());
        ended.map(|caught| caught.ok().flatten()).collect()
    });
    for (bug, caught) in Bug::CALLS.iter().zip(caught) {
        missed |= caught.is_none();
        let name = bug.name();
        match (&caught, options.json) {
            (Some((seed, _)), true) => println!(r#"{{"bug":"{name}","seed":{seed}}}"#),
            (None, true) => println!(r#"{{"bug":"{name}","seed":null}}"#),
            (Some((seed, wrong)), false) => {
                let line = wrong.lines().next().unwrap_or_default();
                println!("{name}: seed {seed}: {line}");
            }
            (None, false) => println!("{name}: NOT CAUGHT in {seeds} seeds"),
        }
    }
    !missed
}

fn main() -> ExitCode {
    let options = match parse() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let good = if options.list {
        Bug::CALLS.iter().for_each(|bug| println!("{}", bug.name()));
        true
    } else if options.bugs {
        bugs(&options)
    } else if let Some(seed) = options.seed {
        replay(seed, options.bug)
    } else {
        let began = Instant::now();
        let all = totals(&options);
        let seconds = began.elapsed().as_secs_f64();
        for (seed, wrong) in &all.wrong {
            println!("seed {seed}: {}", wrong.join("\n  "));
        }
        let Totals {
            seeds,
            calls,
            faults,
            cancelled,
            unknown,
            crashes,
            micros,
            wrong,
        } = &all;
        let failed = wrong.len();
        match options.json {
            true => {
                let list: Vec<String> = wrong.iter().map(|(seed, _)| seed.to_string()).collect();
                println!(
                    r#"{{"seeds":{seeds},"calls":{calls},"faults":{faults},"cancelled":{cancelled},"unknown":{unknown},"crashed":{crashes},"failed":[{}]}}"#,
                    list.join(",")
                );
            }
            false => println!(
                "{seeds} seeds, {calls} calls, {faults} faults, {cancelled} cancelled, {crashes} \
                 ended by a crash, {unknown} of unknown outcome, {} simulated hours, {seconds:.1} s: \
                 {failed} failed",
                micros / 3_600_000_000
            ),
        }
        wrong.is_empty()
    };
    ExitCode::from(u8::from(!good))
}
