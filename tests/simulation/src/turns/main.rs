//! Histories of turns: `turns [--seeds N] [--from N] [--json]` runs many seeds on all cores, then looks
//! for a seed that catches each deliberate bug; `turns --seed N` runs one. What cannot be explained is
//! printed.

mod checker;
mod model;
mod pins;

use std::process::ExitCode;

use kitbag::core::bugs::Bug;
use kitbag_simulation::many;

/// One seed: of every four, one is a history of pins.
fn run(seed: u64) -> many::Wrong {
    let ran = match seed % 4 {
        3 => pins::run(seed),
        _ => model::run(seed),
    };
    ran.err()
}

fn main() -> ExitCode {
    many::program(Bug::TURNS, run)
}
