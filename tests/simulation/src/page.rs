//! What the page calls.

use kitbag::core::bugs::Bug;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::json::json;
use crate::run::run;

/// Runs a seed, with the bug of that name or none, and gives the report as JSON.
#[wasm_bindgen]
pub fn simulate(seed: u32, bug: &str) -> String {
    let bug = Bug::CALLS.iter().copied().find(|known| known.name() == bug);
    json(&run(u64::from(seed), bug))
}

/// The names of the bugs, separated by spaces.
#[wasm_bindgen]
pub fn bugs() -> String {
    let names: Vec<&str> = Bug::CALLS.iter().map(|bug| bug.name()).collect();
    names.join(" ")
}
