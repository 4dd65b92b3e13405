//! Histories of an index whose searches list nothing: several writers, searches and updates at once,
//! processes that end, and requests that fail. Each change that ended is found by each search that begins
//! later: `notes [--seeds N] [--from N] [--json]`, and `notes --seed N [--bug NAME]`.

mod history;
mod model;
mod storage;

use std::process::ExitCode;

use kitbag::core::bugs::Bug;
use kitbag_simulation::many;

fn main() -> ExitCode {
    many::program(Bug::NOTES, history::run)
}
