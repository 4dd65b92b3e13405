//! Histories of synced trees: `sync [--seeds N] [--from N] [--json]` runs many seeds on all cores, then looks
//! for a seed that catches each deliberate bug; `sync --seed N` runs one.

mod clocks;
mod labels;
mod model;
mod people;
mod place;
mod ranged;
mod rules;

use std::process::ExitCode;

use kitbag::core::bugs::Bug;
use kitbag_simulation::many;

fn main() -> ExitCode {
    many::program(Bug::SYNC, |seed| model::run(seed).err())
}
