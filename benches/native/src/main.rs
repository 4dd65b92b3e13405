//! The machine's limit for a search in memory: `native FILE TEXT…` reads the file, which has a corpus
//! laid end to end, and prints the median time in milliseconds of summing its bytes and of finding
//! each text with `memchr::memmem`, one a line.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use memchr::memmem::Finder;

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

/// The sum of all bytes, read in words as wide as the processor's.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    words.chain(rest).fold(0, u64::wrapping_add)
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(bytes) = words.next().and_then(|file| std::fs::read(file).ok()) else {
        eprintln!("native FILE TEXT…: the file cannot be read");
        return ExitCode::from(2);
    };
    println!("{:.4}", timed(|| sum(black_box(&bytes))));
    for text in words {
        let finder = Finder::new(text.as_bytes());
        println!(
            "{:.4}",
            timed(|| finder.find_iter(black_box(&bytes)).count())
        );
    }
    ExitCode::SUCCESS
}
