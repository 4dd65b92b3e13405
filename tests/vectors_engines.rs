//! The engines alone against the recorded answers of `tests/vectors/`. The same files run again
//! on whole backends elsewhere; here a failure points at one engine.

use std::fs;

use kitbag::path::VPath;
use kitbag::protocol::Page;
use kitbag::search::{lines, replace};
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the vectors are there");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Says which cases differ, all at once.
fn report(failures: &[String], cases: usize, expected: usize) {
    assert_eq!(cases, expected, "the number of recorded cases changed");
    assert!(
        failures.is_empty(),
        "{} of {cases} cases differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn paging() {
    let vectors = vectors("paging.json");
    let mut failures = Vec::new();
    for case in list(&vectors) {
        let content = text(&case["content"]);
        let number = |key: &str, default| case[key].as_u64().map_or(default, |n| n as usize);
        let page = Page {
            offset: number("offset", 0),
            limit: number("limit", 500),
        };
        let index = lines::LineIndex::build(content.as_bytes());
        let paged = lines::page(content.as_bytes(), page, &index);
        let result = &case["result"];
        let expected = |key: &str| result[key].as_u64().map(|n| n as usize);
        let position = paged.position;
        if &content[paged.range] != text(&result["content"])
            || position.map(|p| p.total_lines) != expected("totalLines")
            || position.map(|p| p.start_line) != expected("startLine")
            || position.map(|p| p.end_line) != expected("endLine")
            || position.and_then(|p| p.next_offset) != expected("nextOffset")
        {
            failures.push(format!("{page:?} gives {position:?}, not {result}"));
        }
    }
    report(&failures, list(&vectors).len(), 156);
}

#[test]
fn edit() {
    let vectors = vectors("edit.json");
    let path = VPath::parse("/x.txt").expect("a path");
    let mut failures = Vec::new();
    for case in list(&vectors) {
        let [content, old, new] = ["content", "old", "new"].map(|key| text(&case[key]));
        let all = case["replaceAll"].as_bool().expect("a truth value");
        let answer = replace::replace(content.as_bytes(), old.as_bytes(), new.as_bytes(), all);
        let same = match answer {
            Ok(done) => {
                case["error"].is_null()
                    && case["occurrences"].as_u64() == Some(done.occurrences as u64)
                    && case["after"].as_str().map(str::as_bytes) == Some(&done.body)
            }
            Err(refusal) => {
                let error = replace::sentence(&refusal, &path, old).to_string();
                case["after"].is_null() && case["error"].as_str() == Some(error.as_str())
            }
        };
        if !same {
            failures.push(case.to_string());
        }
    }
    report(&failures, list(&vectors).len(), 416);
}
