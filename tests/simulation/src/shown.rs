//! A report as text.

use std::fmt::Write;

use crate::history::{Call, End};
use crate::run::Report;

/// A time in milliseconds.
fn time(micros: u64) -> String {
    format!("{:.2}", micros as f64 / 1000.0)
}

fn line(number: usize, call: &Call) -> String {
    let end = match call.end {
        End::Running => "still running",
        End::Answered => "",
        End::Unknown => " (outcome unknown)",
        End::Cancelled | End::Crashed => "",
    };
    format!(
        "{:>10} – {:>10}  call {number:<3} client {} caller {}  {} {} → {}{end}",
        time(call.began.1),
        time(call.ended.1),
        call.client,
        call.lane,
        call.name,
        call.about,
        call.outcome
    )
}

/// The whole history, in order, and what is wrong with it.
pub fn text(report: &Report) -> String {
    let mut out = format!("seed {}: {}\n", report.seed, report.scenario.describe());
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (number, call) in report.history.calls.iter().enumerate() {
        lines.push((call.began.1, line(number, call)));
    }
    for fault in &report.history.faults {
        let at = time(fault.at);
        lines.push((
            fault.at,
            format!(
                "{at:>10}               fault    client {}  {}",
                fault.client, fault.what
            ),
        ));
    }
    lines.sort_by_key(|(at, _)| *at);
    for (_, line) in lines {
        let _ = writeln!(out, "{line}");
    }
    let _ = match report.wrong.is_empty() {
        true => writeln!(out, "The history fits the model."),
        false => writeln!(out, "WRONG: {}", report.wrong.join("\n  ")),
    };
    out
}
