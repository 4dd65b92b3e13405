//! An adversary: `adversary [--seeds N] [--from N] [--json]` runs many seeds on all cores, then looks for a
//! seed that catches each deliberate bug; `adversary --seed N` runs one. In each seed two agents do what
//! their files let them do, over rules, labels, turns, kept turns, a history, indexes, ignore files and
//! routers in some order; somebody may write to the library's own files past kitbag, and the process may
//! end at any step. What the rules forbid must never happen, what they hide must be in no answer, and no
//! call may take longer than it may.

mod agent;
mod disk;
mod past;
mod place;
mod replay;
mod world;

use std::process::ExitCode;

use kitbag::core::bugs::Bug;
use kitbag_simulation::many;

fn main() -> ExitCode {
    many::program(Bug::TRUST, agent::run)
}
