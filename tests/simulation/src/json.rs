//! A report as JSON, for the page.

use std::fmt::Write;

use crate::history::End;
use crate::run::Report;

fn text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// The report.
pub fn json(report: &Report) -> String {
    let mut out = String::new();
    let _ = write!(out, "{{\"seed\":{},\"world\":", report.seed);
    text(&mut out, &report.scenario.describe());
    let _ = write!(
        out,
        ",\"digest\":\"{:016x}\",\"micros\":{}",
        report.digest, report.micros
    );
    out.push_str(",\"calls\":");
    list(&mut out, &report.history.calls, |out, call| {
        let (began, ended) = (call.began.1, call.ended.1);
        let _ = write!(
            out,
            "{{\"lane\":{},\"client\":{},\"began\":{began},\"ended\":{ended},\"name\":",
            call.lane, call.client
        );
        text(out, call.name);
        out.push_str(",\"about\":");
        text(out, &call.about);
        out.push_str(",\"outcome\":");
        text(out, &call.outcome);
        let end = match call.end {
            End::Running => "running",
            End::Answered => "answered",
            End::Unknown => "unknown",
            End::Cancelled => "cancelled",
            End::Crashed => "crashed",
        };
        let _ = write!(out, ",\"end\":\"{end}\"}}");
    });
    out.push_str(",\"faults\":");
    list(&mut out, &report.history.faults, |out, fault| {
        let _ = write!(
            out,
            "{{\"at\":{},\"client\":{},\"what\":",
            fault.at, fault.client
        );
        text(out, &fault.what);
        out.push('}');
    });
    out.push_str(",\"wrong\":");
    list(&mut out, &report.wrong, |out, wrong| text(out, wrong));
    out.push('}');
    out
}
