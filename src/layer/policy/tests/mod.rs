//! Tests of the rules, one wrapper at a time, and here of all of them together. Attempts to bypass
//! them are made from JavaScript, in `tests/router/bypass.test.mjs`.

mod asking;
mod graphs;
mod limits;
mod moving;
mod permissions;
mod slow;
mod watching;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::core::testing::{block_on, bytes, now, path, waits};
use crate::files::{Files, FilesOptions};
use crate::protocol::*;
use crate::storage::memory::Memory;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

fn with(files: &[(&str, &str)]) -> SharedBackend {
    let backend = memory();
    let batch = files.iter().map(|(at, text)| (path(at), bytes(text)));
    for answer in now(backend.upload(batch.collect())) {
        answer.expect("uploaded");
    }
    backend
}

fn write(backend: &SharedBackend, at: &str, text: &str) -> Result<()> {
    now(backend.write(&path(at), Content::Text(bytes(text)))).map(drop)
}

fn edit(backend: &SharedBackend, at: &str, old: &str, new: &str) -> Result<usize> {
    let edit = Edit {
        old: bytes(old),
        new: bytes(new),
        replace_all: false,
        whole: false,
        appends: false,
    };
    now(backend.edit(&path(at), &edit)).map(|edited| edited.occurrences)
}

fn read(backend: &SharedBackend, at: &str) -> Result<String> {
    let read = now(backend.read(&path(at), Page::default()))?;
    Ok(String::from_utf8_lossy(&read.content).into_owned())
}

fn ls(backend: &SharedBackend, at: &str) -> Result<Vec<String>> {
    let infos = now(backend.ls(&path(at)))?;
    Ok(infos.iter().map(FileInfo::shown_path).collect())
}

fn globbed(backend: &SharedBackend, pattern: &str, at: &str) -> Result<Vec<String>> {
    let query = GlobQuery::new(pattern, path(at));
    let mut found: Vec<String> = now(backend.glob(&query))?
        .files
        .iter()
        .map(FileInfo::shown_path)
        .collect();
    found.sort_unstable();
    Ok(found)
}

fn grepped(backend: &SharedBackend, query: &GrepQuery) -> Result<(Vec<String>, bool)> {
    let found = now(backend.grep(query))?;
    let paths = found.matches.iter().map(|m| m.path.as_str().to_owned());
    Ok((paths.collect(), found.truncated))
}

fn code<T: std::fmt::Debug>(answer: Result<T>) -> &'static str {
    answer.expect_err("refused").code()
}

fn rule(touches: &[Touch], mode: Mode, patterns: &[&str]) -> Rule {
    Rule::new(touches, mode, patterns.iter().copied()).expect("a rule")
}

const BOTH: &[Touch] = &[Touch::Read, Touch::Write];

/// Every kind of rule, none of which ever refuses.
pub(crate) fn allow_all(inner: SharedBackend) -> SharedBackend {
    let policy = Policy {
        read_only: false,
        deny_prefixes: vec![path("/never/written")],
        permissions: Some(Rules::new(
            vec![
                rule(BOTH, Mode::Deny, &["/never/**"]),
                rule(BOTH, Mode::Allow, &["/**"]),
            ],
            false,
        )),
        ask: None,
        rates: Rates::new([Rate {
            covers: Covers::Everything,
            operations: 1_000_000,
            per: Duration::from_secs(1),
        }]),
        inspect: Some(Rc::new(|_| Box::pin(async { Ok(Verdict::Pass) }))),
        quota: Some(Limits {
            max_bytes: Some(1 << 40),
            max_files: Some(1 << 40),
            max_file_bytes: None,
        }),
        one_at_a_time: None,
        audit: Some(Rc::new(|_| {})),
        hooks: Hooks {
            before: Some(Rc::new(|_| Box::pin(async { Ok(()) }))),
            after: Some(Rc::new(|_| Box::pin(async {}))),
        },
        allow_execute: None,
        hidden_characters: true,
        seams: Seams::default(),
    };
    stack(inner, policy).expect("a policy")
}

#[test]
fn the_conformance_suite_passes_through_every_rule() {
    let run = |make: &dyn Fn() -> SharedBackend| {
        let report = now(crate::conformance::run(async || Ok(make())));
        assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
        assert!(report.passed >= 20, "{report:?}");
    };
    run(&|| allow_all(memory()));
    run(&|| stack(memory(), Policy::default()).expect("a policy"));
    run(&|| allow_all(crate::layer::composite::tests::mounted_where_the_suite_writes()));
    run(&|| allow_all(allow_all(memory())));
}

fn clocked() -> (Rc<Cell<i64>>, Seams) {
    let clock = Rc::new(Cell::new(1_000_000));
    let hand = clock.clone();
    let seams = Seams {
        now: Rc::new(move || Time::from_micros(hand.get() * 1000)),
        ..Seams::default()
    };
    (clock, seams)
}
