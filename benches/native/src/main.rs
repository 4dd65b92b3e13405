//! The machine's limit for a search in memory: `native FILE TEXT…` reads the file, which has a corpus
//! laid end to end, and prints the median time in milliseconds of summing its bytes and of finding
//! each text with `memchr::memmem`, one a line.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

const ROUNDS: usize = 25;

/// The median time of a piece of work in milliseconds, after three rounds that do not count.
fn timed<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut times = Vec::new();
    for round in 0..ROUNDS + 3 {
        let start = Instant::now();
        black_box(work());
        if round >= 3 {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(bytes) = words.next().and_then(|file| std::fs::read(file).ok()) else {
        eprintln!("native FILE TEXT…: the file cannot be read");
        return ExitCode::from(2);
    };
    println!("{:.4}", timed(|| limits::sum(black_box(&bytes))));
    for text in words {
        let found = || limits::found(black_box(&bytes), text.as_bytes());
        println!("{:.4}", timed(found));
    }
    ExitCode::SUCCESS
}
